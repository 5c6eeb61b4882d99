"""Parse strict JSON: bytes of a file in, an object or a fault with its place out.

Stricter than any single parser: two readers of the same file may disagree about a duplicate key, a
number beyond a double and half a surrogate pair. A valid text is only parsed. A faulty text is
also split into lexemes to find the fault, as long as its brackets and strings are those of JSON.

Source: RFC 8259 (JSON), RFC 7493 (I-JSON), section 2, for these rules, RFC 6901 (JSON pointers).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import orjson

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.limits import Limits
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.schema.json_values import is_too_deep, kind, pointer
from widgetd.core.schema.limits import LIMITS

_LEXEME = compile_pattern(r'(?s)"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\],:]|[^\s{}\[\],:"]+')

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
"""The beginning of a message of Python's parser, our problem, and our advice."""

_ESCAPE = compile_pattern(
    r"(?i)\\u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?P<half>d[89a-f][0-9a-f]{2}))|\\.",
)
"""One escape, or both halves of a surrogate pair, so that no backslash is matched twice."""

_JSX = compile_pattern(r"\A\s*(?:<[A-Z]|(?:import|export|const|function)\s)")

_MANY_DIGITS = compile_pattern(rb"[0-9]{19}")
"""The digits of an integer beyond 64 bits, which orjson silently turns into a float."""

_THREE_DIGITS = compile_pattern(rb"[0-9]{3}")
"""Every sixth of nineteen digits: usually a sixth of the text suffices to rule them out."""


_TRAILING = compile_pattern(r",\s*[}\]]")


def parse_file(content: bytes, limits: Limits) -> dict[str, Any]:
    """Parse the object in a file.

    Raises:
        WidgetError: Too large (W1002), not UTF-8 or an impossible number (W1104), not JSON (W1101),
            nested too deeply (W1103), a duplicate key (W1102), or not an object (W1106).
    """
    if len(content) > limits.file_bytes:
        problem = f"it is longer than {limits.file_bytes:,} bytes"
        raise _build_error("W1002", problem, "leave out what the widget does not need")
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        value = orjson.loads(content)
        if is_too_deep(value, limits.json_depth):
            _raise_fault(decode(content), limits)
        _EXACT.decode(content.decode())
    except (orjson.JSONDecodeError, _DuplicateKeyError):
        _raise_fault(decode(content), limits)
    if not isinstance(value, dict):
        raise _build_error("W1106", f"the file holds {kind(value)}, not an object", _EXPORT)
    return value


class NotJsonError(ValueError):
    """A text is not JSON, or has a duplicate key."""


def parse_json(content: bytes | str) -> Any:
    """Parse JSON from a caller: every number as it was written, and no duplicate key.

    Integers beyond 64 bits, NaN and lone surrogates pass, because the callers know their place in
    the arguments and refuse them there. orjson would silently round such integers.

    Raises:
        NotJsonError: It is not JSON or not UTF-8, nests too deeply, or has a duplicate key.
    """
    try:
        return _EXACT.decode(content if isinstance(content, str) else content.decode())
    except _DuplicateKeyError:
        key = find_duplicate_key(content if isinstance(content, str) else content.decode())
        raise NotJsonError(f"the key {key} stands twice") from None
    except RecursionError:
        raise NotJsonError("it nests too deeply") from None
    except ValueError as error:  # in syntax, in UTF-8, or in the number of an integer's digits
        raise NotJsonError(str(error)) from None


def parse_plain(content: bytes) -> Any:
    """Parse JSON quickly, and refuse any text on which readers may differ.

    Raises:
        NotJsonError: It is not JSON, or readers may differ: an integer may be too large, a key may
            be duplicate, it may nest deeper than some parsers accept. A refused text may be valid.
    """
    if _THREE_DIGITS.search(content[::6]) is not None and _MANY_DIGITS.search(content) is not None:
        raise NotJsonError("a number has many digits")
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise NotJsonError(str(error)) from None
    if content.count(b"[") + content.count(b"{") > LIMITS.plain_depth and is_too_deep(
        value, LIMITS.plain_depth
    ):
        raise NotJsonError("it nests deeply")
    # orjson keeps the last of duplicate keys, so a colon is missing when the value is encoded
    # again. All other colons are in texts, encoded as they were read.
    colons = content.count(b":")
    if b"\\u" in content:
        colons += content.lower().count(b"\\u003a")
    if colons != orjson.dumps(value).count(b":"):
        raise NotJsonError("a key may stand twice")
    return value


def find_duplicate_key(text: str) -> str | None:
    try:
        _EXACT.decode(text)
    except _DuplicateKeyError:
        return next(place.pointer for place in iterate_places(text) if place.earlier is not None)
    except (ValueError, RecursionError):
        pass
    return None


