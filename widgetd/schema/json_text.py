"""Strict JSON: bytes of a file in, an object out, or a fault that says where.

Stricter than any one parser: a key that stands twice, a number no double can
hold and half a surrogate pair would each be read differently by two readers of
the same file. What is wrong is only looked for once something is, and then in lexemes, not
values, so that it is found in any text whose brackets and strings are those of JSON.

Source: RFC 8259 (JSON); RFC 7493 (I-JSON), section 2, whose rules these are; RFC 6901 (JSON
pointers).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import orjson

from widgetd.errors import Finding, WidgetError
from widgetd.limits import Limits
from widgetd.schema.json_values import kind, pointer, too_deep
from widgetd.text_search import compile_pattern

_LEXEME = compile_pattern(r'(?s)"(?:[^"\\]|\\.)*+(?:"|\Z)|[{}\[\],:]|[^\s{}\[\],:"]+')

_EXPORT = "export the widget from ChatKit Studio again"

FROM_JSX = "save it alone as '….widget.jsx', or paste it into ChatKit Studio and export that"

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

_ESCAPE = compile_pattern(
    r"(?i)\\u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?P<half>d[89a-f][0-9a-f]{2}))|\\.",
)
"""One escape, both halves of a pair together, so that no backslash is looked at twice."""

_JSX = compile_pattern(r"\A\s*(?:<[A-Z]|(?:import|export|const|function)\s)")

_MANY_DIGITS = compile_pattern(rb"[0-9]{19}")
"""An integer of more than 64 bits has as many; orjson makes a float of it, in silence."""

_THREE_DIGITS = compile_pattern(rb"[0-9]{3}")
"""Of nineteen digits, every sixth; so a sixth of a text tells most often that it has none."""

_PLAIN_DEPTH = 100
"""Levels that every parser goes down; the SDK's of the legacy era goes 200."""

_TRAILING = compile_pattern(r",\s*[}\]]")


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
        if too_deep(value, limits.json_depth):
            _explain(decode(content), limits)
        _EXACT.decode(content.decode())
    except (orjson.JSONDecodeError, _TwiceError):
        _explain(decode(content), limits)
    if not isinstance(value, dict):
        raise _fault("W1106", f"the file holds {kind(value)}, not an object", _EXPORT)
    return value


class NotJsonError(ValueError):
    """What was sent is no JSON, or says one thing twice."""


def parse_sent(content: bytes | str) -> Any:
    """What somebody sent as JSON: every number as it was written, and no key twice.

    Integers beyond 64 bits, NaN and half characters come through, for whoever knows their place in
    the arguments to refuse them; orjson would round the first, in silence.

    Raises:
        NotJsonError: It is no JSON, is not UTF-8, nests too deeply, or has a key that stands twice.
    """
    try:
        return _EXACT.decode(content if isinstance(content, str) else content.decode())
    except _TwiceError:
        twice = key_twice(content if isinstance(content, str) else content.decode())
        raise NotJsonError(f"the key {twice} stands twice") from None
    except RecursionError:
        raise NotJsonError("it nests too deeply") from None
    except ValueError as error:  # in syntax, in UTF-8, or in the number of an integer's digits
        raise NotJsonError(str(error)) from None


def parse_plain(content: bytes) -> Any:
    """The value of JSON that every reader reads alike; quick, and no judge of the rest.

    Raises:
        NotJsonError: It is no JSON, or readers may differ: an integer may be too large, a key may
            stand twice, it may nest deeper than some of them go. What is refused may be good.
    """
    if _THREE_DIGITS.search(content[::6]) is not None and _MANY_DIGITS.search(content) is not None:
        raise NotJsonError("a number has many digits")
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise NotJsonError(str(error)) from None
    if content.count(b"[") + content.count(b"{") > _PLAIN_DEPTH and too_deep(value, _PLAIN_DEPTH):
        raise NotJsonError("it nests deeply")
    # Of a key that stands twice orjson keeps the last, so that a colon is missing when the value is
    # written again; elsewhere colons stand in texts, which are written as they were read.
    colons = content.count(b":")
    if b"\\u" in content:
        colons += content.lower().count(b"\\u003a")
    if colons != orjson.dumps(value).count(b":"):
        raise NotJsonError("a key may stand twice")
    return value


def key_twice(text: str) -> str | None:
    """The JSON pointer of a key that stands twice; None where `text` has none, or is no JSON."""
    try:
        _EXACT.decode(text)
    except _TwiceError:
        return next(place.pointer for place in places(text) if place.earlier is not None)
    except (ValueError, RecursionError):
        pass
    return None


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
    if is_jsx(text):
        return _fault(code, "this is JSX, and not JSON", FROM_JSX, text, offset)
    # Python 3.13 stops at a comma before a bracket, others behind it.
    comma = len(text[: offset + 1].rstrip("}] \t\r\n")) - 1
    if comma >= 0 and _TRAILING.match(text, comma):
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


def is_jsx(text: str) -> bool:
    """Whether `text` begins as the source of a component does, from which Studio makes a widget."""
    return _JSX.match(text) is not None


