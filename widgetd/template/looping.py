"""Run a `for`: what it iterates over, which turns it takes, and what `loop` says in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from widgetd.template.budget import Failure
from widgetd.template.loops import Loop
from widgetd.template.scope import BUDGET, Evaluate, Execute, Frame
from widgetd.template.values import Value, elements

Bind = Callable[[Frame, Value], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """What a loop is made of.

    Attributes:
        line: Where it stands.
        items: What it runs through.
        cost: The steps that a turn takes beside its own, as its body has many nodes.
        chooser: The condition under which an element takes part.
        bind: Gives the element of a turn to the loop's target.
        place: Where the target lives, if it is one name.
        body: Runs in each turn.
        otherwise: Runs where no element takes part.
        loop_place: Where `loop` lives, if the body reads it.
        height: How many nodes high the loop is if it may call itself, else 0.
    """

    line: int
    cost: int
    items: Evaluate
    chooser: Evaluate | None
    bind: Bind
    place: int | None
    body: Execute
    otherwise: Execute | None
    loop_place: int | None
    height: int

    def chosen(self, frame: Frame, value: Value) -> Sequence[Value]:
        """The elements of `value` that take part."""
        try:
            values = elements(frame[BUDGET], value)
            if self.cost:
                frame[BUDGET].step(self.cost * len(values))
        except Failure as failure:
            raise failure.at(self.line) from None
        if self.chooser is None:
            return values
        kept = []
        for each in values:
            self.bind(frame, each)
            if self.chooser(frame):
                kept.append(each)
        return kept


def loop(turns: Turns) -> Execute:
    """The closure that runs a loop."""
    if turns.loop_place is not None:
        return _Watched(turns, turns.loop_place)
    return _unpacked(turns) if turns.place is None else _simple(turns, turns.place)


def _simple(turns: Turns, place: int) -> Execute:
    chosen, items, body, otherwise = turns.chosen, turns.items, turns.body, turns.otherwise

    def run(frame: Frame, out: list[str]) -> None:
        values = chosen(frame, items(frame))
        for frame[place] in values:
            body(frame, out)
        if not values and otherwise is not None:
            otherwise(frame, out)

    return run


def _unpacked(turns: Turns) -> Execute:
    chosen, items, bind, body = turns.chosen, turns.items, turns.bind, turns.body
    otherwise = turns.otherwise

    def run(frame: Frame, out: list[str]) -> None:
        values = chosen(frame, items(frame))
        for each in values:
            bind(frame, each)
            body(frame, out)
        if not values and otherwise is not None:
            otherwise(frame, out)

    return run


class _Watched:
    """A loop whose body reads `loop`, and may call it.

    An object, since closures that call each other are freed only when garbage is looked for.
    """

    __slots__ = ("_place", "_turns")

    def __init__(self, turns: Turns, place: int) -> None:
        self._turns = turns
        self._place = place

    def __call__(self, frame: Frame, out: list[str]) -> None:
        self._run(frame, out, self._turns.items(frame), 0)

    def _run(self, frame: Frame, out: list[str], value: Value, depth0: int) -> None:
        turns = self._turns
        bind, body = turns.bind, turns.body
        values = turns.chosen(frame, value)
        again = partial(self._again, frame) if turns.height else None
        frame[self._place] = state = Loop(values, depth0=depth0, recurse=again)
        for state.index0, each in enumerate(values):
            bind(frame, each)
            body(frame, out)
        if not values and turns.otherwise is not None:
            turns.otherwise(frame, out)

    def _again(self, frame: Frame, value: Value, depth0: int) -> str:
        out: list[str] = []
        height = self._turns.height
        frame[BUDGET].enter(height)
        self._run(frame.copy(), out, value, depth0)
        frame[BUDGET].leave(height)
        return "".join(out)
