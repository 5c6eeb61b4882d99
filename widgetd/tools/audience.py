"""A snapshot as some audience sees it: what they may not see is not there.

Lists, searches, calls and resources take a snapshot and ask no more, so nothing
else has to know that widgets can be hidden.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from widgetd.catalog.snapshot import Snapshot
from widgetd.tools.principal import Audience


class Views:
    """The views of the snapshot asked for last; each is made once."""

    def __init__(self) -> None:
        self._whole: Snapshot | None = None
        self._views: dict[Audience, Snapshot] = {}

    def of(self, snapshot: Snapshot, audience: Audience) -> Snapshot:
        """`snapshot` without what `audience` may not see; itself if they may see everything."""
        if self._whole is not snapshot:
            self._whole, self._views = snapshot, {}
        if audience not in self._views:
            self._views[audience] = _view(snapshot, audience)
        return self._views[audience]


def _view(snapshot: Snapshot, audience: Audience) -> Snapshot:
    seen = {tool: widget for tool, widget in snapshot.widgets.items() if audience.sees(widget)}
    if len(seen) == len(snapshot.widgets):
        return snapshot
    return replace(snapshot, widgets=MappingProxyType(seen))
