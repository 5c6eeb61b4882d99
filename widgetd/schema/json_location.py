"""Where each value of a JSON text stands, for findings that point at a line and a column.

Reads lexemes, not values: it works on any text whose brackets and strings are
those of JSON, even where something else is wrong. Only ever used to explain.

Source: RFC 8259 (JSON), RFC 6901 (JSON pointers).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from widgetd.schema.json_values import pointer

_LEXEME = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


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


def places(text: str) -> Iterator[Place]:
    """Every value in `text`, outer before inner, in the order they are written."""
    walk = _Walk()
    for match in _LEXEME.finditer(text):
        place = walk.step(match.group(), match.start())
        if place is not None:
            yield place


def locate(text: str, at: str) -> tuple[int, int] | None:
    """The line and column, from 1, of the key or list element at the pointer `at`, if it is there.

    Of a key that stands twice it is the last, as it is for every reader that lets it pass.
    """
    offset: int | None = None
    for place in places(text):
        if place.pointer == at:
            offset = place.key_offset
    return None if offset is None else line_and_column(text, offset)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """The line and column, from 1, of the character at `offset`."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def excerpt(text: str, offset: int) -> str:
    """The text around `offset`, on one line, with the place marked: `"a": 1 ▸"b": 2`."""
    before, after = text[max(0, offset - 20) : offset], text[offset : offset + 20]
    head = "…" if offset > 20 else ""
    tail = "…" if offset + 20 < len(text) else ""
    return head + " ".join(f"{before}▸{after}".split()) + tail


@dataclass(slots=True)
class _Frame:
    pointer: str
    is_list: bool
    part: str = ""
    key_offset: int | None = None
    index: int = 0
    earlier: int | None = None
    keys: dict[str, int] = field(default_factory=dict)


class _Walk:
    """Follows the lexemes of a text and knows which value each of them begins."""

    def __init__(self) -> None:
        self._frames: list[_Frame] = []
        self._wants_key = False

    def step(self, lexeme: str, offset: int) -> Place | None:
        if lexeme == ",":
            self._next()
            return None
        if lexeme == ":":
            return None
        if lexeme in "}]":
            if self._frames:
                self._frames.pop()
            return None
        if self._wants_key and self._frames and lexeme[0] == '"':
            self._key(lexeme, offset)
            return None
        return self._value(lexeme, offset)

    def _next(self) -> None:
        if self._frames:
            frame = self._frames[-1]
            frame.index += 1
            frame.key_offset = frame.earlier = None
            self._wants_key = not frame.is_list

    def _key(self, lexeme: str, offset: int) -> None:
        frame = self._frames[-1]
        frame.part, frame.key_offset = _unquote(lexeme), offset
        frame.earlier = frame.keys.get(frame.part)
        frame.keys.setdefault(frame.part, offset)
        self._wants_key = False

    def _value(self, lexeme: str, offset: int) -> Place:
        if not self._frames:
            place = Place("", None, offset, offset, lexeme, 0, None)
        else:
            frame = self._frames[-1]
            part = frame.index if frame.is_list else frame.part
            at = offset if frame.key_offset is None else frame.key_offset
            depth = len(self._frames)
            place = Place(frame.pointer, part, offset, at, lexeme, depth, frame.earlier)
        if lexeme in "{[":
            self._frames.append(_Frame(place.pointer, lexeme == "["))
            self._wants_key = lexeme == "{"
        return place


def _unquote(lexeme: str) -> str:
    if "\\" not in lexeme:
        return lexeme[1:-1]
    try:
        return str(orjson.loads(lexeme))
    except orjson.JSONDecodeError:
        return lexeme[1:-1]
