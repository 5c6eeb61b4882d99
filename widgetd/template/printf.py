"""Fill a printf-style text: `"%s of %d"|format(a, b)`, or `"%s of %d" % (a, b)`.

Python's own `%` would pad to any width before anyone can count it, so each
conversion is read here, its width bounded, and only then handed to Python.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from widgetd.template.budget import Failure
from widgetd.template.numbers import checked, is_number
from widgetd.template.text import text
from widgetd.template.values import Value, kind

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

MAX_WIDTH: Final = 100

_CONVERSION: Final = re.compile(
    r"%(?:\((?P<key>[^)]{0,64})\))?(?P<flags>[-+ 0#]*+)(?P<width>\d*+)(?:\.(?P<precision>\d++))?"
    r"(?P<kind>[a-zA-Z%*])"
)


def formatted(budget: Budget, template: str, args: list[Value], named: dict[str, Value]) -> str:
    """`template` with its conversions filled from `args` in turn, or by key from `named`."""
    budget.scan(8 * len(template))
    parts: list[str] = []
    end, pending = 0, iter(args)
    for match in _CONVERSION.finditer(template):
        parts += template[end : match.start()], _filled(budget, match, pending, named)
        budget.text(len(parts[-2]) + len(parts[-1]) + 1)
        end = match.end()
    budget.text(len(template) - end)
    if next(pending, _filled) is not _filled:
        raise Failure("a format has more values than places")
    return "".join([*parts, template[end:]])


def _filled(
    budget: Budget, match: re.Match[str], pending: Iterator[Value], named: dict[str, Value]
) -> str:
    conversion = match["kind"]
    if conversion == "%":
        return "%"
    budget.step()
    value = (
        named.get(match["key"], _MISSING) if match["key"] is not None else next(pending, _MISSING)
    )
    if value is _MISSING:
        raise Failure("a format has more places than values")
    return _converted(budget, match, conversion, value)


def _converted(budget: Budget, match: re.Match[str], conversion: str, value: Value) -> str:
    if conversion not in "srdiufFeEgGxXoc":
        raise Failure(f"a format cannot hold '%{conversion}'")
    if max(_size(match["width"]), _size(match["precision"])) > MAX_WIDTH:
        raise Failure(f"a format cannot be wider than {MAX_WIDTH}")
    if conversion in "sr":
        value = text(budget, value)
    elif conversion == "c":
        if not _is_character(value):
            raise Failure("a format writes one character, or the number of one, at '%c'")
    elif not is_number(checked(value)):
        raise Failure(f"a format cannot write {kind(value)} as a number")
    elif conversion in "xXo" and not isinstance(value, int):
        raise Failure(f"a format writes only whole numbers at '%{conversion}'")
    precision = f".{match['precision']}" if match["precision"] is not None else ""
    return f"%{match['flags']}{match['width']}{precision}{conversion}" % (value,)


def _is_character(value: Value) -> bool:
    if isinstance(value, str):
        return len(value) == 1
    return isinstance(value, int) and 0 <= value <= sys.maxunicode


def _size(digits: str | None) -> int:
    return min(int(digits[:9]), 10**9) if digits else 0


_MISSING: Final = object()
