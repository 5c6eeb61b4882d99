"""Remove invisible characters from texts for a model.

A name or description may contain characters that display as nothing and yet reach a model: tags,
bidirectional overrides, zero-width letters.

Source: Unicode Standard, chapter 23.2 to 23.9, and Unicode Technical Report 36.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from operator import is_
from typing import Any

from widgetd.base.text_search import compile_pattern

_WHITESPACE = frozenset("\n\t\r")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_HIDDEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_JOINERS = frozenset("\u200c\u200d")
_SELECTORS = compile_pattern("[\ufe00-\ufe0d\U000e0100-\U000e01ef]")


def strip_hidden(text: str) -> str:
    """Remove hidden characters from `text`, or return the same object if there are none."""
    return _replace_hidden(text, lambda _: "")


def strip_hidden_within(value: Any, keys: frozenset[str]) -> Any:
    """Remove hidden characters from every text under a key of `keys`, at any depth of a JSON value.

    Returns:
        The same object if that changes nothing.
    """
    if isinstance(value, list):
        elements = [strip_hidden_within(inner, keys) for inner in value]
        return value if all(map(is_, elements, value)) else elements
    if not isinstance(value, dict):
        return value
    kept = {
        key: strip_hidden(inner)
        if key in keys and isinstance(inner, str)
        else strip_hidden_within(inner, keys)
        for key, inner in value.items()
    }
    return value if all(map(is_, kept.values(), value.values())) else kept


def find_hidden(text: str) -> Iterator[tuple[int, str]]:
    """Yield each hidden character of `text`: `(offset, "U+202E right-to-left override")`."""
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
    return _replace_hidden(text, lambda character: json.dumps(character)[1:-1])


def _replace_hidden(text: str, replace: Callable[[str], str]) -> str:
    places = {offset for offset, _ in find_hidden(text)}
    if not places:
        return text
    return "".join(
        replace(character) if offset in places else character
        for offset, character in enumerate(text)
    )


def _joins(text: str, offset: int) -> bool:
    """Return whether a joiner is where scripts and emoji need it: between non-ASCII characters."""
    if text[offset] not in _JOINERS or not 0 < offset < len(text) - 1:
        return False
    before, after = text[offset - 1], text[offset + 1]
    return not (before.isascii() or after.isascii() or {before, after} & _JOINERS)
