"""The parts of the gallery, made once and read by every page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from widgetd.catalog.loader import Load
from widgetd.catalog.snapshot import Snapshot
from widgetd.mcp.search import Search
from widgetd.mcp.server import Server
from widgetd.web.gallery.history import History
from widgetd.web.gallery.problems import Problems
from widgetd.widget.widget import Widget


def mark_of(snapshot: Snapshot) -> str:
    """Another one for each snapshot that looks otherwise: what is served, and what is broken."""
    return f"{snapshot.generation}.{snapshot.files}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """What the pages show, and what they may do.

    Attributes:
        server: Whose widgets are shown.
        folder: The widgets folder.
        upload: Whether files may be put into it.
        load: Makes the widgets of files that are put there.
        url: Where MCP clients connect.
        image_origins: Origins that images may come from in every widget.
        stop: Ends the streams.
        problems: What can be said against the widgets.
        history: What each widget was before.
        search: Finds widgets by what they are for.
    """

    server: Server
    folder: Path
    upload: bool
    load: Load
    url: str
    image_origins: tuple[str, ...]
    stop: anyio.Event
    problems: Problems
    history: History = field(default_factory=History)
    search: Search = field(default_factory=Search)

    @property
    def snapshot(self) -> Snapshot:
        """What is being served; take it once per request."""
        return self.server.rendering.caller.snapshot

    @property
    def mark(self) -> str:
        """Another one for each snapshot that looks otherwise."""
        return mark_of(self.snapshot)

    def view(self) -> Callable[[Snapshot], Snapshot]:
        """What whoever asks may see of any snapshot."""
        audience = self.server.rendering.caller.principal.audience
        return lambda snapshot: self.server.views.of(snapshot, audience)

    def neighbours(self, widget: Widget) -> tuple[str, str]:
        """The tools before and after `widget` in the index; itself at the ends."""
        tools = tuple(self.snapshot.widgets)
        at = tools.index(widget.tool) if widget.tool in tools else 0
        return tools[max(at - 1, 0)], tools[min(at + 1, len(tools) - 1)]
