"""What Studio's exporter writes that Jinja does not mean, and the meaning it evidently has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import orjson

STRICT_OPERATORS: Final = frozenset({"eq", "ne"})
"""The tokens that a stray `=` follows where the exporter left `===` and `!==`."""

NOTHING_NAMES: Final = frozenset({"null", "undefined"})
"""The names that stand for JavaScript's own words for nothing."""

INDEX_NAMES: Final = frozenset({"i", "j", "idx", "index"})
"""What authors call the position in `xs.map((x, i) => …)`, which old exports do not bind."""

_ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unexpected char '&'": "write 'and'",
        "unexpected char '?'": "write 'yes if condition else no'",
        "unexpected char '!'": "write 'not'",
        "expected token 'name', got '|'": "write 'or'",
    }
)


def advice(problem: str) -> str:
    """What would be right where the parser found `problem`."""
    for start, right in _ADVICE.items():
        if problem.startswith(start):
            return right
    return "write it as Jinja reads it"


# The last alternative keeps a quotation mark that nothing closes, so that it cannot vanish.
_PIECE: Final = re.compile(r'[\[\]{},:]|"(?:[^"\\]++|\\.)*+"|[^\s"\[\]{},:]++|"', re.DOTALL)


def mend(text: str) -> str | None:
    """`text` as valid JSON, with commas set right between its values; None where that fails.

    A loop without a separator, or with one too many, is what it takes to get
    here. Nothing inside a string is touched.
    """
    if sum(map(text.count, _MARKS)) > MAX_MARKS:
        return None
    out: list[str] = []
    before = ""
    for piece in _PIECE.findall(text):
        if piece == "," and before in _BEFORE_VALUE:
            continue
        if before == ",":
            if piece in _CLOSING:
                out.pop()
        elif before not in _BEFORE_VALUE and piece not in _AFTER_VALUE:
            out.append(",")
        out.append(piece)
        before = piece
    mended = "".join(out)
    return mended if is_json(mended) else None


# Reading this many brackets, commas and colons takes about a tenth of a second.
MAX_MARKS: Final = 100_000

_MARKS: Final = "[]{},:"
_CLOSING: Final = frozenset("]}")
_AFTER_VALUE: Final = frozenset("]},:")
_BEFORE_VALUE: Final = frozenset({"", "[", "{", ",", ":"})


def is_json(text: str) -> bool:
    """Whether `text` is one JSON value."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
