"""Build the answers to `tools/list` and `resources/list`, once per generation and audience.

The cursor is the last key of the previous page, so pagination continues at the same place after a
swap and on another replica.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal
from weakref import WeakKeyDictionary

import orjson
from fastmcp.resources.base import Resource

from widgetd.base.system import SYSTEM
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import MAX_AUDIENCES
from widgetd.server.catalog.change import Change
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.mcp.builtin.table import BuiltinResource, BuiltinTools
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.mcp.resources import Resources, resources_of
from widgetd.server.render.entry import HEADER_ANNOTATION, tokens_of_entry

Expose = Literal["tools", "search", "auto"]
AppTools = Literal["auto", "always"]

PINNED = "pinned"
"""The tag that keeps a widget listed in search mode."""


class Pages:
    """A paginated list with the field `name`, sorted by keys. Each key is a cursor."""

    def __init__(
        self, name: str, keys: Iterable[str], entry: Callable[[str], bytes], page_size: int
    ) -> None:
        self._name = name
        self._keys = sorted(keys)
        self._entry = entry
        self._page_size = page_size or max(len(self._keys), 1)
        self._encoded: dict[int, bytes] = {}

    def page(self, after: str = "") -> dict[str, Any]:
        page: dict[str, Any] = orjson.loads(self.encode(after))
        return page

    def encode(self, after: str = "") -> bytes:
        start = bisect_right(self._keys, after)
        encoded = self._encoded.get(start)
        if encoded is None:
            keys = self._keys[start : start + self._page_size]
            page: dict[str, Any] = {self._name: [orjson.Fragment(self._entry(key)) for key in keys]}
            if keys and start + len(keys) < len(self._keys):
                page["nextCursor"] = keys[-1]
            encoded = orjson.dumps(page)
            # Callers can send any number of cursors. Only our own are cached.
            if start % self._page_size == 0:
                self._encoded[start] = encoded
        return encoded


class GenerationCache:
    """Lists of the snapshots of a generation, by audience and `kind`."""

    def __init__(self) -> None:
        self._generation = ""
        self._made: OrderedDict[tuple[int, Hashable], tuple[Snapshot, Pages]] = OrderedDict()

    def get(self, snapshot: Snapshot, kind: Hashable) -> Pages | None:
        if self._generation != snapshot.generation:
            self._generation = snapshot.generation
            self._made.clear()
        _, pages = self._made.get((id(snapshot), kind), (None, None))
        return pages

    def put(self, snapshot: Snapshot, pages: Pages, kind: Hashable) -> Pages:
        self._made[id(snapshot), kind] = snapshot, pages
        if len(self._made) > MAX_AUDIENCES:
            self._made.popitem(last=False)
        return pages


class ToolListings:
    """The tool lists, by audience and set of visible built-in tools.

    With `auto`, the token cost of the first listed snapshot decides, once, whether all widgets are
    listed or only the pinned widgets.
    """

    def __init__(
        self,
        admit: Callable[[Widget], bytes],
        builtin: BuiltinTools,
        *,
        expose: Expose,
        list_tokens: int,
        page_size: int,
    ) -> None:
        self._admit = admit
        self._builtin = builtin
        self._expose = expose
        self._is_auto = expose == "auto"
        self._list_tokens = list_tokens
        self._page_size = page_size
        self._cache = GenerationCache()

    def of(self, snapshot: Snapshot, tools: frozenset[str] = frozenset()) -> Pages:
        """Return the list of `snapshot` with these built-in tools."""
        pages = self._cache.get(snapshot, tools)
        if pages is not None:
            return pages
        widgets, builtin = self.listed_widgets(snapshot), self._builtin.entries(tools)

        def entry(name: str) -> bytes:
            return builtin[name] if name in builtin else self.entry(widgets[name])

        pages = Pages("tools", (*builtin, *widgets), entry, self._page_size)
        return self._cache.put(snapshot, pages, tools)

    def listed_widgets(self, snapshot: Snapshot) -> Mapping[str, Widget]:
        if self._lists_everything(snapshot):
            return snapshot.widgets
        return {name: widget for name, widget in snapshot.widgets.items() if _is_pinned(widget)}

    def entry(self, widget: Widget) -> bytes:
        return widget.entry or self._admit(widget)

    def wants_headers(self, widget: Widget) -> bool:
        return HEADER_ANNOTATION in self.entry(widget)

    def has_changed(self, before: Snapshot, after: Snapshot, change: Change) -> bool:
        # Also announced if they are not listed: search finds them.
        if change.added or change.removed:
            return True
        if self._lists_everything(after):
            return bool(change.relisted)
        was, now = before.widgets, after.widgets
        return any(_is_pinned(now[tool]) for tool in change.relisted) or any(
            _is_pinned(was[tool]) != _is_pinned(now[tool]) for tool in change.changed
        )

    def _lists_everything(self, snapshot: Snapshot) -> bool:
        if self._expose == "auto":
            self._expose = "search" if self._exceeds(snapshot) else "tools"
        return self._expose == "tools"

    def _exceeds(self, snapshot: Snapshot) -> bool:
        # The first caller may see only some widgets, so all served widgets count.
        owners = (snapshot.entries[paths[0]].widget for paths in snapshot.claims.values())
        costs = (tokens_of_entry(self.entry(widget)) for widget in owners if widget)
        return any(cost > self._list_tokens for cost in accumulate(costs))

    def describe(self, snapshot: Snapshot) -> str:
        if not self._is_auto or self._expose == "tools":
            return ""
        if self._expose == "auto" and not self._exceeds(snapshot):
            return ""
        return (
            f"all widgets would cost a model more than {self._list_tokens:,} tokens (list_tokens), "
            "so lists have the pinned ones alone: a save changes no list, and clients that "
            "subscribe to widget://NAME are notified"
        )


def _is_pinned(widget: Widget) -> bool:
    return PINNED in widget.definition.tags


@dataclass(eq=False)
class ResourceListings:
    """The resource lists: parts of the listed widgets."""

    resources: Resources
    listed_widgets: Callable[[Snapshot], Mapping[str, Widget]]
    page_size: int
    _cache: GenerationCache = field(default_factory=GenerationCache)
    _made: WeakKeyDictionary[Widget, Mapping[str, bytes]] = field(default_factory=WeakKeyDictionary)

    async def of(self, snapshot: Snapshot, readable: Collection[BuiltinResource] = ()) -> Pages:
        """Return the list of `snapshot`. For many new widgets it is built in a worker thread."""
        kind = frozenset(resource.uri for resource in readable)
        pages = self._cache.get(snapshot, kind)
        if pages is not None:
            return pages
        if len(snapshot.widgets) - len(self._made) > LIMITS.threaded_resources:
            entries = await SYSTEM.threads.run_blocking(self._entries, snapshot)
        else:
            entries = self._entries(snapshot)
        entries = {**entries, **_by_uri(resources_of(readable))}
        pages = Pages("resources", entries, entries.__getitem__, self.page_size)
        return self._cache.put(snapshot, pages, kind)

    def _entries(self, snapshot: Snapshot) -> Mapping[str, bytes]:
        entries: dict[str, bytes] = {}
        for widget in self.listed_widgets(snapshot).values():
            value = self._made.get(widget)
            if value is None:
                value = self._made[widget] = _by_uri(self.resources.of_widget(widget, snapshot))
            entries.update(value)
        entries.update(_by_uri(self.resources.of_all(snapshot)))
        return entries


def _by_uri(resources: Iterable[Resource]) -> Mapping[str, bytes]:
    entries: dict[str, bytes] = {}
    for resource in resources:
        wire = resource.to_mcp_resource(name=resource.name)
        entry = wire.model_dump(by_alias=True, mode="json", exclude_none=True)
        fields = {name: value for name, value in entry.items() if value != {}}
        entries[str(resource.uri)] = orjson.dumps(fields)
    return entries
