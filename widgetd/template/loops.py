"""Run a `for`: which turns it takes, and what `loop` says in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.template.budget import Failure
from widgetd.template.builtins.operators import equal
from widgetd.template.scope import BUDGET, Evaluate, Execute, Frame
from widgetd.template.values import ABSENT, RuntimeObject, Value, elements, made_tuple

if TYPE_CHECKING:
    from widgetd.template.budget import Budget


class Loop(RuntimeObject):
    """What `loop` is: one run of a loop, and where it has got to.

    Attributes:
        items: What the loop runs through.
        index0: The turn, from 0.
        depth0: How many turns of the same recursive loop are around this one.
        recurse: Makes the text of the same loop over something inside this turn.
        changed: What `loop.changed` was last given.
    """

    __slots__ = ("changed", "depth0", "index0", "items", "recurse")

    def __init__(
        self,
        items: Sequence[Value],
        *,
        depth0: int = 0,
        recurse: Callable[[Value, int], str] | None = None,
    ) -> None:
        self.items = items
        self.index0 = 0
        self.depth0 = depth0
        self.recurse = recurse
        self.changed: Value = _NEVER

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The text of the same loop over something inside this turn."""
        del budget
        if self.recurse is None:
            raise Failure("only a loop marked 'recursive' can be called")
        if len(args) != 1 or kwargs:
            raise Failure("a recursive loop takes one list")
        return self.recurse(args[0], self.depth0 + 1)

    def member(self, name: Value) -> Value:
        """`loop.index` and the like."""
        read = LOOP_MEMBERS.get(name)
        return ABSENT if read is None else read(self)

    def item(self, at: int) -> Value:
        """The element of another turn; absent before the first and behind the last."""
        return self.items[at] if 0 <= at < len(self.items) else ABSENT


_NEVER: Final = object()

LOOP_MEMBERS: Final[Mapping[str, Callable[[Loop], Value]]] = MappingProxyType(
    {
        "index": lambda loop: loop.index0 + 1,
        "index0": lambda loop: loop.index0,
        "revindex": lambda loop: len(loop.items) - loop.index0,
        "revindex0": lambda loop: len(loop.items) - loop.index0 - 1,
        "first": lambda loop: loop.index0 == 0,
        "last": lambda loop: loop.index0 + 1 == len(loop.items),
        "length": lambda loop: len(loop.items),
        "depth": lambda loop: loop.depth0 + 1,
        "depth0": lambda loop: loop.depth0,
        "previtem": lambda loop: loop.item(loop.index0 - 1),
        "nextitem": lambda loop: loop.item(loop.index0 + 1),
    }
)


def _cycle(_budget: Budget, loop: Loop, *values: Value) -> Value:
    if not values:
        raise Failure("loop.cycle needs at least one value")
    return values[loop.index0 % len(values)]


def _changed(budget: Budget, loop: Loop, *values: Value) -> bool:
    before, loop.changed = loop.changed, made_tuple(budget, values)
    return before is _NEVER or not equal(budget, before, loop.changed)


LOOP_METHODS: Final[Mapping[str, Callable[..., Value]]] = MappingProxyType(
    {"cycle": _cycle, "changed": _changed}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopDefinition:
    """What is known of a loop when its template is compiled.

    Attributes:
        cost: The steps that a turn takes beside its own, as its body has many nodes.
        chooser: The condition under which an element takes part.
        bind: Gives the element of a turn to the loop's target.
        slot: Where the target lives, if it is one name.
        otherwise: Runs where no element takes part.
        loop_slot: Where `loop` lives, if the body reads it.
        height: How many nodes high the loop is if it may call itself, else 0.
    """

    place: int
    cost: int
    items: Evaluate
    chooser: Evaluate | None
    bind: Callable[[Frame, Value], None]
    slot: int | None
    body: Execute
    otherwise: Execute | None
    loop_slot: int | None
    height: int

    def chosen(self, frame: Frame, value: Value) -> Sequence[Value]:
        """The elements of `value` that take part."""
        try:
            values = elements(frame[BUDGET], value)
            if self.cost:
                frame[BUDGET].step(self.cost * len(values))
        except Failure as failure:
            raise failure.at(self.place) from None
        if self.chooser is None:
            return values
        kept = []
        for each in values:
            self.bind(frame, each)
            if self.chooser(frame):
                kept.append(each)
        return kept


def loop(definition: LoopDefinition) -> Execute:
    """The closure that runs a loop."""
    if definition.loop_slot is not None:
        return _ObservedLoop(definition, definition.loop_slot)
    chosen, items, body = definition.chosen, definition.items, definition.body
    otherwise, bind, slot = definition.otherwise, definition.bind, definition.slot

    def run(frame: Frame, out: list[str]) -> None:
        values = chosen(frame, items(frame))
        if slot is None:
            for each in values:
                bind(frame, each)
                body(frame, out)
        else:
            for frame[slot] in values:
                body(frame, out)
        if not values and otherwise is not None:
            otherwise(frame, out)

    return run


class _ObservedLoop:
    """A loop whose body reads `loop`, and may call it.

    An object, since closures that call each other are freed only when garbage is looked for.
    """

    __slots__ = ("_definition", "_slot")

    def __init__(self, definition: LoopDefinition, slot: int) -> None:
        self._definition = definition
        self._slot = slot

    def __call__(self, frame: Frame, out: list[str]) -> None:
        self._run(frame, out, self._definition.items(frame), 0)

    def _run(self, frame: Frame, out: list[str], value: Value, depth0: int) -> None:
        definition = self._definition
        bind, body = definition.bind, definition.body
        values = definition.chosen(frame, value)
        again = partial(self._again, frame) if definition.height else None
        frame[self._slot] = state = Loop(values, depth0=depth0, recurse=again)
        for state.index0, each in enumerate(values):
            bind(frame, each)
            body(frame, out)
        if not values and definition.otherwise is not None:
            definition.otherwise(frame, out)

    def _again(self, frame: Frame, value: Value, depth0: int) -> str:
        out: list[str] = []
        height = self._definition.height
        frame[BUDGET].enter(height)
        self._run(frame.copy(), out, value, depth0)
        frame[BUDGET].leave(height)
        return "".join(out)
