"""What filters do to lists and objects.

`attribute` means a key, or keys joined by dots; never anything of Python's. The
elements are paid for by the table of filters, what is read in each of them here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby as runs
from typing import TYPE_CHECKING, Any, Final

from widgetd.template.budget import CHARACTERS_PER_STEP, Failure
from widgetd.template.builtins.operators import add
from widgetd.template.builtins.text import join_with
from widgetd.template.serialise import text
from widgetd.template.values import (
    ABSENT,
    MAX_INTEGER,
    Group,
    Made,
    MadeTuple,
    Value,
    elements,
    hold,
    is_nothing,
    kind,
    length,
    listed,
    made,
    member,
    picked,
    unweighed,
    weight,
    whole,
)

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Key = Callable[[Value], Any]


def getter(budget: Budget, attribute: Value, default: Value = ABSENT) -> Key:
    """The function from an element to what it holds under the dotted `attribute`."""
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


# To follow a path takes as long as to read so many times its length.
_PATH_PRICE: Final = 4


def _folded(budget: Budget, key: Key, case_sensitive: Value) -> Key:
    if case_sensitive:
        return key

    def fold(value: Value) -> Value:
        held = key(value)
        if not isinstance(held, str):
            return held
        budget.text(len(held))
        return held.lower()

    return fold


def _ordered(budget: Budget, values: Any, key: Key, *, reverse: bool = False) -> list[Value]:
    """Sorted, nothing last; paid for by what the comparisons read."""
    keyed = [(_rank(key(value)), value) for value in values]
    read = sum([weight(budget, rank[-1]) for rank, _ in keyed]) + 2 * len(keyed)
    budget.scan(read * len(keyed).bit_length())
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
    values = listed(value)
    budget.step(len(names) + (len(names) - 1) * len(values))
    keys = [_folded(budget, getter(budget, name), case_sensitive) for name in names]
    key = keys[0] if len(keys) == 1 else lambda each: _Keys(one(each) for one in keys)
    return picked(budget, _ordered(budget, values, key, reverse=bool(reverse)))


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
    key = _folded(budget, getter(budget, int(by == "value")), case_sensitive)
    return picked(budget, _ordered(budget, items(budget, value), key, reverse=bool(reverse)))


def items(budget: Budget, value: Value) -> Value:
    """The entries of an object as pairs."""
    if is_nothing(value):
        return Made()
    if not isinstance(value, dict):
        raise Failure(f"{kind(value)} has no entries")
    budget.step(len(value))
    return unweighed(map(MadeTuple, value.items()))


def unique(
    budget: Budget, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> Value:
    """Each element once, where it first came."""
    key = _folded(budget, getter(budget, attribute), case_sensitive)
    seen: set[Value] = set()
    kept = []
    for each in listed(value):
        mark = _mark(budget, key(each))
        if mark not in seen:
            seen.add(mark)
            kept.append(each)
    return picked(budget, kept)


def _mark(budget: Budget, held: Value) -> Value:
    """What tells `held` from others in a set.

    As text, what cannot be looked up in a set at all; and a large number, of
    which a caller can find thousands that meet in one place of it.
    """
    if isinstance(held, str):
        budget.scan(len(held))
        return held
    large = type(held) is int and held.bit_length() > MAX_INTEGER.bit_length()
    return (text(budget, held),) if large or isinstance(held, list | dict | tuple) else held


def smallest(
    budget: Budget, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> Value:
    """The least element."""
    return _first_by(budget, value, case_sensitive, attribute, reverse=False)


def largest(
    budget: Budget, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> Value:
    """The greatest element."""
    return _first_by(budget, value, case_sensitive, attribute, reverse=True)


def _first_by(
    budget: Budget, value: Value, case_sensitive: Value, attribute: Value, *, reverse: bool
) -> Value:
    key = _folded(budget, getter(budget, attribute), case_sensitive)
    known = [each for each in listed(value) if not is_nothing(key(each))]
    ordered = _ordered(budget, known, key, reverse=reverse)
    return ordered[0] if ordered else ABSENT


def join(budget: Budget, value: Value, d: Value = "", attribute: Value = None) -> str:
    """The texts of a list, with `d` between them."""
    if is_nothing(attribute):
        return join_with(budget, text(budget, d), value)
    read = getter(budget, attribute)
    return join_with(budget, text(budget, d), [read(each) for each in elements(budget, value)])


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


def copied(budget: Budget, value: Value) -> Value:
    """A list of its own, of the elements, keys or characters."""
    return picked(budget, listed(value))


def reverse(budget: Budget, value: Value) -> Value:
    """The other way round."""
    if isinstance(value, str):
        budget.text(len(value))
        return value[::-1]
    return picked(budget, elements(budget, value)[::-1])


def length_of(_budget: Budget, value: Value) -> int:
    """How many elements, entries or characters there are."""
    return length(value)


def default(
    _budget: Budget, value: Value, default_value: Value = "", boolean: Value = False
) -> Value:
    """The value, or another where it is absent, or with `boolean` false."""
    return default_value if value is ABSENT or (boolean and not value) else value


def slices(budget: Budget, value: Value, slices: Value, fill_with: Value = None) -> Value:
    """In `slices` lists of nearly the same length."""
    values, count = listed(value), whole(slices, "slices")
    if count < 1:
        raise Failure("'slices' must be at least 1")
    budget.step(count)
    hold(fill_with)
    each, extra = divmod(len(values), count)
    parts, start = [], 0
    for number in range(count):
        end = start + each + (number < extra)
        fill = [fill_with] if fill_with is not None and number >= extra else []
        parts.append(Made([*values[start:end], *fill]))
        start = end
    return unweighed(parts) if fill_with is None else made(budget, parts)


def batch(budget: Budget, value: Value, linecount: Value, fill_with: Value = None) -> Value:
    """In lists of `linecount`, the last one filled up."""
    values, count = listed(value), whole(linecount, "linecount")
    if count < 1:
        raise Failure("'linecount' must be at least 1")
    if fill_with is not None:
        hold(fill_with)
        missing = -len(values) % count
        budget.step(missing)
        values = [*values, *[fill_with] * missing]
    parts = [Made(values[start : start + count]) for start in range(0, len(values), count)]
    return unweighed(parts) if fill_with is None else made(budget, parts)


def groupby(
    budget: Budget,
    value: Value,
    attribute: Value,
    default: Value = None,
    case_sensitive: Value = False,
) -> Value:
    """Pairs of a key and the elements that hold it under `attribute`, in the order of the keys."""
    read = getter(budget, attribute, ABSENT if default is None else default)
    key = _folded(budget, read, case_sensitive)
    ordered = _ordered(budget, listed(value), key)
    hold(default)
    groups = [Made(run) for _, run in runs(ordered, lambda each: _rank(key(each)))]
    return unweighed(Group((read(each[0]), each)) for each in groups)


def total(budget: Budget, value: Value, attribute: Value = None, start: Value = 0) -> Value:
    """The sum of the elements, or of what they hold under `attribute`."""
    read = getter(budget, attribute)
    result = start
    for each in listed(value):
        held = read(each)
        result = result if is_nothing(held) else add(budget, result, held)
    return result
