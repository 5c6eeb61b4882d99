"""What can be read of widgets, besides calling them: widget -> resources.

    widget://flight_tracker            what it is, and what parts there are
    widget://flight_tracker/template   one part of it
    ui://widgetd/flight_tracker.html   the page that draws its results
    widgetd://renders/{id}             a render, as long as it is kept
    widgetd://ui-types                 every type of response that is served
    widgetd://schemas/result           the JSON Schema of a result's `_meta`

Each is read from the snapshot of the moment. A part that a widget lacks does
not exist: reading it is an error, not an empty answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from anyio import to_thread
from fastmcp.resources.base import Resource, ResourceContent, ResourceResult
from fastmcp.resources.template import ResourceTemplate
from pydantic import AnyUrl

from widgetd.catalog.snapshot import Snapshot
from widgetd.mcp.contents import (
    JSON,
    PARTS,
    SLOW,
    json_text,
    overview_text,
    render_text,
    ui_types_text,
)
from widgetd.mcp.entry import view_uri
from widgetd.mcp.envelope import envelope_schema
from widgetd.store.values import StoredRender
from widgetd.widget.origins import origins
from widgetd.widget.widget import Widget

VIEW = "text/html;profile=mcp-app"
"""Source: MCP Apps 2026-01-26, "UI Resource Format"."""

UI_TYPES = "widgetd://ui-types"
"""Every type of response that is served."""

_LISTED = ("template", "encoded")
_WIDGET = re.compile(r"widget://([a-z0-9_]+)(?:/([a-z]+))?")
_VIEW = re.compile(r"ui://widgetd/([a-z0-9_]+)\.html")


class Ready(Resource):
    """A resource whose content is known already."""

    content: str

    def __init__(self, uri: str, **fields: Any) -> None:
        super().__init__(uri=AnyUrl(uri), **fields)

    async def read(self) -> ResourceResult:
        """The content, with its type and metadata."""
        item = ResourceContent(self.content, mime_type=self.mime_type, meta=self.meta)
        return ResourceResult([item])

    def get_meta(self) -> dict[str, Any]:
        """Our own metadata, without the bookkeeping that FastMCP would add."""
        return self.meta or {}


class Sought(Resource):
    """A resource whose content takes long to find, and is found beside the event loop."""

    seek: Callable[[], str | None]

    async def read(self) -> ResourceResult:
        """The content, with its type."""
        content = await to_thread.run_sync(self.seek)
        return ResourceResult([ResourceContent(content or "", mime_type=self.mime_type)])


def uris(tool: str) -> tuple[str, ...]:
    """The URIs whose content a change of this widget may change."""
    return (_uri(tool), *(_uri(tool, part) for part in PARTS), view_uri(tool), UI_TYPES)


class Resources:
    """The resources of a snapshot.

    Args:
        view: The page that draws results; empty where there is none.
        image_origins: Origins that images may come from in every widget.
    """

    def __init__(self, view: str = "", image_origins: tuple[str, ...] = ()) -> None:
        self._view = view
        self._image_origins = image_origins

    @property
    def has_view(self) -> bool:
        """Whether there is a page that draws results."""
        return bool(self._view)

    def of_widget(self, widget: Widget, snapshot: Snapshot) -> Iterator[Resource]:
        """The resources of one widget that a list names; the others are found by the templates."""
        for part in _LISTED:
            found = self._part(widget, part, snapshot)
            if found is not None:
                yield found
        if self._view:
            yield self._page(widget.tool, widget)

    def of_all(self, snapshot: Snapshot) -> Iterator[Resource]:
        """The resources that belong to no widget."""
        yield _ui_types(snapshot)
        yield _envelope()

    def templates(self) -> tuple[ResourceTemplate, ...]:
        """Where everything else is, with `{tool}` to be filled in."""
        return (
            _template("widget", "widget://{tool}", "What a widget is, and what parts there are."),
            *(
                _template(f"widget_{part}", f"widget://{{tool}}/{part}", f"A widget's {part}.")
                for part in PARTS
            ),
            _template("render", "widgetd://renders/{id}", "A render, as long as it is kept."),
        )

    def find(self, uri: str, snapshot: Snapshot) -> Resource | None:
        """The resource at `uri`, renders excepted; None if there is none."""
        if uri == UI_TYPES:
            return _ui_types(snapshot)
        if uri == "widgetd://schemas/result":
            return _envelope()
        if (match := _WIDGET.fullmatch(uri)) and match[1] in snapshot.widgets:
            widget = snapshot.widgets[match[1]]
            return self._part(widget, match[2], snapshot) if match[2] else _overview(widget)
        if (match := _VIEW.fullmatch(uri)) and match[1] in snapshot.widgets and self._view:
            return self._page(match[1], snapshot.widgets[match[1]])
        return None

    def _part(self, widget: Widget, part: str, snapshot: Snapshot) -> Resource | None:
        if part not in PARTS:
            return None
        mime_type, read = PARTS[part]
        told: dict[str, Any] = {
            "uri": _uri(widget.tool, part),
            "name": f"{widget.tool}_{part}",
            "title": f"{widget.definition.title}: {part}",
            "mime_type": mime_type,
        }
        if part == SLOW:
            return Sought(**told, seek=partial(read, widget, snapshot))
        content = read(widget, snapshot)
        return None if content is None else Ready(**told, content=content)

    def _page(self, tool: str, widget: Widget) -> Resource:
        allowed = sorted({*origins(widget.definition.template), *self._image_origins})
        csp = {"connectDomains": [], "resourceDomains": allowed}
        return Ready(
            view_uri(tool),
            name=f"{tool}_page",
            title=f"{widget.definition.title}: page",
            mime_type=VIEW,
            content=self._view,
            meta={"ui": {"csp": csp, "prefersBorder": False}},
        )


def render_resource(uri: str, render: StoredRender) -> Resource:
    """A render that is kept."""
    return _ready(uri, render.id, render_text(render))


def _ready(uri: str, name: str, content: str, **more: Any) -> Resource:
    return Ready(uri, name=name, mime_type=JSON, content=content, **more)


def _overview(widget: Widget) -> Resource:
    parts = [_uri(widget.tool, part) for part in PARTS]
    text = overview_text(widget, parts)
    return _ready(_uri(widget.tool), widget.tool, text, title=widget.definition.title)


def _ui_types(snapshot: Snapshot) -> Resource:
    return _ready(UI_TYPES, "ui_types", ui_types_text(snapshot))


def _envelope() -> Resource:
    return _ready("widgetd://schemas/result", "result_schema", json_text(envelope_schema()))


def _template(name: str, uri_template: str, description: str) -> ResourceTemplate:
    variable = "id" if "{id}" in uri_template else "tool"
    return ResourceTemplate(
        name=name,
        uri_template=uri_template,
        description=description,
        mime_type=JSON,
        parameters={
            "type": "object",
            "properties": {variable: {"type": "string"}},
            "required": [variable],
        },
    )


def _uri(tool: str, part: str = "") -> str:
    return f"widget://{tool}/{part}" if part else f"widget://{tool}"
