"""Functions of every template, and the objects outside JSON: `loop`, cycler, joiner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.core.template.budget import RenderError
from widgetd.core.template.builtins.operators import equal
from widgetd.core.template.values import (
    ABSENT,
    Namespace,
    RuntimeObject,
    Value,
    is_nothing,
    kind,
    new_dict,
    new_tuple,
    require_computable,
    sublist,
)

if TYPE_CHECKING:
    from widgetd.core.template.budget import Budget

Function = Callable[["Budget", list[Value], dict[str, Value]], Value]


class Loop(RuntimeObject):
    """The value of `loop` inside a `for`: the progress of a single run.

    Attributes:
        items: The elements.
        index0: The turn, from 0.
        depth0: Turns of the same recursive loop around this loop.
        recurse: Renders the same loop over another list inside this turn.
        changed: The values of the last call of `loop.changed`.
    """

    __slots__ = ("changed", "depth0", "index0", "items", "recurse")

    def __init__(
        self, items: Sequence[Value], depth0: int, recurse: Callable[[Value, int], str] | None
    ) -> None:
        self.items = items
        self.index0 = 0
        self.depth0 = depth0
        self.recurse = recurse
        self.changed: Value = _NEVER

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:  # noqa: ARG002 - the inner run pays
        """Return the text of the same loop over another list inside this turn."""
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
        """Return the element of another turn, absent before the first and after the last."""
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


class Cycler(RuntimeObject):
    """The value of `cycler(…)`: yields its values in turn, again and again."""

    __slots__ = ("at", "values")

    def __init__(self, values: list[Value]) -> None:
        if not values:
            raise RenderError("a cycler needs at least one value")
        self.values = values
        self.at = 0

    def member(self, name: Value) -> Value:
        return self.values[self.at] if name == "current" else ABSENT


def _advance(_budget: Budget, cycler: Cycler) -> Value:
    value = cycler.member("current")
    cycler.at = (cycler.at + 1) % len(cycler.values)
    return value


def _reset(_budget: Budget, cycler: Cycler) -> None:
    cycler.at = 0


CYCLER_METHODS: Final[Mapping[str, Callable[..., Value]]] = MappingProxyType(
    {"next": _advance, "reset": _reset}
)


class Joiner(RuntimeObject):
    """The value of `joiner(…)`: empty when first called, the separator after that."""

    __slots__ = ("separator", "used")

    def __init__(self, separator: Value) -> None:
        self.separator = separator
        self.used = False

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:  # noqa: ARG002 - it takes none
        """Return the separator, from the second call on."""
        if self.used:
            return self.separator
        self.used = True
        return ""


def _range(budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:
    numbers = [_whole(arg) for arg in args]
    if kwargs or not 1 <= len(numbers) <= 3:
        raise RenderError("range takes one to three whole numbers")
    if len(numbers) == 3 and numbers[2] == 0:
        raise RenderError("range cannot have steps of zero")
    turns = range(*numbers)
    budget.step(len(turns))
    return sublist(budget, turns)


def _whole(value: Value) -> int:
    if is_nothing(value):
        return 0
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise RenderError(f"range takes whole numbers, not {kind(value)}")
    return int(require_computable(value))


def _entries(budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> dict[Value, Value]:
    entries: dict[Value, Value] = {}
    for part in [*args, kwargs]:
        if not isinstance(part, dict):
            raise RenderError(f"an object cannot be made of {kind(part)}")
        budget.step(len(part))
        entries.update(part)
    return entries


FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        "range": _range,
        "namespace": lambda budget, args, kwargs: Namespace(_entries(budget, args, kwargs)),
        "dict": lambda budget, args, kwargs: new_dict(budget, _entries(budget, args, kwargs)),
        "cycler": lambda _budget, args, _kwargs: Cycler(args),
        "joiner": lambda _budget, args, kwargs: Joiner(
            args[0] if args else kwargs.get("sep", ", ")
        ),
    }
)
