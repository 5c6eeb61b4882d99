"""Functions that every template has: `range`, `namespace`, `dict`, `cycler`, `joiner`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.template.budget import RenderError
from widgetd.template.values import (
    ABSENT,
    Namespace,
    RuntimeObject,
    Value,
    is_nothing,
    kind,
    new_dict,
    require_computable,
    sublist,
)

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Function = Callable[["Budget", list[Value], dict[str, Value]], Value]


class Cycler(RuntimeObject):
    """The value of `cycler(…)`: yields its values in turn, again and again."""

    __slots__ = ("at", "values")

    def __init__(self, values: list[Value]) -> None:
        if not values:
            raise RenderError("a cycler needs at least one value")
        self.values = values
        self.at = 0

    def member(self, name: Value) -> Value:
        """Return the current value for `current`."""
        return self.values[self.at] if name == "current" else ABSENT

    def next(self) -> Value:
        """Return the current value and advance."""
        value = self.values[self.at]
        self.at = (self.at + 1) % len(self.values)
        return value

    def reset(self) -> None:
        """Start again with the first value."""
        self.at = 0


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
    numbers = [_whole(each) for each in args]
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
    for each in [*args, kwargs]:
        if not isinstance(each, dict):
            raise RenderError(f"an object cannot be made of {kind(each)}")
        budget.step(len(each))
        entries.update(each)
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

CYCLER_METHODS: Final[Mapping[str, Callable[..., Value]]] = MappingProxyType(
    {"next": lambda _budget, cycler: cycler.next(), "reset": lambda _budget, cycler: cycler.reset()}
)
