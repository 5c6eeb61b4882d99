"""How far a piece of JSON text has got: in a string or not, and what may come next.

A state is a small number. It refuses to know templates; it reads plain text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

ANY: Final = 0
"""Something unknown stands before: whatever comes next is right."""
IN_STRING: Final = 1
OPEN: Final = 2
"""A bracket or brace was just opened."""
COMMA: Final = 3
COLON: Final = 4
VALUE: Final = 5
LEAD: Final = 6
"""Like `OPEN`, but one leading comma will be taken away."""


class Mistake(NamedTuple):
    """A comma that is missing, or one too many, at an offset of the text that was read."""

    offset: int
    missing: bool


# A text with more is not nearly JSON, and saying so a few times is enough.
MAX_MISTAKES: Final = 4

_PIECE: Final = re.compile(
    r"""(?P<mark>[\[\]{},:])|(?P<string>"(?:[^"\\]++|\\.)*+")|(?P<open>".*)"""
    r"""|(?P<literal>[^\s"\[\]{},:]+)""",
    re.DOTALL,
)
_BEHIND: Final[Mapping[str | None, int]] = {"string": VALUE, "open": IN_STRING, "literal": ANY}
"""A number or word may go on in what follows, so it is not known to be one value."""

_REST_OF_STRING: Final = re.compile(r'(?:[^"\\]++|\\.)*+"', re.DOTALL)


def after(text: str, state: int) -> tuple[int, list[Mistake]]:
    """The state behind `text` where `state` is before it, and what is wrong with its commas."""
    mistakes: list[Mistake] = []
    start = 0
    if state == IN_STRING:
        rest = _REST_OF_STRING.match(text)
        if rest is None:
            return IN_STRING, mistakes
        state, start = VALUE, rest.end()
    for match in _PIECE.finditer(text, start):
        kind = match.lastgroup
        if kind == "mark":
            state = _marked(match[0], state, match.start(), mistakes)
        else:
            if state == VALUE:
                mistakes.append(Mistake(match.start(), missing=True))
            state = _BEHIND[kind]
    return state, mistakes[:MAX_MISTAKES]


def _marked(mark: str, state: int, offset: int, mistakes: list[Mistake]) -> int:
    if mark == ":":
        return COLON
    if mark == ",":
        return _comma(state, offset, mistakes)
    if mark in "[{":
        if state == VALUE:
            mistakes.append(Mistake(offset, missing=True))
        return OPEN
    if state == COMMA:
        mistakes.append(Mistake(offset, missing=False))
    return VALUE


def _comma(state: int, offset: int, mistakes: list[Mistake]) -> int:
    if state == LEAD:
        return OPEN
    if state in (OPEN, COMMA):
        mistakes.append(Mistake(offset, missing=False))
        return state
    return COMMA
