"""What Studio's exporter writes that Jinja does not mean, and the meaning it evidently has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

STRICT_OPERATORS: Final = frozenset({"eq", "ne"})
"""The tokens that a stray `=` follows where the exporter left `===` and `!==`."""

INDEX_NAMES: Final = frozenset({"i", "idx", "index"})
"""What authors call the position in `xs.map((x, i) => …)`, which old exports do not bind."""

_ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unexpected char '&'": "write 'and'",
        "unexpected char '?'": "write 'yes if condition else no'",
        "unexpected char '!'": "write 'not'",
        "unexpected '|'": "write 'or'",
    }
)


def advice(problem: str) -> str:
    """What would be right where the parser found `problem`."""
    for start, right in _ADVICE.items():
        if problem.startswith(start):
            return right
    return "write it as Jinja reads it"
