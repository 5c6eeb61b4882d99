"""What filters do to lists and objects, each turn paid for.

`attribute` means a key, or keys joined by dots; never anything of Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby as runs
from typing import TYPE_CHECKING, Any

from widgetd.template.budget import Failure
from widgetd.template.operators import add
from widgetd.template.text import text
from widgetd.template.textual import join_with, whole
from widgetd.template.values import (
    ABSENT,
    Group,
    Made,
    Value,
    elements,
    is_nothing,
    kind,
    length,
    member,
    weigh,
)

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Key = Callable[[Value], Any]


def getter(attribute: Value, default: Value = ABSENT) -> Key:
    """The function from an element to what it holds under the dotted `attribute`."""
    parts = _parts(attribute)

    def read(value: Value) -> Value:
        for part in parts:
            value = member(value, part)
        return default if value is ABSENT else value

    return read


def _parts(attribute: Value) -> list[Value]:
    if isinstance(attribute, str):
        return [int(part) if part.isdecimal() else part for part in attribute.split(".")]
    return [] if is_nothing(attribute) else [attribute]


def _folded(key: Key, case_sensitive: Value) -> Key:
    if case_sensitive:
        return key

    def fold(value: Value) -> Value:
        held = key(value)
        return held.lower() if isinstance(held, str) else held

    return fold


def _ordered(budget: Budget, values: Any, key: Key, *, reverse: bool = False) -> list[Value]:
    """Sorted, nothing last; paid for by the number of comparisons."""
    keyed = [(_rank(key(value)), value) for value in values]
    weigh(budget, *(rank for rank, _ in keyed))
    budget.step(len(keyed) * len(keyed).bit_length() // 4)
    try:
        keyed.sort(key=lambda pair: pair[0], reverse=reverse)
    except TypeError:
        kinds = sorted({kind(rank[-1]) for rank, _ in keyed})
        raise Failure(f"cannot order {' and '.join(kinds)}") from None
    return [value for _, value in keyed]


class _Keys(tuple[Value, ...]):
    """What an element holds under several attributes."""

    __slots__ = ()


def _rank(held: Value) -> tuple[Value, ...]:
    if isinstance(held, _Keys):
        return (False, tuple(_rank(each) for each in held))
    return (True,) if is_nothing(held) else (False, held)


def sort(
    budget: Budget,
    value: Value,
    reverse: Value = False,
    case_sensitive: Value = False,
    attribute: Value = None,
) -> Value:
    """In rising order, or falling; by `attribute`, or several with commas between them."""
    names = attribute.split(",") if isinstance(attribute, str) else [attribute]
    keys = [_folded(getter(name), case_sensitive) for name in names]
    values = elements(budget, value)
    key = keys[0] if len(keys) == 1 else lambda each: _Keys(one(each) for one in keys)
    return Made(_ordered(budget, values, key, reverse=bool(reverse)))


def dictsort(
    budget: Budget,
    value: Value,
    case_sensitive: Value = False,
    by: Value = "key",
    reverse: Value = False,
) -> Value:
    """The entries of an object as pairs, in the order of their keys or values."""
    if by not in {"key", "value"}:
        raise Failure("an object can only be sorted by 'key' or 'value'")
    key = _folded(getter(int(by == "value")), case_sensitive)
    return Made(_ordered(budget, items(budget, value), key, reverse=bool(reverse)))


def items(budget: Budget, value: Value) -> Value:
    """The entries of an object as pairs."""
    if is_nothing(value):
        return Made()
    if not isinstance(value, dict):
        raise Failure(f"{kind(value)} has no entries")
    budget.step(2 * len(value))
    return Made(value.items())


def unique(
    budget: Budget, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> Value:
    """Each element once, where it first came."""
    key = _folded(getter(attribute), case_sensitive)
    seen: set[Value] = set()
    kept = Made()
    for each in elements(budget, value):
        held = key(each)
        mark = text(budget, held) if isinstance(held, list | dict) else held
        if mark not in seen:
            seen.add(mark)
            kept.append(each)
    return kept


def smallest(
    budget: Budget, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> Value:
    """The least element."""
    return _extreme(budget, value, _folded(getter(attribute), case_sensitive), reverse=False)


def largest(
    budget: Budget, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> Value:
    """The greatest element."""
    return _extreme(budget, value, _folded(getter(attribute), case_sensitive), reverse=True)


def _extreme(budget: Budget, value: Value, key: Key, *, reverse: bool) -> Value:
    values = elements(budget, value)
    known = [each for each in values if not is_nothing(key(each))]
    ordered = _ordered(budget, known, key, reverse=reverse)
    return ordered[0] if ordered else ABSENT


def join(budget: Budget, value: Value, d: Value = "", attribute: Value = None) -> str:
    """The texts of a list, with `d` between them."""
    values = elements(budget, value)
    if attribute is not None:
        read = getter(attribute)
        values = [read(each) for each in values]
    return join_with(budget, text(budget, d), values)


def first(budget: Budget, value: Value) -> Value:
    """The first element."""
    return _end(budget, value, 0)


def last(budget: Budget, value: Value) -> Value:
    """The last element."""
    return _end(budget, value, -1)


def _end(budget: Budget, value: Value, at: int) -> Value:
    if isinstance(value, list | tuple | str):
        return value[at] if value else ABSENT
    values = elements(budget, value)
    return values[at] if values else ABSENT


def listed(budget: Budget, value: Value) -> Value:
    """A list of its own, of the elements, keys or characters."""
    return Made(elements(budget, value))


def reverse(budget: Budget, value: Value) -> Value:
    """The other way round."""
    if isinstance(value, str):
        budget.text(len(value))
        return value[::-1]
    return Made(elements(budget, value)[::-1])


def length_of(_budget: Budget, value: Value) -> int:
    """How many elements, entries or characters there are."""
    return length(value)


def slices(budget: Budget, value: Value, slices: Value, fill_with: Value = None) -> Value:
    """In `slices` lists of nearly the same length."""
    values, count = list(elements(budget, value)), whole(slices, "slices")
    if count < 1:
        raise Failure("'slices' must be at least 1")
    budget.step(count)
    each, extra = divmod(len(values), count)
    made, start = Made(), 0
    for number in range(count):
        end = start + each + (number < extra)
        part = Made(values[start:end])
        if fill_with is not None and number >= extra:
            part.append(fill_with)
        made.append(part)
        start = end
    return made


def batch(budget: Budget, value: Value, linecount: Value, fill_with: Value = None) -> Value:
    """In lists of `linecount`, the last one filled up."""
    values, count = list(elements(budget, value)), whole(linecount, "linecount")
    if count < 1:
        raise Failure("'linecount' must be at least 1")
    made = Made(Made(values[start : start + count]) for start in range(0, len(values), count))
    if made and fill_with is not None:
        missing = count - len(made[-1])
        budget.step(missing)
        made[-1].extend([fill_with] * missing)
    return made


def groupby(
    budget: Budget,
    value: Value,
    attribute: Value,
    default: Value = None,
    case_sensitive: Value = False,
) -> Value:
    """Pairs of a key and the elements that hold it under `attribute`, in the order of the keys."""
    read = getter(attribute, ABSENT if default is None else default)
    key = _folded(read, case_sensitive)
    ordered = _ordered(budget, elements(budget, value), key)
    groups = [Made(run) for _, run in runs(ordered, lambda each: _rank(key(each)))]
    return Made(Group((read(group[0]), group)) for group in groups)


def total(budget: Budget, value: Value, attribute: Value = None, start: Value = 0) -> Value:
    """The sum of the elements, or of what they hold under `attribute`."""
    read = getter(attribute)
    result = start
    for each in elements(budget, value):
        held = read(each)
        result = result if is_nothing(held) else add(budget, result, held)
    return result
