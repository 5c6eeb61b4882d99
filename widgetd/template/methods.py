"""The methods that texts, lists and objects have in a template, each paid for.

Only what a template made can be changed by one; an argument stays as it came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.template import fitting, textual
from widgetd.template.budget import Failure
from widgetd.template.operators import equal
from widgetd.template.values import ABSENT, Made, MadeDict, Value, is_nothing

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Method = Callable[..., Value]


def _made(budget: Budget, subject: list[Value], method: str) -> Made:
    if not isinstance(subject, Made):
        raise Failure(f"{method} works on a list the template made; copy this one with |list first")
    budget.step()
    return subject


def _append(budget: Budget, subject: list[Value], value: Value) -> None:
    _made(budget, subject, "append").append(value)


def _extend(budget: Budget, subject: list[Value], values: Value) -> None:
    budget.step(len(values))
    _made(budget, subject, "extend").extend(list(values))


def _insert(budget: Budget, subject: list[Value], at: int, value: Value) -> None:
    budget.step(len(subject))
    _made(budget, subject, "insert").insert(at, value)


def _pop(budget: Budget, subject: list[Value], at: int = -1) -> Value:
    budget.step(len(subject))
    made = _made(budget, subject, "pop")
    return made.pop(at) if -len(made) <= at < len(made) else ABSENT


def _count(budget: Budget, subject: list[Value], value: Value) -> int:
    return sum(equal(budget, value, each) for each in _walked(budget, subject))


def _index(budget: Budget, subject: list[Value], value: Value) -> int:
    for at, each in enumerate(_walked(budget, subject)):
        if equal(budget, value, each):
            return at
    raise Failure("the list does not hold this value")


def _walked(budget: Budget, subject: list[Value]) -> list[Value]:
    budget.step(len(subject))
    return subject


def _get(_budget: Budget, subject: dict[Value, Value], key: Value, default: Value = None) -> Value:
    return subject.get(key, default)


def _items(budget: Budget, subject: dict[Value, Value]) -> Value:
    budget.step(2 * len(subject))
    return Made(subject.items())


def _keys(budget: Budget, subject: dict[Value, Value]) -> Value:
    budget.step(len(subject))
    return Made(subject)


def _values(budget: Budget, subject: dict[Value, Value]) -> Value:
    budget.step(len(subject))
    return Made(subject.values())


def _update(
    budget: Budget, subject: dict[Value, Value], other: Value = None, **named: Value
) -> None:
    if not isinstance(subject, MadeDict):
        raise Failure("update works on an object the template made")
    added = {} if is_nothing(other) else dict(other)
    budget.step(1 + len(added) + len(named))
    subject.update(added, **named)


def _copied(budget: Budget, subject: Value) -> Value:
    budget.step(len(subject))
    return MadeDict(subject) if isinstance(subject, dict) else Made(subject)


LIST_METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "append": _append,
        "copy": _copied,
        "count": _count,
        "extend": _extend,
        "index": _index,
        "insert": _insert,
        "pop": _pop,
    }
)

DICT_METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "copy": _copied,
        "get": _get,
        "items": _items,
        "keys": _keys,
        "update": _update,
        "values": _values,
    }
)

TEXT_METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "capitalize": textual.capitalize,
        "center": fitting.center,
        "count": textual.count,
        "endswith": textual.endswith,
        "find": textual.find,
        "isdigit": textual.isdigit,
        "join": textual.join_with,
        "ljust": fitting.ljust,
        "lower": textual.lower,
        "lstrip": textual.lstrip,
        "replace": textual.replace,
        "rjust": fitting.rjust,
        "rstrip": textual.rstrip,
        "split": textual.split,
        "splitlines": textual.splitlines,
        "startswith": textual.startswith,
        "strip": textual.trim,
        "title": textual.str_title,
        "upper": textual.upper,
        "zfill": fitting.zfill,
    }
)
