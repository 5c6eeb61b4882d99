"""Find widgets by their purpose.

The texts of a widget are its names, its author's keywords and tags, its fields, and the sentences
of its description about its purpose. A sentence about what it is *not* for, or about another
widget, gives it no credit.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import Caller, PerAudience
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.render.result import unknown_widget
from widgetd.server.search.search_index import SearchIndex, best_of

MANY = 200
"""Number of widgets whose words are read in a few milliseconds."""

DEEPEST = 3
"""Levels of fields whose names are read."""

_KIND = compile_pattern(r"(?i)(?<![a-z])(?:card|widget)s?(?![a-z])")
_CLAUSE = compile_pattern(r"(?<=[.;!?])\s+")
_ELSEWHERE = compile_pattern(
    r"(?i)\bnot for\b|\bnever\b|\binstead\b|\brather than\b|\bbefore that\b"
    r"|\buse (?!it\b|this\b|when|for\b|to\b|once\b|after\b|if\b|as\b)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A match of a query.

    Attributes:
        score: Higher is better. Only comparable within a search.
    """

    widget: Widget
    score: float

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.widget.tool,
            "title": self.widget.definition.title,
            "description": self.widget.description,
            "score": self.score,
        }


class Search:
    """A search over widgets, with an index for each audience."""

    def __init__(self) -> None:
        self._indices = PerAudience(lambda _: SearchIndex(_texts))

    def find(
        self,
        snapshot: Snapshot,
        query: str,
        limit: int,
        *,
        tags: Collection[str] = (),
        audience: Hashable = None,
    ) -> tuple[list[Hit], int]:
        """Return the best `limit` widgets for `query` and the number of all matches.

        An empty query fits every widget, in the order of names.

        Args:
            snapshot: The widgets to search.
            query: What the widget is for.
            limit: The maximum number of hits.
            tags: Tags of which a widget must have any. Empty for all widgets.
            audience: Its index is reused: its next view is likely to be much the same.
        """
        widgets = snapshot.widgets
        scores: Mapping[str, float] = dict.fromkeys(widgets, 0.0)
        asks = bool(query.strip())
        if asks:
            scores = self._indices.of(audience).following(widgets).scores(query)
        if wanted := set(tags):
            scores = {
                tool: score
                for tool, score in scores.items()
                if not wanted.isdisjoint(widgets[tool].definition.tags)
            }
        best = best_of(scores, limit) if asks else list(scores)[:limit]
        return [Hit(widget=widgets[tool], score=scores[tool]) for tool in best], len(scores)

    async def search(
        self, caller: Caller, query: str, limit: int, *, tags: Collection[str] = ()
    ) -> tuple[list[Hit], int]:
        snapshot, audience = caller.snapshot, caller.principal.audience
        # The first search of an audience reads the words of all widgets, beside the event loop.
        if len(snapshot.widgets) > MANY and audience not in self._indices:
            index = await SYSTEM.threads.run_blocking(
                SearchIndex(_texts).following, snapshot.widgets
            )
            self._indices.keep(audience, index)
        return self.find(snapshot, query, limit, tags=tags, audience=audience)

    async def explain_unknown(self, name: str, caller: Caller) -> CallError:
        hits, _ = await self.search(caller, name.replace("_", " "), 1)
        similar = hits[0].widget.tool if hits else ""
        return unknown_widget(name, caller.snapshot.widgets, similar=similar)

    def best_text(self, snapshot: Snapshot, query: str, tool: str) -> str:
        return self._indices.of(None).following(snapshot.widgets).best_text(query, tool)


def _texts(widget: Widget) -> Iterator[tuple[int, str]]:
    definition = widget.definition
    # A card is what most widgets are, and what people pay with.
    yield 4, _KIND.sub(" ", f"{definition.tool} {definition.title}")
    yield 4, " ".join(definition.sidecar.keywords)
    yield 3, " ".join(definition.tags)
    for clause in _CLAUSE.split(definition.description):
        if not _ELSEWHERE.search(clause):
            yield 2, clause
    yield 1, " ".join(_fields(widget.input_schema, DEEPEST))


def _fields(schema: Mapping[str, Any], levels: int) -> Iterator[str]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, part in properties.items():
            yield name
            if levels > 1 and isinstance(part, Mapping):
                yield from _fields(part, levels - 1)
    yield from (value for value in schema.get("enum", ()) if isinstance(value, str))
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield from _fields(items, levels)
