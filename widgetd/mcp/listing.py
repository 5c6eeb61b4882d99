"""A snapshot becomes the answer to `tools/list`: once per generation, not per request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Literal

from widgetd.catalog.change import Change
from widgetd.catalog.snapshot import Snapshot
from widgetd.mcp.paging import Kept, Pages
from widgetd.mcp.tool import WidgetdTool, WidgetTools
from widgetd.widget.widget import Widget

Expose = Literal["tools", "search", "auto"]

SEARCH_ABOVE = 128
"""More tools than this drown a model, so `--expose auto` lists the standing tools alone."""

PINNED = "pinned"
"""The tag that keeps a widget listed where others are only found by search."""


class Listings:
    """The listing of the snapshot asked for; those of one generation are kept, one per audience.

    Args:
        tools: The tool of each widget.
        admit: The entry of a widget that nobody has admitted yet.
        standing: The tools that are always there.
        expose: Whether every widget is listed, or the pinned ones; `auto` decides by the number
            of widgets in the first snapshot that is listed, and stays with it.
        page_size: How many tools stand on one page; 0 for all.
    """

    def __init__(
        self,
        tools: WidgetTools,
        admit: Callable[[Widget], bytes],
        standing: Sequence[WidgetdTool],
        *,
        expose: Expose = "auto",
        page_size: int = 0,
    ) -> None:
        self._tools = tools
        self._admit = admit
        self._standing = {tool.name: tool for tool in standing}
        self._expose = expose
        self._page_size = page_size
        self._kept: Kept[Pages] = Kept()

    def of(self, snapshot: Snapshot) -> Pages:
        """The list of `snapshot`."""
        return self._kept.of(snapshot) or self._kept.keep(snapshot, self._make(snapshot))

    def tools(self, snapshot: Snapshot) -> Iterator[WidgetdTool]:
        """The listed tools themselves."""
        yield from self._standing.values()
        yield from map(self._tools.of, self.shown(snapshot).values())

    def shown(self, snapshot: Snapshot) -> Mapping[str, Widget]:
        """The widgets of `snapshot` that are listed; the others are found by search."""
        if self._lists_everything(snapshot):
            return snapshot.widgets
        return {name: widget for name, widget in snapshot.widgets.items() if _is_pinned(widget)}

    def entry(self, widget: Widget) -> bytes:
        """How `widget` stands in a list, as JSON."""
        return widget.entry or self._admit(widget)

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
            # By what is served to anybody: whoever asks first may see only some of it.
            self._expose = "search" if len(snapshot.claims) > SEARCH_ABOVE else "tools"
        return self._expose == "tools"

    @cached_property
    def _always(self) -> Mapping[str, bytes]:
        """The entries of the standing tools, which never change."""
        return {name: tool.entry() for name, tool in self._standing.items()}

    def _make(self, snapshot: Snapshot) -> Pages:
        widgets = self.shown(snapshot)
        names = [*self._standing, *widgets]
        return Pages("tools", names, partial(self._entry, widgets), self._page_size)

    def _entry(self, widgets: Mapping[str, Widget], name: str) -> bytes:
        return self._always[name] if name in self._standing else self.entry(widgets[name])


def _is_pinned(widget: Widget) -> bool:
    return PINNED in widget.definition.tags
