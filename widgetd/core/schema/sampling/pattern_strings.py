"""Make strings for a pattern.

Covers the regular expressions used in practice by schemas: literals, classes, groups,
alternatives and repetitions. For any other it makes nothing. The caller verifies each string.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from widgetd.core.schema.limits import LIMITS

LETTERS = string.ascii_lowercase + string.ascii_uppercase
PRINTABLE = LETTERS + string.digits + " -_.,:/!#%&()+@"
CLASSES = {
    "d": string.digits,
    "w": LETTERS + string.digits + "_",
    "s": " ",
    "D": LETTERS,
    "W": " -.",
    "S": LETTERS + string.digits,
}
CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
PROPERTIES = {"L": LETTERS, "Lu": string.ascii_uppercase, "Ll": string.ascii_lowercase}
SPREADS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)

# Makes a piece of a string, with so many repetitions more than the fewest.
Piece = Callable[[int], str]


class _UnknownError(Exception):
    """The pattern contains unsupported syntax."""


@lru_cache(maxsize=1024)
def make_pattern_strings(pattern: str, ordinal: int = 0) -> tuple[str, ...]:
    """Return strings that probably match `pattern`, shorter before longer, none if unsupported.

    Another `ordinal` takes other characters and alternatives.
    """
    try:
        piece = _PatternReader(pattern, ordinal).read()
    except (_UnknownError, IndexError, ValueError, RecursionError):
        return ()
    strings = dict.fromkeys(piece(spread) for spread in SPREADS)
    return tuple(text for text in strings if len(text) <= LIMITS.pattern_chars)


@dataclass(slots=True)
class _PatternReader:
    """A recursive descent parser from parts of the pattern to pieces."""

    pattern: str
    ordinal: int
    at: int = 0

    def read(self) -> Piece:
        piece = self._read_alternatives()
        if self.at < len(self.pattern):
            raise _UnknownError
        return piece

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _take(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def _accept(self, text: str) -> bool:
        if self.pattern.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _take_until(self, end: str) -> str:
        start, self.at = self.at, self.pattern.index(end, self.at) + 1
        return self.pattern[start : self.at - 1]

    def _read_alternatives(self) -> Piece:
        branches = [self._read_sequence()]
        while self._accept("|"):
            branches.append(self._read_sequence())
        return branches[self.ordinal % len(branches)]

    def _read_sequence(self) -> Piece:
        pieces: list[Piece] = []
        while self._peek() not in ("", "|", ")"):
            pieces.append(self._read_repetition(self._read_atom()))
        return lambda spread: "".join(piece(spread) for piece in pieces)

    def _read_repetition(self, piece: Piece) -> Piece:
        if self._accept("*"):
            least, most = 0, LIMITS.pattern_chars
        elif self._accept("+"):
            least, most = 1, LIMITS.pattern_chars
        elif self._accept("?"):
            least, most = 0, 1
        elif self._accept("{"):
            low, comma, high = self._take_until("}").partition(",")
            least = int(low or 0)
            most = int(high) if high else LIMITS.pattern_chars if comma else least
        else:
            return piece
        self._accept("?")
        # Only the outermost repetition grows, or nested repetitions would multiply.
        return lambda spread: piece(0) * min(least + spread, most)

    def _read_atom(self) -> Piece:
        character = self._take()
        if character == "(":
            return self._read_group()
        if character == "[":
            return self._pick(self._read_class())
        if character == "\\":
            escaped = self._take()
            if escaped in "bBAzZ":
                return lambda _: ""
            return self._pick(self._read_escape(escaped))
        if character == ".":
            return self._pick(LETTERS)
        if character in "^$":
            return lambda _: ""
        if character in "*+?{}":
            raise _UnknownError
        return lambda _: character

    def _read_group(self) -> Piece:
        if self._accept("?<") or self._accept("?P<"):
            if self._peek() in ("=", "!"):
                raise _UnknownError
            self._take_until(">")
        elif self._accept("?") and not self._accept(":"):
            raise _UnknownError
        piece = self._read_alternatives()
        if self._take() != ")":
            raise _UnknownError
        return piece

    def _read_escape(self, character: str) -> str:
        if character in CLASSES:
            return CLASSES[character]
        if character in CONTROLS:
            return CONTROLS[character]
        if character in "xu":
            if self._accept("{"):
                return chr(int(self._take_until("}"), 16))
            count = 2 if character == "x" else 4
            return chr(int("".join(self._take() for _ in range(count)), 16))
        if character == "p" and self._accept("{"):
            name = self._take_until("}")
            return PROPERTIES.get(name) or (string.digits if name[:1] == "N" else LETTERS)
        if character.isalnum():
            raise _UnknownError
        return character

    def _read_class(self) -> str:
        negated = self._accept("^")
        members = ""
        while not self._accept("]"):
            first = self._read_member()
            if len(first) == 1 and self._peek() == "-" and self.pattern[self.at + 1] != "]":
                self._take()
                last = self._read_member()
                members += "".join(map(chr, range(ord(first), min(ord(last), ord(first) + 64) + 1)))
            else:
                members += first
        if negated:
            return "".join(character for character in PRINTABLE if character not in members)
        return members

    def _read_member(self) -> str:
        character = self._take()
        if character == "\\":
            return "\b" if self._accept("b") else self._read_escape(self._take())
        return character

    def _pick(self, characters: str) -> Piece:
        chosen = characters[self.ordinal % len(characters)]
        return lambda _: chosen
