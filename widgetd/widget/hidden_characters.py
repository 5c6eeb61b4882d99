"""Keep what nobody sees out of what a model reads.

A name or description may hold characters that show as nothing and yet are read:
tags, bidirectional overrides, zero-width letters. Knows nothing of where a text
comes from.

Source: Unicode Standard, chapter 23.2 to 23.9; Unicode Technical Report 36.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from operator import is_
from typing import Any

from widgetd.text_search import compile_pattern

_WHITESPACE = frozenset("\n\t\r")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_HIDDEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_JOINERS = frozenset("\u200c\u200d")
_SELECTORS = compile_pattern("[\ufe00-\ufe0d\U000e0100-\U000e01ef]")


def visible(text: str) -> str:
    """`text` without the characters that nobody sees; the same object where there are none."""
    gone = {offset for offset, _ in hidden(text)}
    if not gone:
        return text
    return "".join(character for offset, character in enumerate(text) if offset not in gone)


def visible_within(value: Any, keys: frozenset[str]) -> Any:
    """A JSON value, with every text under one of `keys`, at any depth, made visible.

    Returns:
        The same object where that changes nothing.
    """
    if isinstance(value, list):
        elements = [visible_within(inner, keys) for inner in value]
        return value if all(map(is_, elements, value)) else elements
    if not isinstance(value, dict):
        return value
    kept = {
        key: visible(inner)
        if key in keys and isinstance(inner, str)
        else visible_within(inner, keys)
        for key, inner in value.items()
    }
    return value if all(map(is_, kept.values(), value.values())) else kept


def hidden(text: str) -> Iterator[tuple[int, str]]:
    """Each character of `text` that nobody sees: `(offset, "U+202E right-to-left override")`."""
    if text.isascii() and text.isprintable():
        return
    for offset, character in enumerate(text):
        is_hidden = character not in _WHITESPACE and (
            unicodedata.category(character) in _HIDDEN_CATEGORIES
            or character in _HIDDEN_LETTERS
            or _SELECTORS.match(character) is not None
        )
        if is_hidden and not _joins(text, offset):
            name = unicodedata.name(character, "an unnamed character").lower()
            yield offset, f"U+{ord(character):04X} {name}"


def escape_hidden(text: str) -> str:
    """Return JSON in which each character that nobody sees is an escape."""
    places = {offset for offset, _ in hidden(text)}
    if not places:
        return text
    return "".join(
        json.dumps(character)[1:-1] if offset in places else character
        for offset, character in enumerate(text)
    )


def _joins(text: str, offset: int) -> bool:
    """Whether a joiner stands where scripts and emoji need one: between characters beyond ASCII."""
    if text[offset] not in _JOINERS or not 0 < offset < len(text) - 1:
        return False
    before, after = text[offset - 1], text[offset + 1]
    return not (before.isascii() or after.isascii() or {before, after} & _JOINERS)
