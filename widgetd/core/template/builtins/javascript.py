"""JavaScript's semantics: truth, equality, `+`, numbers, methods and functions.

An absent value stays absent where JavaScript would fail on it or print `undefined`: it maps to
nothing, adds nothing, and is an empty text. As in templates, a function pays for the weight of a
value before it reads it.
"""

from __future__ import annotations

import math
import operator
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cmp_to_key
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.base.text_search import Pattern, compile_pattern
from widgetd.core.template.budget import RenderError
from widgetd.core.template.builtins import text
from widgetd.core.template.serialise import MAX_EXACT, javascript_text, to_fixed
from widgetd.core.template.values import (
    ABSENT,
    Value,
    elements,
    is_nothing,
    kind,
    member,
    new_list,
    part,
    require_computable,
    sublist,
    to_list,
)

if TYPE_CHECKING:
    from widgetd.core.template.budget import Budget

Binary = Callable[["Budget", Value, Value], Value]
Method = Callable[..., Value]

MAX_DIGITS: Final = 100

_DECIMAL: Final = compile_pattern(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_INTEGER: Final = compile_pattern(r"[+-]?\d+")
_LISTS: Final = (list, tuple)
_HOLDERS: Final = (*_LISTS, dict)


def truthy(value: Value) -> bool:
    """Return whether a condition holds. An empty list is true, NaN is false."""
    if value:
        return type(value) is not float or not math.isnan(value)
    return isinstance(value, _HOLDERS)


def number(budget: Budget, value: Value) -> float | int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return _to_number(value)
    if value is None:
        return 0
    if isinstance(value, _HOLDERS):
        value = javascript_text(budget, value)
    if isinstance(value, str):
        budget.scan(len(value))
        digits = value.strip()
        if not digits:
            return 0
        if _DECIMAL.fullmatch(digits):
            return _to_number(float(digits))
    return math.nan


def _to_number(value: float) -> float | int:
    """Return a number as JavaScript has it: integers without a fraction, large ones inexact."""
    if isinstance(value, int):
        return value if abs(value) <= MAX_EXACT else float(require_computable(value))
    return int(value) if value.is_integer() and abs(value) <= MAX_EXACT else value


def _arithmetic(compute: Callable[[float, float], float]) -> Binary:
    def apply(budget: Budget, left: Value, right: Value) -> Value:
        if left is ABSENT or right is ABSENT:
            return ABSENT
        first, other = number(budget, left), number(budget, right)
        try:
            return _to_number(compute(_to_number(first), _to_number(other)))
        except (OverflowError, ValueError):
            return math.nan

    return apply


def _divide(dividend: float, other: float) -> float:
    if other:
        return dividend / other
    return math.nan if not dividend or math.isnan(dividend) else math.copysign(math.inf, dividend)


_sum: Final = _arithmetic(operator.add)


def add(budget: Budget, left: Value, right: Value) -> Value:
    """Return the sum of numbers, or the concatenation if either is a text, list or object."""
    if isinstance(left, (str, *_HOLDERS)) or isinstance(right, (str, *_HOLDERS)):
        return concat(budget, left, right)
    return _sum(budget, left, right)


def concat(budget: Budget, *parts: Value) -> str:
    texts = [part if type(part) is str else javascript_text(budget, part) for part in parts]
    budget.text(sum(map(len, texts)))
    return "".join(texts)


def same(budget: Budget, left: Value, right: Value) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        budget.scan(min(len(left), len(right)))
        return left == right
    if isinstance(left, _HOLDERS) or isinstance(right, _HOLDERS):
        return left is right
    if type(left) is not type(right) and not (_is_number(left) and _is_number(right)):
        return False  # to Python, true is 1
    return bool(left == right)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(budget: Budget, left: Value, right: Value) -> bool:
    """Return whether `left == right`: null equals absent, and a text may equal a number."""
    if is_nothing(left) or is_nothing(right):
        return is_nothing(left) and is_nothing(right)
    if isinstance(left, _HOLDERS) and isinstance(right, _HOLDERS):
        return left is right
    if isinstance(left, str) or isinstance(right, str):
        others = [operand for operand in (left, right) if not isinstance(operand, (str, *_HOLDERS))]
        if not others:
            return same(budget, javascript_text(budget, left), javascript_text(budget, right))
    return bool(number(budget, left) == number(budget, right))


def _ordering(compare: Callable[[Value, Value], bool]) -> Binary:
    def apply(budget: Budget, left: Value, right: Value) -> bool:
        if isinstance(left, str) and isinstance(right, str):
            budget.scan(min(len(left), len(right)))
            return compare(left, right)
        if left is ABSENT or right is ABSENT:
            return False
        return compare(number(budget, left), number(budget, right))

    return apply


OPERATORS: Final[Mapping[str, Binary]] = MappingProxyType(
    {
        "+": add,
        "-": _arithmetic(operator.sub),
        "*": _arithmetic(operator.mul),
        "/": _arithmetic(_divide),
        "%": _arithmetic(lambda left, other: math.fmod(left, other) if other else math.nan),
        "===": same,
        "!==": lambda budget, left, right: not same(budget, left, right),
        "==": equal,
        "!=": lambda budget, left, right: not equal(budget, left, right),
        "<": _ordering(operator.lt),
        "<=": _ordering(operator.le),
        ">": _ordering(operator.gt),
        ">=": _ordering(operator.ge),
    }
)
"""The operators whose operands are both evaluated."""


def negative(budget: Budget, value: Value) -> Value:
    return ABSENT if value is ABSENT else _to_number(-number(budget, value))


def positive(budget: Budget, value: Value) -> Value:
    return ABSENT if value is ABSENT else number(budget, value)


# --- methods of a text or a list, and methods with a function as argument ---


def _join(budget: Budget, value: Value, separator: Value = ABSENT) -> Value:
    between = "," if separator is ABSENT else javascript_text(budget, separator)
    if isinstance(value, str):
        raise RenderError("a text cannot be joined")
    texts = ["" if is_nothing(item) else javascript_text(budget, item) for item in to_list(value)]
    budget.text(sum(map(len, texts)) + len(between) * len(texts))
    return between.join(texts)


def _slice(budget: Budget, value: Value, start: Value = ABSENT, stop: Value = ABSENT) -> Value:
    first, end = (None if bound is ABSENT else _whole(budget, bound) for bound in (start, stop))
    return part(budget, value, first, end, None)


def _whole(budget: Budget, value: Value) -> int:
    at = number(budget, value)
    return int(at) if math.isfinite(at) else 0


def _includes(budget: Budget, value: Value, sought: Value = ABSENT) -> bool:
    if isinstance(value, str):
        part_of = javascript_text(budget, sought)
        budget.search(len(value), len(part_of))
        return part_of in value
    return any(same(budget, item, sought) for item in to_list(value))


def _to_fixed(budget: Budget, value: Value, digits: Value = 0) -> Value:
    if value is ABSENT:
        return ABSENT
    count = _whole(budget, digits)
    if not 0 <= count <= MAX_DIGITS:
        raise RenderError("toFixed takes from 0 to 100 digits")
    return to_fixed(budget, number(budget, value), count)


def _of_text(change: Method) -> Method:
    def apply(budget: Budget, value: Value, *args: Value) -> Value:
        if is_nothing(value):
            return ABSENT
        if not isinstance(value, str):
            raise RenderError(f"{kind(value)} is no text")
        return change(budget, value, *args)

    return apply


def _char_at(budget: Budget, value: str, index: Value = ABSENT) -> str:
    at = _whole(budget, index)
    return value[at : at + 1] if at >= 0 else ""


def _concat(budget: Budget, value: Value, other: Value = ABSENT) -> Value:
    if isinstance(value, str):
        return concat(budget, value, other)
    return new_list(budget, [*to_list(value), *(other if isinstance(other, _LISTS) else [other])])


def flatten(budget: Budget, values: Iterable[Value]) -> Value:
    """Return a list with each list among `values` replaced by its elements."""
    flat: list[Value] = []
    for item in values:
        inside = list(item) if isinstance(item, _LISTS) else [item]
        budget.step(len(inside))
        flat += inside
    return new_list(budget, flat)


def _index_of(budget: Budget, value: Value, sought: Value = ABSENT) -> int:
    if isinstance(value, str):
        return text.find(budget, value, javascript_text(budget, sought))
    return next((at for at, item in enumerate(to_list(value)) if same(budget, item, sought)), -1)


def _padding(*, at_start: bool) -> Method:
    def apply(budget: Budget, value: str, width: Value = ABSENT, fill: Value = " ") -> str:
        size, pad = _whole(budget, width), javascript_text(budget, fill)
        missing = size - len(value)
        if missing <= 0 or not pad:
            return value
        budget.text(size)
        padding = (pad * (missing // len(pad) + 1))[:missing]
        return padding + value if at_start else value + padding

    return apply


def _repeat(budget: Budget, value: str, count: Value = ABSENT) -> str:
    times = _whole(budget, count)
    if times < 0:
        raise RenderError("repeat takes a number from 0")
    budget.text(times * len(value))
    return value * times


def _replacing(count: int | None) -> Method:
    def apply(budget: Budget, value: str, old: Value = ABSENT, new: Value = ABSENT) -> str:
        before, after = javascript_text(budget, old), javascript_text(budget, new)
        return text.replace(budget, value, before, after, count)

    return apply


def require_list(value: Value) -> Value:
    """Return `value` unless it is a text or an object, neither of which has a list's elements."""
    if isinstance(value, str | dict):
        raise RenderError(f"{kind(value)} is no list")
    return value


def _reverse(budget: Budget, value: Value) -> Value:
    return sublist(budget, to_list(require_list(value))[::-1])


def _sort(budget: Budget, value: Value) -> Value:
    """Sort by text in the order of UTF-16. Absent values come last."""
    elements = to_list(require_list(value))
    budget.step(len(elements) * len(elements).bit_length())
    keys = [javascript_text(budget, item).encode("utf-16-be", "surrogatepass") for item in elements]
    order = sorted(range(len(elements)), key=lambda at: (elements[at] is ABSENT, keys[at]))
    return sublist(budget, [elements[at] for at in order])


def _split(budget: Budget, value: str, separator: Value = ABSENT) -> Value:
    if separator is ABSENT:
        return sublist(budget, [value])
    between = javascript_text(budget, separator)
    if between:
        return text.split(budget, value, between)
    budget.step(len(value))
    return sublist(budget, list(value))


def _affix(has: Callable[[str, str], bool]) -> Method:
    def apply(budget: Budget, value: str, sought: Value = ABSENT) -> bool:
        return has(value, javascript_text(budget, sought))

    return apply


def _substring(budget: Budget, value: str, start: Value = ABSENT, stop: Value = ABSENT) -> str:
    size = len(value)
    first = max(0, min(size, _whole(budget, start)))
    last = size if stop is ABSENT else max(0, min(size, _whole(budget, stop)))
    budget.text(abs(last - first))
    return value[min(first, last) : max(first, last)]


def _locale_compare(budget: Budget, value: str, other: Value = ABSENT) -> int:
    """Compare letters first, then accents, then case, as dictionaries do."""
    first, two = (_collation_key(string) for string in (value, javascript_text(budget, other)))
    return (first > two) - (first < two)


def _collation_key(value: str) -> tuple[str, str, str]:
    accented = unicodedata.normalize("NFKD", value)
    plain = "".join(char for char in accented if not unicodedata.combining(char))
    return plain.casefold(), accented.casefold(), value.swapcase()


METHODS: Final[Mapping[str, tuple[int, Method]]] = MappingProxyType(
    {
        "at": (1, lambda budget, value, at=ABSENT: member(value, _whole(budget, at))),
        "charAt": (1, _of_text(_char_at)),
        "concat": (1, _concat),
        "endsWith": (1, _of_text(_affix(str.endswith))),
        "flat": (0, lambda budget, value: flatten(budget, to_list(value))),
        "includes": (1, _includes),
        "indexOf": (1, _index_of),
        "join": (1, _join),
        "localeCompare": (1, _of_text(_locale_compare)),
        "padEnd": (2, _of_text(_padding(at_start=False))),
        "padStart": (2, _of_text(_padding(at_start=True))),
        "repeat": (1, _of_text(_repeat)),
        "replace": (2, _of_text(_replacing(1))),
        "replaceAll": (2, _of_text(_replacing(None))),
        "reverse": (0, _reverse),
        "slice": (2, _slice),
        "sort": (0, _sort),
        "split": (1, _of_text(_split)),
        "startsWith": (1, _of_text(_affix(str.startswith))),
        "substring": (2, _of_text(_substring)),
        "toFixed": (1, _to_fixed),
        "toLowerCase": (0, _of_text(text.lower)),
        "toReversed": (0, _reverse),
        "toSorted": (0, _sort),
        "toString": (0, javascript_text),
        "toUpperCase": (0, _of_text(text.upper)),
        "trim": (0, _of_text(text.trim)),
    }
)
"""Methods by name, and how many arguments each reads; all arguments are weighed before."""


Function = Callable[["Budget", list[Value]], Value]


def _rounding(compute: Callable[..., float]) -> Function:
    def apply(budget: Budget, args: list[Value]) -> Value:
        if not args or any(arg is ABSENT for arg in args):
            return ABSENT
        numbers = [_to_number(number(budget, arg)) for arg in args]
        try:
            return _to_number(compute(*numbers)) if all(map(math.isfinite, numbers)) else math.nan
        except (ArithmeticError, ValueError):
            return math.nan

    return apply


def _type_of(_budget: Budget, args: list[Value]) -> str:
    [value] = args
    if value is ABSENT:
        return "undefined"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "object"


def _parsing(pattern: Pattern[str]) -> Function:
    def parse(budget: Budget, args: list[Value]) -> Value:
        if not args or args[0] is ABSENT:
            return ABSENT
        digits = javascript_text(budget, args[0])
        budget.scan(len(digits))
        match = pattern.match(digits.strip())
        return _to_number(float(match.group())) if match else math.nan

    return parse


def _array(budget: Budget, args: list[Value]) -> Value:
    value = args[0] if args else ABSENT
    if isinstance(value, dict):
        length = max(0, _whole(budget, value.get("length", 0)))
        budget.step(length)
        return sublist(budget, [ABSENT] * length)
    return new_list(budget, elements(budget, value))


def _of_object(entry: Callable[[Budget, Value, Value], Value]) -> Function:
    def list_entries(budget: Budget, args: list[Value]) -> Value:
        value = args[0] if args else ABSENT
        if isinstance(value, str | list | tuple):
            value = {str(at): item for at, item in enumerate(value)}
        elif not isinstance(value, dict):
            value = {}
        budget.step(len(value))
        named = {javascript_text(budget, key): item for key, item in value.items()}
        # JavaScript lists keys that are indexes first, by their number.
        indexes = sorted((key for key in named if _INDEX.fullmatch(key)), key=int)
        ordered = dict.fromkeys([*indexes, *named])
        return new_list(budget, [entry(budget, key, named[key]) for key in ordered])

    return list_entries


_INDEX: Final = compile_pattern(r"0|[1-9]\d{0,9}")

FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        "String": lambda budget, args: javascript_text(budget, args[0]) if args else "",
        "Number": lambda budget, args: positive(budget, args[0]) if args else 0,
        "Boolean": lambda _budget, args: bool(args) and truthy(args[0]),
        "typeof": _type_of,
        "isNaN": lambda budget, args: math.isnan(number(budget, args[0])) if args else True,
        "parseFloat": _parsing(_DECIMAL),
        "parseInt": _parsing(_INTEGER),
        "Array.from": _array,
        "Array.isArray": lambda _budget, args: bool(args) and isinstance(args[0], _LISTS),
        "Object.entries": _of_object(lambda budget, key, value: new_list(budget, [key, value])),
        "Object.keys": _of_object(lambda _budget, key, _value: key),
        "Object.values": _of_object(lambda _budget, _key, value: value),
        "Math.round": _rounding(lambda value: math.floor(value + 0.5)),
        "Math.floor": _rounding(math.floor),
        "Math.ceil": _rounding(math.ceil),
        "Math.trunc": _rounding(math.trunc),
        "Math.abs": _rounding(abs),
        "Math.min": _rounding(lambda *values: min(values)),
        "Math.max": _rounding(lambda *values: max(values)),
        "Math.pow": _rounding(math.pow),
        "Math.sqrt": _rounding(math.sqrt),
    }
)
"""Functions by name; every argument is weighed before."""


Turn = Callable[..., Value]
"""Calls the function that was given to a method."""


def _passing(values: list[Value], turn: Turn) -> Iterator[Value]:
    return (item for at, item in enumerate(values) if truthy(turn(item, at)))


def _reduce(_budget: Budget, values: list[Value], turn: Turn, *initial: Value) -> Value:
    if not values and not initial:
        return ABSENT
    rest = values if initial else values[1:]
    result = initial[0] if initial else values[0]
    for at, item in enumerate(rest, start=len(values) - len(rest)):
        result = turn(result, item, at)
    return result


def _sort_by(budget: Budget, values: list[Value], turn: Turn) -> Value:
    def compare(left: Value, other: Value) -> int:
        order = number(budget, turn(left, other))
        return (order > 0) - (order < 0)

    return sublist(budget, sorted(values, key=cmp_to_key(compare)))


LOOPS: Final[Mapping[str, Callable[..., Value]]] = MappingProxyType(
    {
        "map": lambda budget, values, turn: new_list(
            budget, [turn(item, at) for at, item in enumerate(values)]
        ),
        "filter": lambda budget, values, turn: new_list(budget, _passing(values, turn)),
        "find": lambda _budget, values, turn: next(_passing(values, turn), ABSENT),
        "findIndex": lambda _budget, values, turn: next(
            (at for at, item in enumerate(values) if truthy(turn(item, at))), -1
        ),
        "flatMap": lambda budget, values, turn: flatten(
            budget, [turn(item, at) for at, item in enumerate(values)]
        ),
        "some": lambda _budget, values, turn: any(True for _ in _passing(values, turn)),
        "every": lambda _budget, values, turn: all(
            truthy(turn(item, at)) for at, item in enumerate(values)
        ),
        "reduce": _reduce,
        "sort": _sort_by,
        "toSorted": _sort_by,
    }
)
"""Methods that take a function; a step was paid for each call of it."""


def turns(name: str, count: int) -> int:
    return count * count.bit_length() if name in {"sort", "toSorted"} else count
