"""Values as text: as Python prints them, as JSON, and inside a JSON string."""

from __future__ import annotations

import json
import math
from decimal import ROUND_HALF_UP, Context, Decimal
from json.encoder import encode_basestring
from math import isfinite
from typing import TYPE_CHECKING

import orjson

from widgetd.base.text_search import compile_pattern
from widgetd.core.template.budget import RenderError
from widgetd.core.template.dialect.commas import is_json
from widgetd.core.template.values import ABSENT, RuntimeObject, Value, kind, measure, weight

if TYPE_CHECKING:
    from collections.abc import Iterable

    from widgetd.core.template.budget import Budget

# Beyond this a float no longer holds every integer, and its digits would be invented.
MAX_EXACT = 2**53

# Python refuses to print more than 4,300 digits, and takes quadratic time up to there.
MAX_BITS = 4096

# A valid escape, or a character forbidden in JSON's strings.
_UNESCAPED = compile_pattern(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|["\\\x00-\x1f]')

# An absent value in a list shows as less than it weighs.
_SLACK = 64

quote = encode_basestring
"""A text as a JSON string, with its quotes."""


def text(budget: Budget, value: Value) -> str:
    if type(value) is str:
        return value
    if value is ABSENT:
        return ""
    if type(value) is float:
        return number(value)
    if type(value) is int:
        return integer(value)
    if isinstance(value, RuntimeObject):
        raise RenderError(f"cannot show {kind(value)} as text")
    if isinstance(value, list | dict | tuple):
        _afford(budget, value)
        parts: list[str] = []
        _show(budget, value, parts)
        return "".join(parts)
    return str(value)


def javascript_text(budget: Budget, value: Value) -> str:
    """Return `String(value)` of JavaScript, but empty for absent."""
    if type(value) is str:
        return value
    if value is ABSENT:
        return ""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return javascript_number(value)
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list | tuple):
        _afford(budget, value)
        parts: list[str] = []
        for item in value:
            budget.step()
            parts.append("" if item is None else javascript_text(budget, item))
            budget.text(len(parts[-1]) + 1)
        return ",".join(parts)
    return text(budget, value)


def javascript_number(value: float) -> str:
    """Return a float as JavaScript prints it: `3`, `0.1`, `1e-7`, `1e+21`, `NaN`.

    Source: ECMA-262, Number::toString.
    """
    if not math.isfinite(value):
        return "NaN" if value != value else f"{'-' * (value < 0)}Infinity"  # noqa: PLR0124 - NaN
    if value.is_integer() and abs(value) < MAX_EXACT:
        return str(int(value))
    if _MIN_PLAIN <= abs(value) < _MAX_PLAIN:
        return f"{Decimal(repr(value)):f}"
    digits, _, exponent = repr(value).partition("e")
    return f"{digits}e{int(exponent):+d}"


def to_fixed(budget: Budget, value: float, digits: int) -> str:
    """Return a number with `digits` decimals, as JavaScript's `toFixed` does."""
    if not abs(value) < _MAX_PLAIN:
        return javascript_number(value)
    budget.text(digits)
    exact = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _EXACT)
    return f"{exact:f}"


# 21 digits before the point and 100 behind it.
_EXACT = Context(prec=128)

_MIN_PLAIN, _MAX_PLAIN = 1e-6, 1e21
"""Between these a number is printed without an exponent."""


def _afford(budget: Budget, value: Value) -> None:
    heavy = weight(budget, value)
    budget.scan(heavy)
    if heavy > budget.chars + _SLACK:
        raise budget.out_of_text()


def integer(value: int) -> str:
    if value.bit_length() > MAX_BITS:
        raise RenderError("a number is too large to show")
    return str(value)


def number(value: float) -> str:
    if value.is_integer() and abs(value) < MAX_EXACT:
        return str(int(value))
    return str(value)


