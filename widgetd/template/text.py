"""Turn values into text: as Python prints them, as JSON, and as the inside of a JSON string."""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

import orjson

from widgetd.template.budget import Failure
from widgetd.template.dialect import is_json
from widgetd.template.values import (
    ABSENT,
    Routine,
    Value,
    kind,
    weigh,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from widgetd.template.budget import Budget

# Beyond this a float no longer holds every integer, and its digits would be invented.
MAX_EXACT = 2**53

# Python refuses to print more than 4,300 digits, and takes quadratic time up to there.
MAX_BITS = 4096

# A valid escape, or a character that JSON's strings must not hold as it is.
_UNESCAPED = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|["\\\x00-\x1f]')

quote = encode_basestring
"""A text as a JSON string, with its quotes."""


def text(budget: Budget, value: Value) -> str:
    """`value` as it reads in running text; what is long pays for itself."""
    if type(value) is str:
        return value
    if value is ABSENT:
        return ""
    if type(value) is float:
        return number(value)
    if type(value) is int:
        return integer(value)
    if isinstance(value, Routine):
        raise Failure(f"cannot show {kind(value)} as text")
    if isinstance(value, list | dict | tuple):
        weigh(budget, value)
        return _shown(budget, value)
    return str(value)


def integer(value: int) -> str:
    """The digits of an integer, unless it has so many that printing them would take long."""
    if value.bit_length() > MAX_BITS:
        raise Failure("a number is too large to show")
    return str(value)


def number(value: float) -> str:
    """A float as JavaScript would print it: without a fraction where it has none."""
    if value.is_integer() and abs(value) < MAX_EXACT:
        return str(int(value))
    return str(value)


def _shown(budget: Budget, value: Value) -> str:
    if isinstance(value, dict):
        shown = (f"{_shown(budget, k)}: {_shown(budget, v)}" for k, v in value.items())
        return _joined(budget, "{", shown, "}")
    if isinstance(value, tuple):
        end = ",)" if len(value) == 1 else ")"
        return _joined(budget, "(", (_shown(budget, item) for item in value), end)
    if isinstance(value, list):
        return _joined(budget, "[", (_shown(budget, item) for item in value), "]")
    return repr(text(budget, value)) if isinstance(value, str) else text(budget, value)


def _joined(budget: Budget, start: str, parts: Iterable[str], end: str) -> str:
    joined = f"{start}{', '.join(parts)}{end}"
    budget.text(len(joined))
    return joined


def tojson(budget: Budget, value: Value) -> str:
    """`value` as JSON, without spaces; the caller pays for the text.

    An argument is a tree and costs what it prints; what the template made may
    hold one list a million times, so it is weighed before it is printed.
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
        return number(value)
    if kind_of is not list and kind_of is not dict:
        weigh(budget, value)
    return _dumped(value)


def _dumped(value: Value) -> str:
    try:
        return orjson.dumps(value, _stand_in).decode()
    except TypeError:  # a number beyond 64 bits, a key that is a number, a nest beyond orjson's
        return "".join(_slowly(value, indent=None))


def _slowly(value: Value, *, indent: int | str | None) -> Iterable[str]:
    separators = (",", ":") if indent is None else None
    encoder = json.JSONEncoder(
        ensure_ascii=False, default=_stand_in, separators=separators, indent=indent
    )
    try:
        yield from encoder.iterencode(value)
    except (TypeError, ValueError) as error:
        raise Failure("this value cannot be shown as JSON") from error


def _stand_in(value: Value) -> None:
    if value is not ABSENT:
        raise TypeError(kind(value))


def indented(budget: Budget, value: Value, indent: int | str) -> str:
    """`value` as JSON over many lines, paid for line by line."""
    if isinstance(indent, int):
        budget.text(indent)
    weigh(budget, value)
    parts = []
    for part in _slowly(value, indent=indent):
        budget.text(len(part))
        parts.append(part)
    return "".join(parts)


def inside(budget: Budget, value: Value) -> str:
    """`value` as running text, escaped for the inside of a JSON string."""
    return quote(text(budget, value))[1:-1]


def json_inside(budget: Budget, value: Value) -> str:
    """`value` as JSON, for the inside of a JSON string: a text loses its own quotes."""
    if isinstance(value, str):
        return quote(value)[1:-1]
    return quote(tojson(budget, value))[1:-1]


def half_escaped(budget: Budget, value: Value) -> str:
    """`value` as running text that already has some of JSON's escapes, given the others."""
    shown = text(budget, value)
    budget.text(len(shown))
    return _UNESCAPED.sub(_escape, shown)


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    return found if len(found) > 1 else quote(found)[1:-1]


def bare(budget: Budget, value: Value) -> str:
    """`value` where JSON wants one: as it prints if that is JSON, else as JSON."""
    if isinstance(value, str) and is_json(value):
        return value
    return tojson(budget, value)


def plain(budget: Budget, value: Value) -> Value:
    """`value` as JSON's own kinds of value, for use outside the template."""
    shown = tojson(budget, value)
    budget.text(len(shown))
    return json.loads(shown)