class _TwiceError(Exception):
    """Some object has a key twice; which one is told by `_explain`."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _TwiceError
    return value


_EXACT = json.JSONDecoder(object_pairs_hook=_once)
"""The one parser at hand that shows every key it reads; orjson keeps the last of two in silence."""


def _explain(text: str, limits: Limits) -> NoReturn:
    """Raise the fault of a text that is known to have one."""
    syntax: json.JSONDecodeError | None = None
    try:
        json.loads(text, parse_int=float)  # as int, Python reads no more than 4,300 digits
    except json.JSONDecodeError as error:
        syntax = error
    except RecursionError:
        pass  # the first of the places that are too deep is found below
    for place in places(text if syntax is None else text[: syntax.pos]):
        if place.depth >= limits.json_depth and place.lexeme in "{[":
            problem = f"the JSON nests more than {limits.json_depth} levels deep here"
            raise _fault("W1103", problem, "flatten it", text, place.offset)
        if syntax is None:
            _refuse(place, text)
    if syntax is not None:
        raise syntax_fault("W1101", text, syntax)
    for match in _ESCAPE.finditer(text):
        if match.group("half"):
            problem = f"{match.group()} is half a character"
            raise _fault("W1104", problem, "write both of its halves, or none", text, match.start())
    raise _fault("W1101", "the file is not JSON", _EXPORT)


def _refuse(place: Place, text: str) -> None:
    """Refuse a key that stood before, and a number that no double can hold."""
    if place.earlier is not None:
        line, column = line_and_column(text, place.earlier)
        problem = f"the key already stands at line {line}, column {column}"
        twice = _fault("W1102", problem, "keep one of the two", text, place.key_offset)
        raise twice.within(place.pointer)
    number = place.lexeme
    named = number in {"NaN", "Infinity", "-Infinity"}
    if named or (number.lstrip("-")[:1].isdigit() and abs(float(number)) == float("inf")):
        problem = f"{number[:40]} is not a number in JSON"
        raise _fault(
            "W1104", problem, "write one that a double can hold, or null", text, place.offset
        )


def _fault(
    code: str, problem: str, advice: str, text: str = "", offset: int | None = None
) -> WidgetError:
    line, column = (None, None) if offset is None else line_and_column(text, offset)
    return WidgetError(Finding(code=code, problem=problem, advice=advice, line=line, column=column))


class Place(NamedTuple):
    """One value in the text; a tuple, for a text of the largest size has 130,000 of them.

    Attributes:
        around: The pointer of the object or array that it stands in.
        part: Its key or index there; None for the outermost value.
        offset: Where the value begins, in characters from 0.
        key_offset: Where its key begins; where it has none, as `offset`.
        lexeme: The value's text; for an object or array its opening bracket.
        depth: How many objects and arrays it stands in.
        earlier: Where the same key of the same object began before; None if it did not.
    """

    around: str
    part: str | int | None
    offset: int
    key_offset: int
    lexeme: str
    depth: int
    earlier: int | None

    @property
    def pointer(self) -> str:
        """The value's JSON pointer."""
        if isinstance(self.part, str):
            return self.around + pointer(self.part)
        return self.around if self.part is None else f"{self.around}/{self.part}"


@dataclass(slots=True)
class _Frame:
    pointer: str
    is_list: bool
    part: str = ""
    key_offset: int | None = None
    index: int = 0
    earlier: int | None = None
    keys: dict[str, int] = field(default_factory=dict)


def places(text: str) -> Iterator[Place]:
    """Every value in `text`, outer before inner, in the order they are written."""
    frames: list[_Frame] = []
    wants_key = False
    for match in _LEXEME.finditer(text):
        lexeme, offset = match.group(), match.start()
        frame = frames[-1] if frames else None
        if lexeme == ",":
            if frame is not None:
                frame.index += 1
                frame.key_offset = frame.earlier = None
                wants_key = not frame.is_list
        elif lexeme in "}]":
            del frames[-1:]
        elif wants_key and frame is not None and lexeme[0] == '"':
            frame.part, frame.key_offset = lexeme[1:-1], offset
            if "\\" in lexeme:
                with suppress(orjson.JSONDecodeError):
                    frame.part = orjson.loads(lexeme)
            frame.earlier = frame.keys.get(frame.part)
            frame.keys.setdefault(frame.part, offset)
            wants_key = False
        elif lexeme != ":":
            if frame is None:
                place = Place("", None, offset, offset, lexeme, 0, None)
            else:
                part = frame.index if frame.is_list else frame.part
                at = offset if frame.key_offset is None else frame.key_offset
                place = Place(frame.pointer, part, offset, at, lexeme, len(frames), frame.earlier)
            if lexeme in "{[":
                frames.append(_Frame(place.pointer, lexeme == "["))
                wants_key = lexeme == "{"
            yield place


def key_offsets(text: str) -> dict[str, int]:
    """Where each value's key, or each list element, begins, by the value's JSON pointer.

    Of a key that stands twice it is the last, as it is for every reader that lets it pass.
    """
    return {place.pointer: place.key_offset for place in places(text)}


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """The line and column, from 1, of the character at `offset`."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def excerpt(text: str, offset: int) -> str:
    """The text around `offset`, on one line, with the place marked: `"a": 1 ▸"b": 2`."""
    before, after = text[max(0, offset - 20) : offset], text[offset : offset + 20]
    head = "…" if offset > 20 else ""
    tail = "…" if offset + 20 < len(text) else ""
    return head + " ".join(f"{before}▸{after}".split()) + tail
