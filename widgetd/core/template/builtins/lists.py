"""Filters and methods of lists and objects.

`attribute` is a key, or keys joined by dots, and never a Python attribute. The table of filters
charges for the elements. The functions here charge for their reads in each. Only lists made by the
template can be changed, never arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby as runs
from typing import TYPE_CHECKING, Any, Final

from widgetd.core.template.budget import CHARACTERS_PER_STEP, RenderError
from widgetd.core.template.builtins.operators import add, equal
from widgetd.core.template.builtins.text import join_with
from widgetd.core.template.serialise import text
from widgetd.core.template.values import (
    ABSENT,
    MAX_INTEGER,
    Group,
    TemplateDict,
    TemplateList,
    TemplateTuple,
    Value,
    dict_key,
    elements,
    grow,
    hold,
    is_nothing,
    kind,
    member,
    new_list,
    new_unsized,
    shrink,
    sublist,
    to_list,
    weight,
    whole,
)

if TYPE_CHECKING:
    from widgetd.core.template.budget import Budget

Key = Callable[[Value], Any]


def getter(budget: Budget, attribute: Value, default: Value = ABSENT) -> Key:
    """Return the function that reads the dotted `attribute` of an element."""
    if is_nothing(attribute):
        return lambda value: default if value is ABSENT else value
    parts, cost = [attribute], 0
    if isinstance(attribute, str):
        budget.scan(_PATH_PRICE * len(attribute))
        parts = [int(part) if part.isdecimal() else part for part in attribute.split(".")]
        cost = _PATH_PRICE * len(attribute) // CHARACTERS_PER_STEP

    def read(value: Value) -> Value:
        if cost:
            budget.step(cost)
        for part in parts:
            if value is ABSENT:
                break
            value = member(value, part)
        return default if value is ABSENT else value

    return read


# Following a path takes as long as reading this many times its length.
_PATH_PRICE: Final = 4


def _fold_case(budget: Budget, key: Key, case_sensitive: Value) -> Key:
    if case_sensitive:
        return key

    def fold(value: Value) -> Value:
        field = key(value)
        if not isinstance(field, str):
            return field
        budget.text(len(field))
        return field.lower()

    return fold


def _sort(budget: Budget, values: Any, key: Key, *, reverse: bool = False) -> list[Value]:
    keyed = [(_rank(key(value)), value) for value in values]
    read = sum([weight(budget, rank[-1]) for rank, _ in keyed]) + 2 * len(keyed)
    budget.scan(read * len(keyed).bit_length())
    try:
        keyed.sort(key=lambda pair: pair[0], reverse=reverse)
    except TypeError:
        kinds = sorted({kind(rank[-1]) for rank, _ in keyed})
        raise RenderError(f"cannot order {' and '.join(kinds)}") from None
    return [value for _, value in keyed]


class _Keys(tuple[Value, ...]):
    """The values of an element under several attributes."""

    __slots__ = ()


def _rank(held: Value) -> tuple[Value, ...]:
    if isinstance(held, _Keys):
        return (False, tuple(_rank(item) for item in held))
    return (True,) if is_nothing(held) else (False, held)


def sort(
    budget: Budget,
    value: Value,
    reverse: Value = False,
    case_sensitive: Value = False,
    attribute: Value = None,
) -> Value:
    names = attribute.split(",") if isinstance(attribute, str) else [attribute]
    values = to_list(value)
    budget.step(len(names) + (len(names) - 1) * len(values))
    keys = [_fold_case(budget, getter(budget, name), case_sensitive) for name in names]
    key = (
        keys[0] if len(keys) == 1 else lambda element: _Keys(sort_key(element) for sort_key in keys)
    )
    return sublist(budget, _sort(budget, values, key, reverse=bool(reverse)))


def dictsort(
    budget: Budget,
    value: Value,
    case_sensitive: Value = False,
    by: Value = "key",
    reverse: Value = False,
) -> Value:
    if by not in {"key", "value"}:
        raise RenderError("an object can only be sorted by 'key' or 'value'")
    key = _fold_case(budget, getter(budget, int(by == "value")), case_sensitive)
    return sublist(budget, _sort(budget, items(budget, value), key, reverse=bool(reverse)))


def items(budget: Budget, value: Value) -> Value:
    if is_nothing(value):
        return TemplateList()
    if not isinstance(value, dict):
        raise RenderError(f"{kind(value)} has no entries")
    budget.step(len(value))
    return new_unsized(map(TemplateTuple, value.items()))


def unique(
    budget: Budget, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> Value:
    """Return each element once, at its first position."""
    key = _fold_case(budget, getter(budget, attribute), case_sensitive)
    seen: set[Value] = set()
    unique = []
    for element in to_list(value):
        mark = _mark(budget, key(element))
        if mark not in seen:
            seen.add(mark)
            unique.append(element)
    return sublist(budget, unique)


def _mark(budget: Budget, held: Value) -> Value:
    """Return a hashable value that tells `held` from others.

    It is the text of an unhashable value or of a large number: a caller can find thousands of those
    with the same hash, which would make a set as slow as a list.
    """
    if isinstance(held, str):
        budget.scan(len(held))
        return held
    large = type(held) is int and held.bit_length() > MAX_INTEGER.bit_length()
    return (text(budget, held),) if large or isinstance(held, list | dict | tuple) else held


def _extreme(*, reverse: bool) -> Callable[..., Value]:
    def extreme(
        budget: Budget, value: Value, case_sensitive: Value = False, attribute: Value = None
    ) -> Value:
        key = _fold_case(budget, getter(budget, attribute), case_sensitive)
        present = [element for element in to_list(value) if not is_nothing(key(element))]
        ordered = _sort(budget, present, key, reverse=reverse)
        return ordered[0] if ordered else ABSENT

    return extreme


smallest: Final = _extreme(reverse=False)
largest: Final = _extreme(reverse=True)


def join(budget: Budget, value: Value, d: Value = "", attribute: Value = None) -> str:
    if is_nothing(attribute):
        return join_with(budget, text(budget, d), value)
    read = getter(budget, attribute)
    return join_with(
        budget, text(budget, d), [read(element) for element in elements(budget, value)]
    )


def _end(at: int) -> Callable[[Budget, Value], Value]:
    def end(budget: Budget, value: Value) -> Value:
        values = value if isinstance(value, list | tuple | str) else elements(budget, value)
        return values[at] if values else ABSENT

    return end


first: Final = _end(0)
last: Final = _end(-1)


def copy_list(budget: Budget, value: Value) -> Value:
    return sublist(budget, to_list(value))


def reverse(budget: Budget, value: Value) -> Value:
    if isinstance(value, str):
        budget.text(len(value))
        return value[::-1]
    return sublist(budget, elements(budget, value)[::-1])


def default(
    _budget: Budget, value: Value, default_value: Value = "", boolean: Value = False
) -> Value:
    return default_value if value is ABSENT or (boolean and not value) else value


def slices(budget: Budget, value: Value, slices: Value, fill_with: Value = None) -> Value:
    values, count = to_list(value), whole(slices, "slices")
    if count < 1:
        raise RenderError("'slices' must be at least 1")
    budget.step(count)
    hold(fill_with)
    length, extra = divmod(len(values), count)
    parts, start = [], 0
    for number in range(count):
        end = start + length + (number < extra)
        fill = [fill_with] if fill_with is not None and number >= extra else []
        parts.append(TemplateList([*values[start:end], *fill]))
        start = end
    return new_unsized(parts) if fill_with is None else new_list(budget, parts)


def batch(budget: Budget, value: Value, linecount: Value, fill_with: Value = None) -> Value:
    """Split a list into lists of `linecount`, the last filled up."""
    values, count = to_list(value), whole(linecount, "linecount")
    if count < 1:
        raise RenderError("'linecount' must be at least 1")
    if fill_with is not None:
        hold(fill_with)
        missing = -len(values) % count
        budget.step(missing)
        values = [*values, *[fill_with] * missing]
    parts = [TemplateList(values[start : start + count]) for start in range(0, len(values), count)]
    return new_unsized(parts) if fill_with is None else new_list(budget, parts)


def groupby(
    budget: Budget,
    value: Value,
    attribute: Value,
    default: Value = None,
    case_sensitive: Value = False,
) -> Value:
    """Return pairs of a key and its elements by `attribute`, ordered by key."""
    read = getter(budget, attribute, ABSENT if default is None else default)
    key = _fold_case(budget, read, case_sensitive)
    ordered = _sort(budget, to_list(value), key)
    hold(default)
    groups = [TemplateList(run) for _, run in runs(ordered, lambda group: _rank(key(group)))]
    return new_unsized(Group((read(members[0]), members)) for members in groups)


def total(budget: Budget, value: Value, attribute: Value = None, start: Value = 0) -> Value:
    read = getter(budget, attribute)
    result = start
    for element in to_list(value):
        field = read(element)
        result = result if is_nothing(field) else add(budget, result, field)
    return result


def _require_own(budget: Budget, subject: list[Value], method: str) -> TemplateList:
    if not isinstance(subject, TemplateList):
        raise RenderError(
            f"{method} works on a list the template made; copy this one with |list first"
        )
    budget.step()
    return subject


def append(budget: Budget, subject: list[Value], value: Value) -> None:
    changed = _require_own(budget, subject, "append")
    grow(budget, changed, [value])
    changed.append(value)


def extend(budget: Budget, subject: list[Value], values: Value) -> None:
    changed, added = _require_own(budget, subject, "extend"), list(elements(budget, values))
    grow(budget, changed, added)
    changed.extend(added)


def insert(budget: Budget, subject: list[Value], at: Value, value: Value) -> None:
    changed, place = _require_own(budget, subject, "insert"), whole(at, "index")
    grow(budget, changed, [value])
    changed.insert(place, value)


def pop(budget: Budget, subject: list[Value], at: Value = -1) -> Value:
    """Remove and return the element at `at`, absent if there is none."""
    changed, place = _require_own(budget, subject, "pop"), whole(at, "index")
    if not -len(changed) <= place < len(changed):
        return ABSENT
    removed = changed.pop(place)
    shrink(budget, changed, removed)
    return removed


def count(budget: Budget, subject: list[Value], value: Value) -> int:
    return sum([equal(budget, value, element) for element in subject])


def index(budget: Budget, subject: list[Value], value: Value) -> int:
    for at, element in enumerate(subject):
        if equal(budget, value, element):
            return at
    raise RenderError("the list does not hold this value")


def get(budget: Budget, subject: dict[Value, Value], key: Value, default: Value = None) -> Value:
    return subject.get(dict_key(budget, key), default)


def update(
    budget: Budget, subject: dict[Value, Value], other: Value = None, **named: Value
) -> None:
    """Add the entries of `other` and `named` to an object."""
    if not isinstance(subject, TemplateDict):
        raise RenderError("update works on an object the template made")
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
    raise RenderError(f"an object is made of pairs, not of {kind(value)}")
