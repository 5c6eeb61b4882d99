"""Operators between values, and filters of numbers, within bounds.

Operators mean the same as in Python, with two exceptions: absent and null in arithmetic yield
absent, and a text beside a number is concatenated, as in the JSX of its origin. The size of numbers
is bounded, so each operation takes constant time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from jinja2.filters import do_filesizeformat, do_round

from widgetd.core.template.budget import RenderError
from widgetd.core.template.builtins.text import fill_format
from widgetd.core.template.serialise import text
from widgetd.core.template.values import (
    ABSENT,
    MAX_INTEGER,
    TemplateList,
    Value,
    is_nothing,
    is_number,
    kind,
    measure,
    require_computable,
    weigh,
    whole,
    with_size,
)

if TYPE_CHECKING:
    from widgetd.core.template.budget import Budget

Binary = Callable[["Budget", Value, Value], Value]


def concat(budget: Budget, *parts: Value) -> str:
    texts = [text(budget, part) for part in parts]
    budget.text(sum(map(len, texts)))
    return "".join(texts)


def add(budget: Budget, left: Value, right: Value) -> Value:
    """Return the sum of numbers, or the concatenation of texts or lists."""
    if is_number(left) and is_number(right):
        return require_computable(require_computable(left) + require_computable(right))
    if isinstance(left, str) or isinstance(right, str):
        parts = [part for part in (left, right) if not is_nothing(part)]
        for part in parts:
            if not isinstance(part, str | int | float):
                raise RenderError(f"cannot add {kind(left)} and {kind(right)}")
        return concat(budget, *parts)
    if is_nothing(left) or is_nothing(right):
        return ABSENT
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        budget.step(len(left) + len(right))
        (heavy, height), (more, tall) = measure(budget, left), measure(budget, right)
        return with_size(budget, TemplateList([*left, *right]), heavy + more, max(height, tall))
    raise RenderError(f"cannot add {kind(left)} and {kind(right)}")


def multiply(budget: Budget, left: Value, right: Value) -> Value:
    if is_number(left) and is_number(right):
        return require_computable(require_computable(left) * require_computable(right))
    if is_nothing(left) or is_nothing(right):
        return ABSENT
    if isinstance(right, str | list) and isinstance(left, int):
        left, right = right, left
    if isinstance(right, int):
        count = max(0, require_computable(right)) * bool(left)  # Python counts what is empty, too
        if isinstance(left, str):
            budget.text(len(left) * count)
            return left * count
        if isinstance(left, list):
            budget.step(len(left) * count)
            heavy, height = measure(budget, left)
            return with_size(budget, TemplateList(left * count), max(1, heavy * count), height)
    raise RenderError(f"cannot multiply {kind(left)} and {kind(right)}")


def power(_budget: Budget, left: Value, right: Value) -> Value:
    if is_nothing(left) or is_nothing(right):
        return ABSENT
    if not (is_number(left) and is_number(right)):
        raise RenderError(f"cannot raise {kind(left)} to the power of {kind(right)}")
    require_computable(left), require_computable(right)
    if isinstance(left, int) and isinstance(right, int) and right > 0:
        if left.bit_length() * right > 2 * MAX_INTEGER.bit_length():
            raise RenderError("a number is too large to compute with")
        return require_computable(left**right)
    return _number(lambda a, b: float(a) ** b, left, right)


def _number(compute: Callable[[Value, Value], Value], left: Value, right: Value) -> Value:
    try:
        result = compute(left, right)
    except ZeroDivisionError:
        raise RenderError("cannot divide by zero") from None
    except OverflowError:
        raise RenderError("a number is too large to compute with") from None
    if isinstance(result, complex):
        raise RenderError("a negative number has no such root")
    return require_computable(result)


def _arithmetic(name: str, compute: Callable[[Value, Value], Value]) -> Binary:
    def apply(_budget: Budget, left: Value, right: Value) -> Value:
        if is_number(left) and is_number(right):
            return _number(compute, require_computable(left), require_computable(right))
        if is_nothing(left) or is_nothing(right):
            return ABSENT
        raise RenderError(f"cannot {name} {kind(left)} and {kind(right)}")

    return apply


_modulo = _arithmetic("take the remainder of", operator.mod)


def remainder(budget: Budget, left: Value, right: Value) -> Value:
    """Return the remainder of a division, or fill the places of a text as `format` does."""
    if isinstance(left, str):
        args = list(right) if isinstance(right, tuple) else [right]
        named = right if isinstance(right, dict) else {}
        return fill_format(budget, left, [] if named else args, named)
    return _modulo(budget, left, right)


def negative(_budget: Budget, value: Value) -> Value:
    if is_nothing(value):
        return ABSENT
    if not is_number(value):
        raise RenderError(f"cannot negate {kind(value)}")
    return -require_computable(value)


def positive(budget: Budget, value: Value) -> Value:
    return value if is_nothing(value) else -negative(budget, value)


def equal(budget: Budget, left: Value, right: Value) -> bool:
    """Return whether two values are equal. Lists and objects are charged for the comparison."""
    if isinstance(left, list | dict | tuple) and isinstance(right, list | dict | tuple):
        if len(left) != len(right):
            return False
        weigh(budget, left, right)
    elif isinstance(left, str) and isinstance(right, str):
        budget.scan(min(len(left), len(right)))
    return bool(left == right)


def _ordering(compare: Callable[[Value, Value], bool]) -> Binary:
    def apply(budget: Budget, left: Value, right: Value) -> bool:
        if is_number(left) and is_number(right):
            return compare(left, right)
        if is_nothing(left) or is_nothing(right):
            return False
        if isinstance(left, list | tuple) and isinstance(right, list | tuple):
            weigh(budget, left, right)
        elif isinstance(left, str) and isinstance(right, str):
            budget.scan(min(len(left), len(right)))
        try:
            return compare(left, right)
        except TypeError:
            raise RenderError(f"cannot order {kind(left)} and {kind(right)}") from None

    return apply


def contains(budget: Budget, left: Value, right: Value) -> bool:
    if is_nothing(right):
        return False
    if isinstance(right, str):
        if is_nothing(left):
            return False
        if not isinstance(left, str):
            raise RenderError(f"cannot look for {kind(left)} in a text")
        budget.search(len(right), len(left))
        return left in right
    if isinstance(right, dict):
        if isinstance(left, str):
            budget.scan(len(left))
        return isinstance(left, str | int | float | None) and left in right
    if not isinstance(right, list | tuple):
        raise RenderError(f"cannot look into {kind(right)}")
    weigh(budget, left, right)
    return left in right


BINARY: Final[Mapping[str, Binary]] = MappingProxyType(
    {
        "+": add,
        "-": _arithmetic("subtract", operator.sub),
        "*": multiply,
        "/": _arithmetic("divide", operator.truediv),
        "//": _arithmetic("divide", operator.floordiv),
        "%": remainder,
        "**": power,
    }
)

COMPARISONS: Final[Mapping[str, Binary]] = MappingProxyType(
    {
        "eq": equal,
        "ne": lambda budget, left, right: not equal(budget, left, right),
        "lt": _ordering(operator.lt),
        "lteq": _ordering(operator.le),
        "gt": _ordering(operator.gt),
        "gteq": _ordering(operator.ge),
        "in": contains,
        "notin": lambda budget, left, right: not contains(budget, left, right),
    }
)


MAX_PRECISION: Final = 30


def absolute(_budget: Budget, value: Value) -> Value:
    if is_nothing(value):
        return ABSENT
    if not is_number(value):
        raise RenderError(f"{kind(value)} has no absolute value")
    return abs(require_computable(value))


def round_number(
    _budget: Budget, value: Value, precision: Value = 0, method: Value = "common"
) -> Value:
    """Round a number to `precision` digits: up, down, or to the nearest."""
    if is_nothing(value):
        return ABSENT
    if not is_number(value):
        raise RenderError(f"cannot round {kind(value)}")
    digits = whole(precision, "precision")
    if abs(digits) > MAX_PRECISION:
        raise RenderError(f"cannot round to more than {MAX_PRECISION} digits")
    if method not in {"common", "ceil", "floor"}:
        raise RenderError("a rounding method is 'common', 'ceil' or 'floor'")
    return do_round(require_computable(value), digits, method)


def integer(_budget: Budget, value: Value, default: Value = 0, base: Value = 10) -> Value:
    """Return a whole number, or `default` if the value cannot be read as one."""
    try:
        if isinstance(value, str):
            return int(require_computable(_read(value, whole(base, "base"))))
        return int(require_computable(value))
    except (TypeError, ValueError):
        return default


def _read(value: str, base: int) -> Value:
    try:
        return int(value, base)
    except ValueError:  # a float, or more digits than Python reads
        number = float(value)
    if value.strip().lstrip("+-")[:1].isalpha():
        raise ValueError(value)  # float also reads "inf" and "nan"
    return int(require_computable(number))


def floating(_budget: Budget, value: Value, default: Value = 0.0) -> Value:
    try:
        return require_computable(float(value))
    except (TypeError, ValueError, OverflowError):
        return default


def filesizeformat(budget: Budget, value: Value, binary: Value = False) -> str:
    """Format a number of bytes for people: 13 kB, 4.1 MB."""
    if is_nothing(value):
        return ""
    size = text(budget, value) if isinstance(value, str) else float(value)
    return do_filesizeformat(size, bool(binary))
