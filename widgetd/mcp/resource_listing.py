"""A snapshot becomes the answer to `resources/list`: once per generation, not per request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from weakref import WeakKeyDictionary

import orjson
from anyio import to_thread
from fastmcp.resources.base import Resource

from widgetd.catalog.snapshot import Snapshot
from widgetd.mcp.paging import Kept, Pages
from widgetd.mcp.resources import Resources
from widgetd.widget.widget import Widget

MANY = 100
"""The resources of so many widgets are made in a few milliseconds."""

Entries = Mapping[str, bytes]
"""How resources stand in a list, by URI."""


class Readable:
    """What a list of resources names: the parts of the widgets that a list of tools names.

    Args:
        resources: What can be read.
        shown: The widgets of a snapshot that are listed.
        page_size: How many resources stand on one page; 0 for all.
    """

    def __init__(
        self,
        resources: Resources,
        shown: Callable[[Snapshot], Mapping[str, Widget]],
        page_size: int,
    ) -> None:
        self._resources = resources
        self._shown = shown
        self._page_size = page_size
        self._kept: Kept[Pages] = Kept()
        self._made: WeakKeyDictionary[Widget, Entries] = WeakKeyDictionary()

    async def of(self, snapshot: Snapshot) -> Pages:
        """The list of `snapshot`; that of many new widgets is made beside the event loop."""
        pages = self._kept.of(snapshot)
        if pages is not None:
            return pages
        if len(snapshot.widgets) - len(self._made) > MANY:
            entries = await to_thread.run_sync(self._entries, snapshot)
        else:
            entries = self._entries(snapshot)
        return self._kept.keep(snapshot, self._pages(entries))

    def _pages(self, entries: Entries) -> Pages:
        return Pages("resources", entries, entries.__getitem__, self._page_size)

    def _entries(self, snapshot: Snapshot) -> Entries:
        entries: dict[str, bytes] = {}
        for widget in self._shown(snapshot).values():
            made = self._made.get(widget)
            if made is None:
                made = self._made[widget] = _said(self._resources.of_widget(widget, snapshot))
            entries.update(made)
        entries.update(_said(self._resources.of_all(snapshot)))
        return entries


def _said(resources: Iterable[Resource]) -> Entries:
    return {str(resource.uri): _entry(resource) for resource in resources}


def _entry(resource: Resource) -> bytes:
    wire = resource.to_mcp_resource(name=resource.name)
    said = wire.model_dump(by_alias=True, mode="json", exclude_none=True)
    return orjson.dumps({name: value for name, value in said.items() if value != {}})
