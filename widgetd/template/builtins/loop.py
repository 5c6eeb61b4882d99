"""The value of `loop` inside a `for`: the progress of the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.template.budget import RenderError
from widgetd.template.builtins.operators import equal
from widgetd.template.values import ABSENT, RuntimeObject, Value, new_tuple

if TYPE_CHECKING:
    from widgetd.template.budget import Budget


class Loop(RuntimeObject):
    """One run of a loop.

    Attributes:
        items: The elements.
        index0: The turn, from 0.
        depth0: Turns of the same recursive loop around this one.
        recurse: Renders the same loop over another list inside this turn.
        changed: The values of the last call of `loop.changed`.
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
        """Return the text of the same loop over another list inside this turn."""
        del budget
        if self.recurse is None:
            raise RenderError("only a loop marked 'recursive' can be called")
        if len(args) != 1 or kwargs:
            raise RenderError("a recursive loop takes one list")
        return self.recurse(args[0], self.depth0 + 1)

    def member(self, name: Value) -> Value:
        """Return `loop.index` and the like."""
        read = LOOP_MEMBERS.get(name)
        return ABSENT if read is None else read(self)

    def item(self, at: int) -> Value:
        """Return the element of another turn; absent before the first and after the last."""
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
        raise RenderError("loop.cycle needs at least one value")
    return values[loop.index0 % len(values)]


def _detect_change(budget: Budget, loop: Loop, *values: Value) -> bool:
    before, loop.changed = loop.changed, new_tuple(budget, values)
    return before is _NEVER or not equal(budget, before, loop.changed)


LOOP_METHODS: Final[Mapping[str, Callable[..., Value]]] = MappingProxyType(
    {"cycle": _cycle, "changed": _detect_change}
)
