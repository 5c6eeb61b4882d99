"""The closures of loops, and the value of `loop` in each turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from widgetd.template.budget import NODES_PER_STEP, RenderError
from widgetd.template.builtins.loop import Loop
from widgetd.template.ir import Op, height
from widgetd.template.scope import BUDGET, Evaluate, Execute, Frame
from widgetd.template.values import Value, elements

if TYPE_CHECKING:
    from widgetd.template.closures.compiler import Compiler


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopDefinition:
    """A loop, compiled.

    Attributes:
        cost: Further steps of a turn, if its body has many nodes.
        chooser: The condition for an element to take part.
        bind: Assigns the element of a turn to the loop's target.
        slot: The slot of the target, if it is one name.
        otherwise: Runs if no element takes part.
        loop_slot: The slot of `loop`, if the body reads it.
        height: The height of the loop in operations if it may call itself, else 0.
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

    def choose(self, frame: Frame, value: Value) -> Sequence[Value]:
        """Return the elements of `value` that take part."""
        try:
            values = elements(frame[BUDGET], value)
            if self.cost:
                frame[BUDGET].step(self.cost * len(values))
        except RenderError as failure:
            raise failure.at(self.place) from None
        if self.chooser is None:
            return values
        chosen = []
        for each in values:
            self.bind(frame, each)
            if self.chooser(frame):
                chosen.append(each)
        return chosen


def for_loop(compiler: Compiler, op: Op, bind: Callable[[Frame, Value], None]) -> Execute:
    """Return the closure of a loop whose target is bound by `bind`."""
    target, items, body, loop_slot, otherwise, chooser, is_recursive = op.operands
    before = compiler.nodes
    choose = None if chooser is True else compiler.expression(chooser)
    run = compiler.body(body)
    cost = (compiler.nodes - before) // NODES_PER_STEP
    definition = LoopDefinition(
        place=op.place,
        cost=cost,
        items=compiler.expression(items),
        chooser=choose,
        bind=bind,
        slot=target if type(target) is int else None,
        body=run,
        otherwise=compiler.body(otherwise) if otherwise else None,
        loop_slot=loop_slot,
        height=height(op) if is_recursive else 0,
    )
    if loop_slot is not None:
        return _ObservedLoop(definition, loop_slot)
    return _plain(definition)


def _plain(definition: LoopDefinition) -> Execute:
    choose, items, body = definition.choose, definition.items, definition.body
    otherwise, bind, slot = definition.otherwise, definition.bind, definition.slot

    def run(frame: Frame, out: list[str]) -> None:
        values = choose(frame, items(frame))
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

    An object, since closures that refer to each other are freed only by the garbage collector.
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
        values = definition.choose(frame, value)
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
