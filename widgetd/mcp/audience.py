"""A snapshot as some audience sees it: what they may not see is not there.

Lists, searches, calls and resources take a snapshot and ask no more, so nothing
else has to know that widgets can be hidden.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from widgetd.catalog.selection import EVERYTHING
from widgetd.catalog.snapshot import Entry, Snapshot
from widgetd.mcp.principal import Audience


class Views:
    """The views of the two snapshots asked for last, each made once.

    Two, because whoever tells what changed asks for what was served before, too.
    """

    def __init__(self) -> None:
        self._made: tuple[tuple[Snapshot, dict[Audience, Snapshot]], ...] = ()

    def of(self, snapshot: Snapshot, audience: Audience) -> Snapshot:
        """`snapshot` without what `audience` may not see; itself if nothing is hidden from them."""
        if audience.sees_everything:
            return snapshot
        views = self._of(snapshot)
        if audience not in views:
            views[audience] = _view(snapshot, audience)
        return views[audience]

    def _of(self, snapshot: Snapshot) -> dict[Audience, Snapshot]:
        for whole, views in self._made:
            if whole is snapshot:
                return views
        made: dict[Audience, Snapshot] = {}
        self._made = (*self._made[-1:], (snapshot, made))
        return made


def _view(snapshot: Snapshot, audience: Audience) -> Snapshot:
    seen = {tool: widget for tool, widget in snapshot.widgets.items() if audience.sees(widget)}
    told = {
        path: fault
        for path, fault in snapshot.faults.items()
        if _is_told(snapshot, snapshot.entries[path], audience)
    }
    if len(seen) == len(snapshot.widgets) and len(told) == len(snapshot.faults):
        return snapshot
    return replace(snapshot, widgets=MappingProxyType(seen), faults=MappingProxyType(told))


def _is_told(snapshot: Snapshot, entry: Entry, audience: Audience) -> bool:
    """Whether `audience` may hear of a file's fault, which may name the file that it collides with.

    Of a file that was never good nobody knows the tags, nor what its sidecar permits.
    """
    if entry.widget is None:
        return audience.selection == EVERYTHING and not entry.may_have_sidecar
    owner = snapshot.widgets.get(entry.widget.tool, entry.widget)
    return audience.sees(entry.widget) and audience.sees(owner)