def decode(content: bytes) -> str:
    """Decode the text of a file, without its byte order mark.

    Raises:
        WidgetError: It is not UTF-8 (W1104).
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        problem = f"the byte 0x{content[error.start]:02x} is not UTF-8"
        raise _build_error(
            "W1104", problem, "save the file as UTF-8", before, len(before)
        ) from None


def build_syntax_error(code: str, text: str, error: json.JSONDecodeError) -> WidgetError:
    offset = error.pos
    if not text.strip():
        return _build_error(code, "there is no JSON, only space", "write an object")
    if is_jsx(text):
        return _build_error(code, "this is JSX, and not JSON", FROM_JSX, text, offset)
    # Python 3.13 stops before a trailing comma, other versions behind it.
    comma = len(text[: offset + 1].rstrip("}] \t\r\n")) - 1
    if comma >= 0 and _TRAILING.match(text, comma):
        offset = comma
        problem, advice = "a comma stands before a closing bracket", "remove it"
    elif not text[offset:].strip():
        return _build_error(code, "the text ends before its JSON does", "complete it", text, offset)
    else:
        problem, advice = next(
            (row[1:] for row in _PROBLEMS if error.msg.startswith(row[0])),
            ("this is not JSON", "write what JSON allows"),
        )
    return _build_error(code, f"{problem} at '{excerpt(text, offset)}'", advice, text, offset)


def is_jsx(text: str) -> bool:
    """Return whether `text` begins like JSX, Studio's source of a widget."""
    return _JSX.match(text) is not None


class _DuplicateKeyError(Exception):
    """An object has a duplicate key. `_raise_fault` finds out its place."""


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _DuplicateKeyError
    return value


_EXACT = json.JSONDecoder(object_pairs_hook=_build_object)
"""The only parser at hand that passes on every key; orjson silently keeps the last of two."""


def _raise_fault(text: str, limits: Limits) -> NoReturn:
    syntax: json.JSONDecodeError | None = None
    try:
        json.loads(text, parse_int=float)  # as int, Python reads no more than 4,300 digits
    except json.JSONDecodeError as error:
        syntax = error
    except RecursionError:
        pass  # the loop below finds the first place nested too deeply
    for place in iterate_places(text if syntax is None else text[: syntax.pos]):
        if place.depth >= limits.json_depth and place.lexeme in "{[":
            problem = f"the JSON nests more than {limits.json_depth} levels deep here"
            raise _build_error("W1103", problem, "flatten it", text, place.offset)
        if syntax is None:
            _refuse_place(place, text)
    if syntax is not None:
        raise build_syntax_error("W1101", text, syntax)
    for match in read_tokens(_ESCAPE, text):
        if match.group("half"):
            problem = f"{match.group()} is half a character"
            raise _build_error(
                "W1104", problem, "write both of its halves, or none", text, match.start()
            )
    raise _build_error("W1101", "the file is not JSON", _EXPORT)


def _refuse_place(place: TextPlace, text: str) -> None:
    if place.earlier is not None:
        line, column = line_and_column(text, place.earlier)
        problem = f"the key already stands at line {line}, column {column}"
        error = _build_error("W1102", problem, "keep one of the two", text, place.key_offset)
        raise error.within(place.pointer)
    number = place.lexeme
    named = number in {"NaN", "Infinity", "-Infinity"}
    if named or (number.lstrip("-")[:1].isdigit() and abs(float(number)) == float("inf")):
        problem = f"{number[:40]} is not a number in JSON"
        raise _build_error(
            "W1104", problem, "write one that a double can hold, or null", text, place.offset
        )


def _build_error(
    code: str, problem: str, advice: str, text: str = "", offset: int | None = None
) -> WidgetError:
    line, column = (None, None) if offset is None else line_and_column(text, offset)
    return WidgetError(Finding(code=code, problem=problem, advice=advice, line=line, column=column))


class TextPlace(NamedTuple):
    """A value in the text. A tuple, because the largest text has 130,000 of them.

    Attributes:
        around: The pointer of the object or array around it.
        part: Its key or index there, None for the outermost value.
        offset: The start of the value, in characters from 0.
        key_offset: The start of its key, `offset` if it has none.
        lexeme: The value's text, or the opening bracket of an object or array.
        depth: The number of objects and arrays around it.
        earlier: The start of an earlier occurrence of the same key, None without one.
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
        if isinstance(self.part, str):
            return self.around + pointer(self.part)
        return self.around if self.part is None else f"{self.around}/{self.part}"


@dataclass(slots=True)
class _TextFrame:
    pointer: str
    is_list: bool
    part: str = ""
    key_offset: int | None = None
    index: int = 0
    earlier: int | None = None
    keys: dict[str, int] = field(default_factory=dict)


def iterate_places(text: str) -> Iterator[TextPlace]:
    """Yield every value in `text`, outer before inner, in the order they are written."""
    frames: list[_TextFrame] = []
    wants_key = False
    for match in read_tokens(_LEXEME, text):
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
                place = TextPlace("", None, offset, offset, lexeme, 0, None)
            else:
                part = frame.index if frame.is_list else frame.part
                at = offset if frame.key_offset is None else frame.key_offset
                place = TextPlace(
                    frame.pointer, part, offset, at, lexeme, len(frames), frame.earlier
                )
            if lexeme in "{[":
                frames.append(_TextFrame(place.pointer, lexeme == "["))
                wants_key = lexeme == "{"
            yield place


def find_key_offsets(text: str) -> dict[str, int]:
    """Map the JSON pointer of each value to the start of its key or list element.

    The last of duplicate keys counts, as for every reader of such texts.
    """
    return {place.pointer: place.key_offset for place in iterate_places(text)}


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def excerpt(text: str, offset: int) -> str:
    """Return the text around `offset`, on one line, with the place marked: `"a": 1 ▸"b": 2`."""
    before, after = text[max(0, offset - 20) : offset], text[offset : offset + 20]
    head = "…" if offset > 20 else ""
    tail = "…" if offset + 20 < len(text) else ""
    return head + " ".join(f"{before}▸{after}".split()) + tail
