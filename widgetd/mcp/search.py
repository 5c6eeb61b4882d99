"""Find widgets by what they are for. Knows nothing of MCP.

Scores are BM25 over the words of name, title, tags, description and fields, each
weighed by how much a match there means. A search looks only at the widgets that
have one of its words, and a swap costs the words of the widgets that changed.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009).
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from math import log
from typing import Self

from anyio import to_thread

from widgetd.catalog.snapshot import Snapshot
from widgetd.files.persistent_map import differing, missing
from widgetd.mcp.principal import MOST_AUDIENCES
from widgetd.widget.widget import Widget

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_SATURATION = 1.2
_LENGTH = 0.75

MANY = 200
"""So many widgets are read in a few milliseconds."""


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
    """Remembers the words of what each audience sees."""

    def __init__(self) -> None:
        self._indices: OrderedDict[Hashable, _Index] = OrderedDict()

    async def prepare(self, snapshot: Snapshot, *, audience: Hashable = None) -> None:
        """Read the words of many widgets beside the event loop, where they were never searched."""
        if len(snapshot.widgets) > MANY and audience not in self._indices:
            index = await to_thread.run_sync(_Index().following, snapshot.widgets)
            self._indices.setdefault(audience, index)

    def find(
        self, snapshot: Snapshot, query: str, limit: int, *, audience: Hashable = None
    ) -> tuple[list[Hit], int]:
        """The best `limit` widgets for `query`, and how many fit at all.

        An empty query fits every widget, in the order of names.

        Args:
            snapshot: What is searched.
            query: Some words.
            limit: The most to answer with.
            audience: Whose view `snapshot` is; the next one's is likely to be much the same.
        """
        wanted = tuple(dict.fromkeys(_words(query)))
        widgets = snapshot.widgets
        if not wanted:
            first = islice(widgets.values(), limit)
            return [Hit(widget=widget, score=0.0) for widget in first], len(widgets)
        index = self._indices.setdefault(audience, _Index())
        self._indices.move_to_end(audience)
        if len(self._indices) > MOST_AUDIENCES:
            self._indices.popitem(last=False)
        scores = index.following(widgets).scores(wanted)
        best = nsmallest(limit, scores, key=lambda tool: (-scores[tool], tool))
        return [Hit(widget=widgets[tool], score=scores[tool]) for tool in best], len(scores)


class _Index:
    """Which widgets have a word, and how much it means there."""

    def __init__(self) -> None:
        self._widgets: Mapping[str, Widget] = {}
        self._postings: dict[str, dict[str, int]] = {}
        self._lengths: dict[str, int] = {}
        self._length = 0

    def following(self, widgets: Mapping[str, Widget]) -> Self:
        """Itself, brought up to date with `widgets`."""
        before, self._widgets = self._widgets, widgets
        for tool in missing(before, widgets):
            self._remove(tool, before[tool])
        for tool in differing(before, widgets):
            if tool in before:
                self._remove(tool, before[tool])
            self._add(tool, widgets[tool])
        return self

    def scores(self, wanted: Iterable[str]) -> Mapping[str, float]:
        """How well the widgets that have one of the words fit, by tool name."""
        scores: dict[str, float] = {}
        average = self._length / max(len(self._lengths), 1)
        for word in wanted:
            posting = self._postings.get(word, {})
            rarity = log(1 + (len(self._lengths) - len(posting) + 0.5) / (len(posting) + 0.5))
            for tool, weight in posting.items():
                length = _SATURATION * (1 - _LENGTH + _LENGTH * self._lengths[tool] / average)
                score = rarity * weight * (_SATURATION + 1) / (weight + length)
                scores[tool] = scores.get(tool, 0) + score
        return {tool: round(score, 3) for tool, score in scores.items()}

    def _add(self, tool: str, widget: Widget) -> None:
        counted = _count(widget)
        self._lengths[tool] = counted.total()
        self._length += self._lengths[tool]
        for word, weight in counted.items():
            self._postings.setdefault(word, {})[tool] = weight

    def _remove(self, tool: str, widget: Widget) -> None:
        self._length -= self._lengths.pop(tool)
        for word in _count(widget):
            posting = self._postings[word]
            del posting[tool]
            if not posting:
                del self._postings[word]


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
            counted[word] += weight
    return counted


def _words(text: str) -> list[str]:
    """The words of `text`, with names in camelCase taken apart."""
    return [_stem(word) for word in _WORD.findall(_CAMEL.sub(" ", text).casefold())]


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """Fold the commonest English endings, so that `flights` finds `flight`."""
    for ending in ("ing", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word