def _show(budget: Budget, value: Value, parts: list[str]) -> None:
    budget.step()
    if isinstance(value, dict | list):
        _show_all(budget, value, parts, "{}" if isinstance(value, dict) else "[]")
    elif isinstance(value, tuple):
        _show_all(budget, value, parts, "()")
        if len(value) == 1:
            parts[-1] = ",)"
    else:
        string = repr(value) if isinstance(value, str) else text(budget, value)
        budget.text(len(string) + len(", "))
        parts.append(string)


def _show_all(budget: Budget, value: Value, parts: list[str], brackets: str) -> None:
    start, end = brackets[0], brackets[1]
    budget.text(2)
    between = start
    for item in value:
        parts.append(between)
        _show(budget, item, parts)
        if isinstance(value, dict):
            parts.append(": ")
            _show(budget, value[item], parts)
        between = ", "
    parts += (end,) if value else (start, end)


def tojson(budget: Budget, value: Value) -> str:
    """Return `value` as JSON without spaces. The caller charges for the text.

    An argument is a tree and costs its printed length. A value of the template may hold a list
    a million times, so it is charged before it is printed.
    """
    kind_of = type(value)
    if kind_of is str:
        return quote(value)
    if value is None or value is ABSENT:
        return "null"
    if kind_of is bool:
        return "true" if value else "false"
    if kind_of is int:
        return integer(value)
    if kind_of is float:
        return number(value) if isfinite(value) else "null"
    if kind_of is not list and kind_of is not dict:
        _afford(budget, value)
    try:
        return orjson.dumps(value, _stand_in).decode()
    except TypeError:  # a number beyond 64 bits, a number as key, a nest beyond orjson's
        return "".join(_slowly(budget, value, indent=None))


def _slowly(budget: Budget, value: Value, *, indent: int | str | None) -> Iterable[str]:
    """Yield the JSON of `value` in parts, by the encoder of the standard library."""
    heavy, height = measure(budget, value) if isinstance(value, list | dict | tuple) else (0, 0)
    budget.step(heavy // 8)
    budget.scan(heavy * height)
    if indent is not None:
        budget.text(max(1, height) * (max(0, indent) if isinstance(indent, int) else len(indent)))
    separators = (",", ":") if indent is None else None
    encoder = json.JSONEncoder(
        ensure_ascii=False, default=_stand_in, separators=separators, indent=indent
    )
    try:
        yield from encoder.iterencode(value)
    except (TypeError, ValueError) as error:
        raise RenderError("this value cannot be shown as JSON") from error


def _stand_in(value: Value) -> list[Value] | None:
    if isinstance(value, tuple):
        return list(value)
    if value is not ABSENT:
        raise TypeError(kind(value))
    return None


def to_indented_json(budget: Budget, value: Value, indent: int | str) -> str:
    _afford(budget, value)
    parts = []
    for part in _slowly(budget, value, indent=indent):
        budget.text(len(part))
        parts.append(part)
    return "".join(parts)


def inside(budget: Budget, value: Value) -> str:
    """Return `value` as running text, escaped for the inside of a JSON string."""
    return quote(text(budget, value))[1:-1]


def json_inside(budget: Budget, value: Value) -> str:
    return quote(value if isinstance(value, str) else tojson(budget, value))[1:-1]


def complete_escapes(budget: Budget, value: Value) -> str:
    """Return a running text with some of JSON's escapes, and add the others."""
    string = text(budget, value)
    budget.text(len(string))
    return _UNESCAPED.sub(lambda m: m[0] if len(m[0]) > 1 else quote(m[0])[1:-1], string)


def bare(budget: Budget, value: Value) -> str:
    """Return `value` where JSON needs a value: as it is if it is JSON, else as JSON."""
    if isinstance(value, str) and is_json(value):
        return value
    return tojson(budget, value)


def plain(budget: Budget, value: Value) -> Value:
    string = tojson(budget, value)
    budget.text(len(string))
    return value if type(value) is str else json.loads(string)
