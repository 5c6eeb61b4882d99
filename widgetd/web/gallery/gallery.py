"""The parts of the gallery, made once and read by every page."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import orjson
from starlette.requests import Request

from widgetd.catalog.history import History
from widgetd.catalog.snapshot import Snapshot
from widgetd.catalog.uploads import Uploads
from widgetd.errors import CallError
from widgetd.mcp.server import Server
from widgetd.search.search import Search
from widgetd.web.gallery.problems import Problems
from widgetd.web.gallery.results import Tiles
from widgetd.web.page import RefusedError, caller_of
from widgetd.widget import states
from widgetd.widget.images import find_image_origins
from widgetd.widget.states import SAMPLE, ShownState, State
from widgetd.widget.widget import Widget

if TYPE_CHECKING:
    from widgetd.browser.camera import Camera


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """What the pages show, and what they may do.

    Attributes:
        uploads: Takes files into the folder; None where none may be put there.
        url: Where MCP clients connect.
        image_origins: Origins that images may come from in every widget.
        sample_images: Whether they may come from where a sample has them, too.
        stop: Ends the streams.
        built: Where the pages will stand that are built beforehand; None where a daemon answers.
    """

    server: Server
    folder: Path
    uploads: Uploads | None
    url: str
    image_origins: tuple[str, ...]
    sample_images: bool
    stop: anyio.Event
    problems: Problems
    history: History
    camera: Camera | None = None
    search: Search = field(default_factory=Search)
    tiles: Tiles = field(default_factory=Tiles)
    built: str | None = None

    def shown(self, widget: Widget, key: str) -> ShownState:
        """What is to be seen of `widget` in a state; which that is, is found out by drawing."""
        with self.server.rendering.journal.rendering(widget.key):
            return states.show_state(widget, key)

    def states(self, widget: Widget) -> tuple[State, ...]:
        """The states of `widget`, in the order in which people choose from them."""
        with self.server.rendering.journal.rendering(widget.key):
            return states.list_states(widget)

    def images(self, widget: Widget) -> list[str]:
        """The origins that images of `widget` may come from here."""
        allowed = {*widget.definition.image_origins, *self.image_origins}
        if self.sample_images:
            with suppress(CallError), self.server.rendering.journal.rendering(widget.key):
                tree = states.show_state(widget, SAMPLE).tree(widget)
                allowed |= find_image_origins(orjson.dumps(tree))
        return sorted(allowed)

    def layout(self, request: Request) -> dict[str, Any]:
        """What fills in what every page has around it."""
        theme = request.query_params.get("theme", "")
        return {
            "query": request.query_params,
            "theme": theme if theme in ("light", "dark") else "",
            "mark": mark_of(caller_of(request).snapshot),
            "built": self.built,
        }

    def widget(self, request: Request) -> Widget:
        """The widget that the address names; refused where there is none."""
        widgets, tool = caller_of(request).snapshot.widgets, request.path_params["tool"]
        if tool not in widgets:
            raise RefusedError(404, {"error": f"there is no widget '{tool}'"})
        return widgets[tool]


def mark_of(snapshot: Snapshot) -> str:
    """Another one for each snapshot that looks otherwise: what is served, and what is broken."""
    return f"{snapshot.generation}.{snapshot.files}"
