"""Strict JSON: bytes of a file in, an object out, or a fault that says where.

Stricter than any one parser: a key that stands twice, a number no double can
hold and half a surrogate pair would each be read differently by two readers of
the same file. What is wrong is only looked for once something is.

Source: RFC 8259; RFC 7493 (I-JSON), section 2, whose rules these are.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import orjson

from widgetd.errors import Finding, WidgetError
from widgetd.limits import Limits
from widgetd.schema.json_location import Place, excerpt, line_and_column, places
from widgetd.schema.json_values import kind

_EXPORT = "export the widget from ChatKit Studio again"

_PROBLEMS = (
    ("Expecting property name", "a key in double quotes is missing", "write it"),
    ("Expecting ',' delimiter", "a comma or a closing bracket is missing", "write it"),
    ("Expecting ':' delimiter", "a colon is missing after the key", "write it"),
    ("Expecting value", "a value is missing", "write one"),
    ("Extra data", "more text follows the end of the JSON", "remove it"),
    ("Unterminated string", "a string has no end", "close it with a double quote"),
    (
        "Invalid control character",
        "a line break or tab stands inside a string",
        "close the string before it, or write \\n or \\t",
    ),
    ("Invalid \\", "a backslash does not escape anything", "write it twice"),
)
"""How Python's parser begins what it says; what is said instead, and advised."""

_ESCAPE = re.compile(
    r"\\u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?P<half>d[89a-f][0-9a-f]{2}))|\\.",
    re.IGNORECASE,
)
"""One escape, both halves of a pair together, so that no backslash is looked at twice."""

_TRAILING = re.compile(r",\s*[}\]]")


def parse(content: bytes, limits: Limits) -> dict[str, Any]:
    """The object that a file holds.

    Raises:
        WidgetError: Too large (W1002), no UTF-8 or no such number (W1104), no JSON (W1101), nested
            too deeply (W1103), a key twice (W1102), or no object (W1106).
    """
    if len(content) > limits.file_bytes:
        problem = f"it is longer than {limits.file_bytes:,} bytes"
        raise _fault("W1002", problem, "leave out what the widget does not need")
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        value = orjson.loads(content)
        if _depth(value, limits.json_depth) > limits.json_depth:
            _explain(decode(content), limits)
        _UNIQUE.decode(content.decode())
    except (orjson.JSONDecodeError, _TwiceError):
        _explain(decode(content), limits)
    if not isinstance(value, dict):
        raise _fault("W1106", f"the file holds {kind(value)}, not an object", _EXPORT)
    return value


def decode(content: bytes) -> str:
    """The text of a file, without its byte order mark.

    Raises:
        WidgetError: It is not UTF-8 (W1104).
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        problem = f"the byte 0x{content[error.start]:02x} is not UTF-8"
        raise _fault("W1104", problem, "save the file as UTF-8", before, len(before)) from None


def syntax_fault(code: str, text: str, error: json.JSONDecodeError) -> WidgetError:
    """What Python's parser stumbled over in `text`, in our words, with where and an excerpt."""
    offset = error.pos
    if not text.strip():
        return _fault(code, "there is no JSON, only space", "write an object")
    comma = _trailing_comma(text, offset)
    if comma is not None:
        offset = comma
        problem, advice = "a comma stands before a closing bracket", "remove it"
    elif not text[offset:].strip():
        return _fault(code, "the text ends before its JSON does", "complete it", text, offset)
    else:
        problem, advice = next(
            (row[1:] for row in _PROBLEMS if error.msg.startswith(row[0])),
            ("this is not JSON", "write what JSON allows"),
        )
    return _fault(code, f"{problem} at '{excerpt(text, offset)}'", advice, text, offset)


def _trailing_comma(text: str, offset: int) -> int | None:
    """Where the comma is that the parser stumbled over; Python 3.13 stops at it, others behind."""
    start = len(text[: offset + 1].rstrip("}] \t\r\n")) - 1
    return start if start >= 0 and _TRAILING.match(text, start) else None


class _TwiceError(Exception):
    """Some object has a key twice; which one is told by `_explain`."""


def _unique(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise _TwiceError


_UNIQUE = json.JSONDecoder(object_pairs_hook=_unique)
"""The one parser at hand that shows every key it reads; orjson keeps the last of two in silence."""


def _depth(value: object, enough: int) -> int:
    """How many objects and arrays `value` nests; counted no further than past `enough`."""
    depth = 0
    level = [value] if isinstance(value, (dict, list)) else []
    while level and depth <= enough:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
    return depth


_CONTAINERS = frozenset({dict, list})


def _explain(text: str, limits: Limits) -> NoReturn:
    """Raise the fault of a text that is known to have one."""
    try:
        json.loads(text, parse_int=float)  # as int, Python reads no more than 4,300 digits
    except json.JSONDecodeError as error:
        _explain_depth(text[: error.pos], limits)
        raise syntax_fault("W1101", text, error) from None
    except RecursionError:
        pass  # the first of the places that are too deep is found below
    _explain_places(text, limits)
    _explain_surrogate(text)
    raise _fault("W1101", "the file is not JSON", _EXPORT)


def _explain_depth(text: str, limits: Limits) -> None:
    for place in places(text):
        _demand_shallow(place, text, limits)


def _demand_shallow(place: Place, text: str, limits: Limits) -> None:
    if place.depth >= limits.json_depth and place.lexeme in "{[":
        problem = f"the JSON nests more than {limits.json_depth} levels deep here"
        raise _fault("W1103", problem, "flatten it", text, place.offset)


def _explain_places(text: str, limits: Limits) -> None:
    numbers = _DOUBTFUL.search(text) is not None
    for place in places(text):
        _demand_shallow(place, text, limits)
        if place.earlier is not None:
            line, column = line_and_column(text, place.earlier)
            problem = f"the key already stands at line {line}, column {column}"
            twice = _fault("W1102", problem, "keep one of the two", text, place.key_offset)
            raise twice.within(place.pointer)
        if numbers and _is_no_double(place.lexeme):
            problem = f"{place.lexeme[:40]} is not a number in JSON"
            advice = "write one that a double can hold, or null"
            raise _fault("W1104", problem, advice, text, place.offset)


_DOUBTFUL = re.compile(r"NaN|Infinity|\d[eE]|\d{300}")
"""What a text has in it wherever some number may be one that no double can hold."""


def _is_no_double(lexeme: str) -> bool:
    if lexeme in {"NaN", "Infinity", "-Infinity"}:
        return True
    return lexeme.lstrip("-")[:1].isdigit() and abs(float(lexeme)) == float("inf")


def _explain_surrogate(text: str) -> None:
    for match in _ESCAPE.finditer(text):
        if match.group("half"):
            problem = f"{match.group()} is half a character"
            raise _fault("W1104", problem, "write both of its halves, or none", text, match.start())


def _fault(
    code: str, problem: str, advice: str, text: str = "", offset: int | None = None
) -> WidgetError:
    line, column = (None, None) if offset is None else line_and_column(text, offset)
    return WidgetError(Finding(code=code, problem=problem, advice=advice, line=line, column=column))
