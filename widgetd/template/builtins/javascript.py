"""JavaScript's semantics: truth, equality, `+`, numbers, methods and functions.

What is absent stays absent where JavaScript would fail on it or print `undefined`: it
maps to nothing, is added as nothing, and reads as nothing in a text. As in templates,
whatever reads a value pays for its weight before it begins.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from widgetd.template.budget import RenderError
from widgetd.template.builtins import text as texts
from widgetd.template.serialise import MAX_EXACT, javascript_text, to_fixed
from widgetd.template.values import (
    ABSENT,
    Value,
    is_nothing,
    kind,
    new_list,
    part,
    require_computable,
    to_list,
    weigh,
)
from widgetd.text_search import compile_pattern

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Binary = Callable[["Budget", Value, Value], Value]
Method = Callable[..., Value]

MAX_DIGITS: Final = 100

_DECIMAL: Final = compile_pattern(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_HOLDERS: Final = (list, dict, tuple)


def truthy(value: Value) -> bool:
    """Return whether a condition holds; an empty list is true, NaN is false."""
    if value:
        return type(value) is not float or not math.isnan(value)
    return isinstance(value, _HOLDERS)


def number(budget: Budget, value: Value) -> float | int:
    """Return `value` as a number, NaN if it is none."""
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
        shown = value.strip()
        if not shown:
            return 0
        if _DECIMAL.fullmatch(shown):
            return _to_number(float(shown))
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
        one, other = number(budget, left), number(budget, right)
        try:
            return _to_number(compute(_to_number(one), _to_number(other)))
        except (OverflowError, ValueError):
            return math.nan

    return apply


def _divide(one: float, other: float) -> float:
    if other:
        return one / other
    return math.nan if not one or math.isnan(one) else math.copysign(math.inf, one)


def _rest(one: float, other: float) -> float:
    return math.fmod(one, other) if other else math.nan


_sum: Final = _arithmetic(operator.add)


def add(budget: Budget, left: Value, right: Value) -> Value:
    """Return the sum of numbers, or the concatenation if either is a text, list or object."""
    if isinstance(left, (str, *_HOLDERS)) or isinstance(right, (str, *_HOLDERS)):
        shown = [javascript_text(budget, left), javascript_text(budget, right)]
        budget.text(sum(map(len, shown)))
        return "".join(shown)
    return _sum(budget, left, right)


def same(budget: Budget, left: Value, right: Value) -> bool:
    """Return whether `left === right`; a list or an object is the same as itself only."""
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
        others = [each for each in (left, right) if not isinstance(each, (str, *_HOLDERS))]
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
        "%": _arithmetic(_rest),
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
    """Return `-value`."""
    return ABSENT if value is ABSENT else _to_number(-number(budget, value))


def positive(budget: Budget, value: Value) -> Value:
    """Return `+value`."""
    return ABSENT if value is ABSENT else number(budget, value)


# --- methods: those of a text or a list, and those that a function is given to ---


def _join(budget: Budget, value: Value, separator: Value = ABSENT) -> Value:
    between = "," if separator is ABSENT else javascript_text(budget, separator)
    if isinstance(value, str):
        raise RenderError("a text cannot be joined")
    shown = ["" if is_nothing(each) else javascript_text(budget, each) for each in to_list(value)]
    budget.text(sum(map(len, shown)) + len(between) * len(shown))
    return between.join(shown)


def _slice(budget: Budget, value: Value, start: Value = ABSENT, stop: Value = ABSENT) -> Value:
    first, end = (None if each is ABSENT else _whole(budget, each) for each in (start, stop))
    return part(budget, value, first, end, None)


def _whole(budget: Budget, value: Value) -> int:
    at = number(budget, value)
    return int(at) if math.isfinite(at) else 0


def _includes(budget: Budget, value: Value, sought: Value = ABSENT) -> bool:
    if isinstance(value, str):
        part_of = javascript_text(budget, sought)
        budget.search(len(value), len(part_of))
        return part_of in value
    return any(same(budget, each, sought) for each in to_list(value))


def _to_fixed(budget: Budget, value: Value, digits: Value = 0) -> Value:
    if value is ABSENT:
        return ABSENT
    count = _whole(budget, digits)
    if not 0 <= count <= MAX_DIGITS:
        raise RenderError("toFixed takes from 0 to 100 digits")
    return to_fixed(budget, number(budget, value), count)


def _of_text(change: Callable[[Budget, Value], str]) -> Method:
    def apply(budget: Budget, value: Value) -> Value:
        if is_nothing(value):
            return ABSENT
        if not isinstance(value, str):
            raise RenderError(f"{kind(value)} is no text")
        return change(budget, value)

    return apply


METHODS: Final[Mapping[str, tuple[int, Method]]] = MappingProxyType(
    {
        "includes": (1, _includes),
        "join": (1, _join),
        "slice": (2, _slice),
        "toFixed": (1, _to_fixed),
        "toLowerCase": (0, _of_text(texts.lower)),
        "toUpperCase": (0, _of_text(texts.upper)),
        "trim": (0, _of_text(texts.trim)),
    }
)
"""What may be called on a value, and how many arguments it looks at."""


def call_method(budget: Budget, name: str, subject: Value, args: list[Value]) -> Value:
    """Call a method; its subject and every argument are charged before."""
    count, method = METHODS[name]
    weigh(budget, subject, *args)
    return method(budget, subject, *args[:count])


Function = Callable[["Budget", list[Value]], Value]


def _rounding(compute: Callable[..., float]) -> Function:
    def apply(budget: Budget, args: list[Value]) -> Value:
        if not args or any(each is ABSENT for each in args):
            return ABSENT
        given = [_to_number(number(budget, each)) for each in args]
        return _to_number(compute(*given)) if all(map(math.isfinite, given)) else math.nan

    return apply


FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        "String": lambda budget, args: javascript_text(budget, args[0]) if args else "",
        "Number": lambda budget, args: positive(budget, args[0]) if args else 0,
        "Boolean": lambda _budget, args: bool(args) and truthy(args[0]),
        "Math.round": _rounding(lambda value: math.floor(value + 0.5)),
        "Math.floor": _rounding(math.floor),
        "Math.ceil": _rounding(math.ceil),
        "Math.abs": _rounding(abs),
        "Math.min": _rounding(lambda *values: min(values)),
        "Math.max": _rounding(lambda *values: max(values)),
    }
)
"""What may be called by its name; every argument is weighed before."""


Turn = Callable[[Value, int], Value]
"""What the function given to a method makes of an element and its position."""


def _passing(values: list[Value], turn: Turn) -> Iterator[Value]:
    return (each for at, each in enumerate(values) if truthy(turn(each, at)))


LOOPS: Final[Mapping[str, Callable[[Budget, list[Value], Turn], Value]]] = MappingProxyType(
    {
        "map": lambda budget, values, turn: new_list(
            budget, [turn(each, at) for at, each in enumerate(values)]
        ),
        "filter": lambda budget, values, turn: new_list(budget, list(_passing(values, turn))),
        "find": lambda _budget, values, turn: next(_passing(values, turn), ABSENT),
        "some": lambda _budget, values, turn: any(True for _ in _passing(values, turn)),
        "every": lambda _budget, values, turn: all(
            truthy(turn(each, at)) for at, each in enumerate(values)
        ),
    }
)
"""The methods that a function is given to; a step was paid for each element."""
