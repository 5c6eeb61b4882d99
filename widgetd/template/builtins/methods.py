"""The methods of lists and objects that read or change them; those of texts are text's.

Only what a template made can be changed by one; an argument stays as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from widgetd.template.budget import Failure
from widgetd.template.builtins.operators import equal
from widgetd.template.values import (
    ABSENT,
    Made,
    MadeDict,
    Value,
    dict_key,
    elements,
    grow,
    kind,
    made_dict,
    shrink,
    whole,
)

if TYPE_CHECKING:
    from widgetd.template.budget import Budget


def _made(budget: Budget, subject: list[Value], method: str) -> Made:
    if not isinstance(subject, Made):
        raise Failure(f"{method} works on a list the template made; copy this one with |list first")
    budget.step()
    return subject


def append(budget: Budget, subject: list[Value], value: Value) -> None:
    """Put `value` at the end of a list."""
    changed = _made(budget, subject, "append")
    grow(budget, changed, [value])
    changed.append(value)


def extend(budget: Budget, subject: list[Value], values: Value) -> None:
    """Put all of `values` at the end of a list."""
    changed, added = _made(budget, subject, "extend"), list(elements(budget, values))
    grow(budget, changed, added)
    changed.extend(added)


def insert(budget: Budget, subject: list[Value], at: Value, value: Value) -> None:
    """Put `value` before what stands at `at`."""
    changed, place = _made(budget, subject, "insert"), whole(at, "index")
    grow(budget, changed, [value])
    changed.insert(place, value)


def pop(budget: Budget, subject: list[Value], at: Value = -1) -> Value:
    """Take out what stands at `at`; absent where nothing does."""
    changed, place = _made(budget, subject, "pop"), whole(at, "index")
    if not -len(changed) <= place < len(changed):
        return ABSENT
    removed = changed.pop(place)
    shrink(budget, changed, removed)
    return removed


def count(budget: Budget, subject: list[Value], value: Value) -> int:
    """How often a list holds `value`."""
    return sum([equal(budget, value, each) for each in subject])


def index(budget: Budget, subject: list[Value], value: Value) -> int:
    """Where a list first holds `value`."""
    for at, each in enumerate(subject):
        if equal(budget, value, each):
            return at
    raise Failure("the list does not hold this value")


def get(budget: Budget, subject: dict[Value, Value], key: Value, default: Value = None) -> Value:
    """What an object holds under `key`, or `default`."""
    return subject.get(dict_key(budget, key), default)


def update(
    budget: Budget, subject: dict[Value, Value], other: Value = None, **named: Value
) -> None:
    """Put the entries of `other`, and `named` ones, into an object."""
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


def copy_dict(budget: Budget, subject: dict[Value, Value]) -> Value:
    """An object of its own, with the same entries."""
    return made_dict(budget, subject)
