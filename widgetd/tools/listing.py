"""A snapshot becomes the answer to `tools/list`: once per generation, not per request.

The cursor is the last name of the page before, so that pages go on where they
stopped, whatever was swapped in between and whichever replica answers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import orjson

from widgetd.catalog.change import Change
from widgetd.catalog.snapshot import Snapshot
from widgetd.tools.tool import Era, ListedTool, Toolbox
from widgetd.widget.compiled import Widget

Expose = Literal["tools", "search", "auto"]

SEARCH_ABOVE = 128
"""More tools than this drown a model, so `--expose auto` lists the standing tools alone."""

MOST_KEPT = 16
"""More audiences than these have their list made anew, each time another one asks."""

PINNED = "pinned"
"""The tag that keeps a widget listed where others are only found by search."""


class Listing:
    """What is listed of one snapshot, in the order of names.

    Args:
        standing: The tools that are always there, by name.
        widgets: The listed widgets, by tool name.
        toolbox: Where a widget's tool is.
        page_size: How many stand on one page; 0 for all.
    """

    def __init__(
        self,
        standing: Mapping[str, ListedTool],
        widgets: Mapping[str, Widget],
        toolbox: Toolbox,
        page_size: int,
    ) -> None:
        self._standing = standing
        self._widgets = widgets
        self._toolbox = toolbox
        self._names = sorted([*standing, *widgets])
        self._page_size = page_size or max(len(self._names), 1)
        self._pages: dict[tuple[Era, int], dict[str, Any]] = {}
        self._ready: dict[int, bytes] = {}

    def tools(self) -> Iterator[ListedTool]:
        """The listed tools."""
        for name in self._names:
            yield self._standing.get(name) or self._toolbox.of(self._widgets[name])

    def page(self, era: Era, after: str = "") -> dict[str, Any]:
        """One page: `{"tools": [...], "nextCursor": "..."}`, the cursor only where more follows.

        Args:
            era: Whose dialect the entries are written in.
            after: The cursor, a tool's name; empty for the first page.
        """
        start = bisect_right(self._names, after)
        page = self._pages.get((era, start))
        if page is None:
            page = self._page(era, start, orjson.loads)
            if self._is_regular(start):
                self._pages[era, start] = page
        return page

    def ready(self, after: str, envelope: Mapping[str, Any]) -> bytes:
        """One page for a modern client, with `envelope` around it, as JSON."""
        start = bisect_right(self._names, after)
        ready = self._ready.get(start)
        if ready is None:
            ready = orjson.dumps({**self._page("modern", start, orjson.Fragment), **envelope})
            if self._is_regular(start):
                self._ready[start] = ready
        return ready

    def _is_regular(self, start: int) -> bool:
        """Whether to keep the page from `start` on: a caller may send any cursor, and as many."""
        return start % self._page_size == 0

    def _page(self, era: Era, start: int, read: Callable[[bytes], Any]) -> dict[str, Any]:
        names = self._names[start : start + self._page_size]
        page: dict[str, Any] = {"tools": [read(self._entry(name, era)) for name in names]}
        if names and start + len(names) < len(self._names):
            page["nextCursor"] = names[-1]
        return page

    def _entry(self, name: str, era: Era) -> bytes:
        if name in self._standing:
            return self._standing[name].entry(era)
        return self._toolbox.entry(self._widgets[name], era)


class Listings:
    """The listing of the snapshot asked for; those of one generation are kept, one per audience.

    Args:
        toolbox: Where a widget's tool is.
        standing: The tools that are always there.
        expose: Whether every widget is listed, or the pinned ones; `auto` decides by the number
            of widgets in the first snapshot that is listed, and stays with it.
        page_size: How many tools stand on one page; 0 for all.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        standing: Sequence[ListedTool],
        *,
        expose: Expose = "auto",
        page_size: int = 0,
    ) -> None:
        self._toolbox = toolbox
        self._standing = {tool.name: tool for tool in standing}
        self._expose = expose
        self._page_size = page_size
        self._generation = ""
        self._kept: OrderedDict[int, tuple[Snapshot, Listing]] = OrderedDict()

    def of(self, snapshot: Snapshot) -> Listing:
        """What is listed of `snapshot`."""
        if self._generation != snapshot.generation:
            self._generation = snapshot.generation
            self._kept.clear()
        if id(snapshot) not in self._kept:
            self._kept[id(snapshot)] = snapshot, self._make(snapshot)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return self._kept[id(snapshot)][1]

    def read_otherwise(self, before: Snapshot, after: Snapshot, change: Change) -> bool:
        """Whether clients that know `before` should fetch the list again.

        A widget that came or went is announced though it is not listed: search finds it.
        """
        if change.added or change.removed:
            return True
        everything = self._lists_everything(after)
        was, now = before.widgets, after.widgets
        return any(everything or _is_pinned(now[tool]) for tool in change.relisted) or any(
            not everything and _is_pinned(was[tool]) != _is_pinned(now[tool])
            for tool in change.changed
        )

    def _lists_everything(self, snapshot: Snapshot) -> bool:
        if self._expose == "auto":
            self._expose = "search" if len(snapshot.widgets) > SEARCH_ABOVE else "tools"
        return self._expose == "tools"

    def _make(self, snapshot: Snapshot) -> Listing:
        widgets = snapshot.widgets
        if not self._lists_everything(snapshot):
            widgets = {name: widget for name, widget in widgets.items() if _is_pinned(widget)}
        return Listing(self._standing, widgets, self._toolbox, self._page_size)


def _is_pinned(widget: Widget) -> bool:
    return PINNED in widget.definition.tags
