"""What filters do to numbers, within bounds; of null and absent they make absent.

Where a number is all that Jinja's own filter is given, that does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jinja2.filters import do_filesizeformat, do_round

from widgetd.template.budget import Failure
from widgetd.template.serialise import text
from widgetd.template.values import ABSENT, Value, checked, is_nothing, is_number, kind, whole

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

MAX_PRECISION: Final = 30


def absolute(_budget: Budget, value: Value) -> Value:
    """The number without its sign."""
    if is_nothing(value):
        return ABSENT
    if not is_number(value):
        raise Failure(f"{kind(value)} has no absolute value")
    return abs(checked(value))


def rounded(_budget: Budget, value: Value, precision: Value = 0, method: Value = "common") -> Value:
    """The number with `precision` digits after the point; up, down, or to the nearer one."""
    if is_nothing(value):
        return ABSENT
    if not is_number(value):
        raise Failure(f"cannot round {kind(value)}")
    digits = whole(precision, "precision")
    if abs(digits) > MAX_PRECISION:
        raise Failure(f"cannot round to more than {MAX_PRECISION} digits")
    if method not in {"common", "ceil", "floor"}:
        raise Failure("a rounding method is 'common', 'ceil' or 'floor'")
    return do_round(checked(value), digits, method)


def integer(_budget: Budget, value: Value, default: Value = 0, base: Value = 10) -> Value:
    """A whole number, or `default` where the value reads as none."""
    try:
        if isinstance(value, str):
            return int(checked(_read(value, whole(base, "base"))))
        return int(checked(value))
    except (TypeError, ValueError):
        return default


def _read(value: str, base: int) -> Value:
    try:
        return int(value, base)
    except ValueError:  # a float, or more digits than Python reads
        number = float(value)
    if value.strip().lstrip("+-")[:1].isalpha():
        raise ValueError(value)  # float also reads "inf" and "nan"
    return int(checked(number))


def floating(_budget: Budget, value: Value, default: Value = 0.0) -> Value:
    """A number with a fraction, or `default` where the value reads as none."""
    try:
        return checked(float(value))
    except (TypeError, ValueError, OverflowError):
        return default


def filesizeformat(budget: Budget, value: Value, binary: Value = False) -> str:
    """A number of bytes as people say it: 13 kB, 4.1 MB."""
    if is_nothing(value):
        return ""
    size = text(budget, value) if isinstance(value, str) else float(value)
    return do_filesizeformat(size, bool(binary))
