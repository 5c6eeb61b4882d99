"""Make a string that matches a pattern.

Reads the regular expressions that schemas hold in practice: literals, classes,
groups, alternatives and repetitions. Of what it does not know it makes nothing.
The caller has the last word on whether a string matches.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

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
MOST_REPEATED = 4_096
SPREADS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)

# Given how far to go beyond the fewest repetitions, makes a piece of a string.
Piece = Callable[[int], str]


class _UnknownError(Exception):
    """The pattern holds something that is not known here."""


@lru_cache(maxsize=1024)
def pattern_strings(pattern: str, ordinal: int = 0) -> tuple[str, ...]:
    """Strings that probably match `pattern`, shorter before longer; none if it is not understood.

    Another `ordinal` takes other characters and alternatives.
    """
    try:
        piece = _Reader(pattern, ordinal).read()
    except (_UnknownError, IndexError, ValueError, RecursionError):
        return ()
    made = dict.fromkeys(piece(spread) for spread in SPREADS)
    return tuple(text for text in made if len(text) <= MOST_REPEATED)


@dataclass(slots=True)
class _Reader:
    """A recursive descent over the pattern, each part of it made into a piece."""

    pattern: str
    ordinal: int
    at: int = 0

    def read(self) -> Piece:
        piece = self._alternatives()
        if self.at < len(self.pattern):
            raise _UnknownError
        return piece

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _take(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def _taken(self, text: str) -> bool:
        if self.pattern.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _until(self, end: str) -> str:
        start, self.at = self.at, self.pattern.index(end, self.at) + 1
        return self.pattern[start : self.at - 1]

    def _alternatives(self) -> Piece:
        branches = [self._sequence()]
        while self._taken("|"):
            branches.append(self._sequence())
        return branches[self.ordinal % len(branches)]

    def _sequence(self) -> Piece:
        pieces: list[Piece] = []
        while self._peek() not in ("", "|", ")"):
            pieces.append(self._repeated(self._atom()))
        return lambda spread: "".join(piece(spread) for piece in pieces)

    def _repeated(self, piece: Piece) -> Piece:
        if self._taken("*"):
            least, most = 0, MOST_REPEATED
        elif self._taken("+"):
            least, most = 1, MOST_REPEATED
        elif self._taken("?"):
            least, most = 0, 1
        elif self._peek() == "{":
            least, most = self._counts()
        else:
            return piece
        self._taken("?")
        # Only the outer of nested repetitions goes further, or the string would grow as a power.
        return lambda spread: piece(0) * min(least + spread, most)

    def _counts(self) -> tuple[int, int]:
        self._take()
        low, comma, high = self._until("}").partition(",")
        least = int(low or 0)
        return least, int(high) if high else MOST_REPEATED if comma else least

    def _atom(self) -> Piece:
        character = self._take()
        if character == "(":
            return self._group()
        if character == "[":
            return self._one_of(self._class())
        if character == "\\":
            return self._escaped()
        if character == ".":
            return self._one_of(LETTERS)
        if character in "^$":
            return lambda _: ""
        if character in "*+?{}":
            raise _UnknownError
        return lambda _: character

    def _group(self) -> Piece:
        if self._taken("?<") or self._taken("?P<"):
            if self._peek() in ("=", "!"):
                raise _UnknownError
            self._until(">")
        elif self._taken("?") and not self._taken(":"):
            raise _UnknownError
        piece = self._alternatives()
        if self._take() != ")":
            raise _UnknownError
        return piece

    def _escaped(self) -> Piece:
        character = self._take()
        if character in "bBAzZ":
            return lambda _: ""
        return self._one_of(self._escape(character))

    def _escape(self, character: str) -> str:
        """The characters that an escape stands for."""
        if character in CLASSES:
            return CLASSES[character]
        if character in CONTROLS:
            return CONTROLS[character]
        if character in "xu":
            return chr(int(self._digits(2 if character == "x" else 4), 16))
        if character == "p" and self._taken("{"):
            name = self._until("}")
            return PROPERTIES.get(name) or (string.digits if name[:1] == "N" else LETTERS)
        if character.isalnum():
            raise _UnknownError
        return character

    def _digits(self, count: int) -> str:
        if self._taken("{"):
            return self._until("}")
        return "".join(self._take() for _ in range(count))

    def _class(self) -> str:
        negated = self._taken("^")
        members = ""
        while not self._taken("]"):
            first = self._member()
            if len(first) == 1 and self._peek() == "-" and self.pattern[self.at + 1] != "]":
                self._take()
                last = self._member()
                members += "".join(map(chr, range(ord(first), min(ord(last), ord(first) + 64) + 1)))
            else:
                members += first
        if negated:
            return "".join(character for character in PRINTABLE if character not in members)
        return members

    def _member(self) -> str:
        character = self._take()
        if character == "\\":
            return "\b" if self._taken("b") else self._escape(self._take())
        return character

    def _one_of(self, characters: str) -> Piece:
        chosen = characters[self.ordinal % len(characters)]
        return lambda _: chosen
