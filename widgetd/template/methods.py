"""The methods that texts, lists and objects have in a template, each paid for.

Only what a template made can be changed by one; an argument stays as it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from widgetd.template import textual
from widgetd.template.budget import Failure
from widgetd.template.operators import equal
from widgetd.template.prices import EACH, FREE, READ, Function, priced
from widgetd.template.values import (
    ABSENT,
    Made,
    MadeDict,
    MadeTuple,
    Value,
    dict_key,
    elements,
    grow,
    kind,
    made_dict,
    picked,
    shrink,
    unweighed,
)

if TYPE_CHECKING:
    from widgetd.template.budget import Budget


def _made(budget: Budget, subject: list[Value], method: str) -> Made:
    if not isinstance(subject, Made):
        raise Failure(f"{method} works on a list the template made; copy this one with |list first")
    budget.step()
    return subject


def _append(budget: Budget, subject: list[Value], value: Value) -> None:
    changed = _made(budget, subject, "append")
    grow(budget, changed, [value])
    changed.append(value)


def _extend(budget: Budget, subject: list[Value], values: Value) -> None:
    changed, added = _made(budget, subject, "extend"), list(elements(budget, values))
    grow(budget, changed, added)
    changed.extend(added)


def _insert(budget: Budget, subject: list[Value], at: Value, value: Value) -> None:
    changed, place = _made(budget, subject, "insert"), textual.whole(at, "index")
    grow(budget, changed, [value])
    changed.insert(place, value)


def _pop(budget: Budget, subject: list[Value], at: Value = -1) -> Value:
    changed, place = _made(budget, subject, "pop"), textual.whole(at, "index")
    if not -len(changed) <= place < len(changed):
        return ABSENT
    removed = changed.pop(place)
    shrink(budget, changed, removed)
    return removed


def _count(budget: Budget, subject: list[Value], value: Value) -> int:
    return sum([equal(budget, value, each) for each in subject])


def _index(budget: Budget, subject: list[Value], value: Value) -> int:
    for at, each in enumerate(subject):
        if equal(budget, value, each):
            return at
    raise Failure("the list does not hold this value")


def _get(budget: Budget, subject: dict[Value, Value], key: Value, default: Value = None) -> Value:
    return subject.get(dict_key(budget, key), default)


def _items(budget: Budget, subject: dict[Value, Value]) -> Value:
    budget.step(len(subject))
    return unweighed(map(MadeTuple, subject.items()))


def _keys(budget: Budget, subject: dict[Value, Value]) -> Value:
    return picked(budget, subject)


def _values(budget: Budget, subject: dict[Value, Value]) -> Value:
    return picked(budget, subject.values())


def _update(
    budget: Budget, subject: dict[Value, Value], other: Value = None, **named: Value
) -> None:
    if not isinstance(subject, MadeDict):
        raise Failure("update works on an object the template made")
    pairs = other.items() if isinstance(other, dict) else elements(budget, other)
    budget.step(1 + len(pairs) + len(named))
    added = {dict_key(budget, key): value for key, value in [*map(_pair, pairs), *named.items()]}
    for key in added.keys() & subject.keys():
        shrink(budget, subject, subject[key])
    grow(budget, subject, [*(added.keys() - subject.keys()), *added.values()])
    subject.update(added)


def _pair(value: Value) -> tuple[Value, Value]:
    if isinstance(value, list | tuple) and len(value) == 2:
        return value[0], value[1]
    raise Failure(f"an object is made of pairs, not of {kind(value)}")


def _copied(budget: Budget, subject: Value) -> Value:
    return made_dict(budget, subject) if isinstance(subject, dict) else picked(budget, subject)


LIST_METHODS: Final[Mapping[str, Function]] = priced(
    {
        "append": (FREE, _append),
        "copy": (EACH, _copied),
        "count": (EACH, _count),
        "extend": (FREE, _extend),
        "index": (EACH, _index),
        "insert": (EACH, _insert),
        "pop": (EACH, _pop),
    }
)

DICT_METHODS: Final[Mapping[str, Function]] = priced(
    {
        "copy": (EACH, _copied),
        "get": (FREE, _get),
        "items": (EACH, _items),
        "keys": (EACH, _keys),
        "update": (FREE, _update),
        "values": (EACH, _values),
    }
)

TEXT_METHODS: Final[Mapping[str, Function]] = priced(
    {
        "capitalize": (READ, textual.capitalize),
        "center": (READ, textual.center),
        "count": (READ, textual.count),
        "endswith": (READ, textual.endswith),
        "find": (READ, textual.find),
        "isdigit": (READ, textual.isdigit),
        "join": (READ, textual.join_with),
        "ljust": (READ, textual.ljust),
        "lower": (READ, textual.lower),
        "lstrip": (READ, textual.lstrip),
        "replace": (READ, textual.replace),
        "rjust": (READ, textual.rjust),
        "rstrip": (READ, textual.rstrip),
        "split": (READ, textual.split),
        "splitlines": (READ, textual.splitlines),
        "startswith": (READ, textual.startswith),
        "strip": (READ, textual.trim),
        "title": (READ, textual.str_title),
        "upper": (READ, textual.upper),
        "zfill": (READ, textual.zfill),
    }
)
