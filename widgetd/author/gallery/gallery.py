"""The gallery: the value of its pages."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import orjson
from starlette.requests import Request

from widgetd.author.gallery.problems import Problems
from widgetd.author.gallery.results import Tiles
from widgetd.author.guide.drafts import Drafts
from widgetd.author.uploads.history import History
from widgetd.author.uploads.uploads import Uploads
from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM, FairThreads
from widgetd.core.widget.images import find_image_origins
from widgetd.core.widget.states import SAMPLE, show_state
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.mcp.server import Server
from widgetd.server.render.action_callers import DryRun
from widgetd.server.web.limits import LIMITS
from widgetd.server.web.page import RefusedError, caller_of

if TYPE_CHECKING:
    from widgetd.author.browser.camera import Camera

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """The services and settings of the gallery's pages.

    Attributes:
        uploads: Saves files in the folder, or None where uploads are not allowed.
        drafts: Checks what is typed in the editor.
        trials: The worker threads for drafts.
        url: The address of the MCP endpoint.
        image_origins: Allowed origins of every widget's images.
        sample_images: Allow the origins of images in samples, too.
        stop: Ends the streams.
        built: The path of a site of files, or None in a daemon.
        dry_run: Answers actions in place of upstreams: looking at a widget must not call them.
        clean: Whether pages show the widgets alone, and no sources.
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
    drafts: Drafts | None = None
    trials: FairThreads = field(
        default_factory=lambda: FairThreads(LIMITS.drafts_at_once, SYSTEM.threads)
    )
    tiles: Tiles = field(default_factory=Tiles)
    built: str | None = None
    dry_run: DryRun = field(default_factory=DryRun)
    clean: bool = False

    def file(self, widget: Widget) -> Path:
        return self.folder / widget.definition.path

    def images(self, widget: Widget) -> list[str]:
        allowed = {*widget.definition.image_origins, *self.image_origins}
        if self.sample_images:
            with suppress(CallError):
                tree = show_state(widget, SAMPLE).tree(widget)
                allowed |= find_image_origins(orjson.dumps(tree))
        return sorted(allowed)

    def layout(self, request: Request) -> dict[str, Any]:
        theme = request.query_params.get("theme", "")
        return {
            "query": request.query_params,
            "theme": theme if theme in ("light", "dark") else "",
            "mark": mark_of(caller_of(request).snapshot),
            "built": self.built,
            "clean": self.clean,
        }

    def widget(self, request: Request) -> Widget:
        widgets, tool = caller_of(request).snapshot.widgets, request.path_params["tool"]
        if tool not in widgets:
            raise RefusedError(404, {"error": f"there is no widget '{tool}'"})
        return widgets[tool]


def require(service: T | None) -> T:
    if service is None:
        raise RefusedError(404, {"error": "nothing may be saved here"})
    return service


def mark_of(snapshot: Snapshot) -> str:
    return f"{snapshot.generation}.{snapshot.files}"
