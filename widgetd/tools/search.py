"""Find widgets by what they are for. Knows nothing of MCP.

Scores are BM25 over the words of name, title, tags, description and fields,
each weighed by how much a match there means. A widget's words are counted once.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from widgetd.catalog.snapshot import Snapshot
from widgetd.widget.compiled import Widget

_WORD = re.compile(r"[^\W_]+")
_SATURATION = 1.2
_LENGTH = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A widget that fits a query.

    Attributes:
        widget: The widget.
        score: Higher is better; only comparable within one search.
    """

    widget: Widget
    score: float


class Search:
    """Remembers each widget's words for as long as the widget lives."""

    def __init__(self) -> None:
        self._counted: WeakKeyDictionary[Widget, Counter[str]] = WeakKeyDictionary()

    def find(self, snapshot: Snapshot, query: str, limit: int) -> tuple[list[Hit], int]:
        """The best `limit` widgets for `query`, and how many fit at all.

        An empty query fits every widget, in the order of names.
        """
        wanted = tuple(dict.fromkeys(_stem(word) for word in _words(query)))
        if not wanted:
            hits = [Hit(widget=widget, score=0.0) for widget in snapshot.widgets.values()]
            return hits[:limit], len(hits)
        counts = {widget: self._count(widget) for widget in snapshot.widgets.values()}
        hits = list(_score(counts, wanted))
        hits.sort(key=lambda hit: (-hit.score, hit.widget.tool))
        return hits[:limit], len(hits)

    def _count(self, widget: Widget) -> Counter[str]:
        counted = self._counted.get(widget)
        if counted is None:
            counted = self._counted[widget] = _count(widget)
        return counted


def _score(counts: Mapping[Widget, Counter[str]], wanted: tuple[str, ...]) -> Iterator[Hit]:
    average = sum(count.total() for count in counts.values()) / max(len(counts), 1)
    weights = {word: _rarity(word, counts) for word in wanted}
    for widget, count in counts.items():
        length = _SATURATION * (1 - _LENGTH + _LENGTH * count.total() / average)
        score = sum(
            weight * count[word] * (_SATURATION + 1) / (count[word] + length)
            for word, weight in weights.items()
            if word in count
        )
        if score > 0:
            yield Hit(widget=widget, score=round(score, 3))


def _rarity(word: str, counts: Mapping[Widget, Counter[str]]) -> float:
    having = sum(word in count for count in counts.values())
    return math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))


def _count(widget: Widget) -> Counter[str]:
    definition = widget.definition
    properties = widget.advertised.get("properties")
    fields = " ".join(properties) if isinstance(properties, Mapping) else ""
    counted: Counter[str] = Counter()
    for weight, text in (
        (4, f"{definition.tool} {definition.title}"),
        (3, " ".join(definition.tags)),
        (2, widget.description),
        (1, fields),
    ):
        for word in _words(text):
            counted[_stem(word)] += weight
    return counted


def _words(text: str) -> list[str]:
    split = re.sub(r"([a-z\d])([A-Z])", r"\1 \2", text)
    return [word.casefold() for word in _WORD.findall(split)]


def _stem(word: str) -> str:
    """Fold the commonest English endings, so that `flights` finds `flight`."""
    for ending in ("ing", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word
