"""The MCP resources of widgets.

    widget://flight_tracker            an overview and its parts
    widget://flight_tracker/template   one part
    ui://widgetd/flight_tracker.3f5a8c2b9d01.html   its page, with the digest of its program
    widgetd://renders/{id}             a stored render
    widgetd://ui-types                 every type of response being served
    widgetd://schemas/result           the JSON Schema of a result's `_meta`

A missing part does not exist: reading it is an error, not an empty answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fastmcp.resources.base import Resource, ResourceContent, ResourceResult
from fastmcp.resources.template import ResourceTemplate
from orjson import Fragment
from pydantic import AnyUrl

from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern
from widgetd.core.widget.components.lucide import find_icons
from widgetd.core.widget.page_program import program_or_empty
from widgetd.core.widget.theme import Theme
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import with_prefix
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.mcp.builtin.table import BuiltinResource, ToolContext
from widgetd.server.render.entry import page_uri, view_uri
from widgetd.server.render.envelope import encode_render, envelope_schema
from widgetd.server.render.parts import JSON, PARTS, json_text
from widgetd.server.render.result import ui
from widgetd.server.render.view import page_of
from widgetd.server.store.contract import StoredRender

VIEW = "text/html;profile=mcp-app"
"""Source: MCP Apps 2026-01-26, "UI Resource Format"."""

UI_TYPES = "widgetd://ui-types"
RESULT_SCHEMA = "widgetd://schemas/result"

_WIDGET = compile_pattern(r"widget://([a-z0-9_]+)(?:/([a-z]+))?")
_VIEW = compile_pattern(r"ui://widgetd/([a-z0-9_]+)(?:\.[0-9a-f]+)?\.html")

_LISTED = ("template", "encoded")

_SLOW = "problems"
"""The part of every widget that renders it in every state."""


class ServedResource(Resource):
    """A resource of ours. Content from a function is made in a worker thread."""

    content: str | bytes | Callable[[], str]

    def __init__(self, uri: str, **fields: Any) -> None:
        super().__init__(uri=AnyUrl(uri), **fields)

    async def read(self) -> ResourceResult:
        content = self.content
        if callable(content):
            content = await SYSTEM.threads.run_blocking(content)
        item = ResourceContent(content, mime_type=self.mime_type, meta=self.meta)
        return ResourceResult([item])

    def get_meta(self) -> dict[str, Any]:
        return self.meta or {}


def resources_of(readable: Iterable[BuiltinResource]) -> Iterator[Resource]:
    for resource in readable:
        for uri in resource.listed_uris:
            value = resource.value_of(uri)
            yield ServedResource(
                uri,
                name=f"{resource.name}_{value}" if value else resource.name,
                title=value or None,
                description=resource.description,
                mime_type=resource.mime_type,
                content="",
            )


async def read_of_toolset(
    readable: Iterable[BuiltinResource], uri: str, context: ToolContext[None]
) -> Resource | None:
    for resource in readable:
        value = resource.value_of(uri)
        content = (
            None if value is None else await resource.read(context.of(resource.toolset), value)
        )
        if content is not None:
            mime_type = resource.mime_type_of(value or "")
            return ServedResource(uri, name=resource.name, mime_type=mime_type, content=content)
    return None


def uris(tool: str) -> tuple[str, ...]:
    # Without its page: a changed program has a page at another URI.
    return (_uri(tool), *(_uri(tool, part) for part in PARTS), view_uri(tool), UI_TYPES)


def _uri(tool: str, part: str = "") -> str:
    return f"widget://{tool}/{part}" if part else f"widget://{tool}"


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of snapshots.

    Attributes:
        view: The page for results. Empty for widgets without pages.
        image_origins: Origins of images for every widget.
    """

    view: str = ""
    image_origins: tuple[str, ...] = ()

    def of_widget(self, widget: Widget, snapshot: Snapshot) -> Iterator[Resource]:
        """Yield the listed resources of a widget. Templates lead to the others."""
        for part in _LISTED:
            resource = self._part(widget, part, snapshot)
            if resource is not None:
                yield resource
        if self.view:
            yield self._page(widget)

    def of_all(self, snapshot: Snapshot) -> Iterator[Resource]:
        types = [
            {
                "uiType": metadata.ui_type,
                "widget": tool,
                "component": metadata.ui_metadata.component,
                "version": metadata.ui_metadata.version,
                "deprecated": bool(metadata.ui_metadata.deprecated),
            }
            for tool, metadata in ((tool, ui(widget)) for tool, widget in snapshot.widgets.items())
        ]
        yield ServedResource(UI_TYPES, name="ui_types", mime_type=JSON, content=json_text(types))
        yield ServedResource(
            RESULT_SCHEMA,
            name="result_schema",
            mime_type=JSON,
            content=json_text(envelope_schema()),
        )

    def templates(self, readable: Iterable[BuiltinResource]) -> tuple[ResourceTemplate, ...]:
        return (
            *(
                _template(resource.name, resource.uri, resource.description, resource.mime_type)
                for resource in readable
                if resource.is_template
            ),
            _template("widget", "widget://{tool}", "What a widget is, and what parts there are."),
            *(
                _template(f"widget_{part}", f"widget://{{tool}}/{part}", f"A widget's {part}.")
                for part in PARTS
            ),
            _template("render", "widgetd://renders/{id}", "A render, as long as it is kept."),
        )

    def find(self, uri: str, snapshot: Snapshot, prefix: str = "") -> Resource | None:
        if uri in (UI_TYPES, RESULT_SCHEMA):
            return next(resource for resource in self.of_all(snapshot) if str(resource.uri) == uri)
        if (match := _WIDGET.fullmatch(uri)) and match[1] in snapshot.widgets:
            widget = snapshot.widgets[match[1]]
            return self._part(widget, match[2], snapshot) if match[2] else _overview(widget, prefix)
        if (match := _VIEW.fullmatch(uri)) and match[1] in snapshot.widgets and self.view:
            widget = snapshot.widgets[match[1]]
            return self._page(widget, page_of(self.view, program_or_empty(widget), snapshot.theme))
        return None

    def _part(self, widget: Widget, part: str, snapshot: Snapshot) -> Resource | None:
        if part not in PARTS:
            return None
        mime_type, read = PARTS[part]

        def render_part() -> str:
            return read(widget, snapshot, self.image_origins) or ""

        content = render_part if part == _SLOW else read(widget, snapshot, self.image_origins)
        if content is None:
            return None
        return ServedResource(
            _uri(widget.tool, part),
            name=f"{widget.tool}_{part}",
            title=f"{widget.definition.title}: {part}",
            mime_type=mime_type,
            content=content,
        )

    def _page(self, widget: Widget, content: str = "") -> Resource:
        allowed = sorted({*widget.definition.image_origins, *self.image_origins})
        csp = {"connectDomains": [], "resourceDomains": allowed}
        return ServedResource(
            page_uri(widget, self.image_origins),
            name=f"{widget.tool}_page",
            title=f"{widget.definition.title}: page",
            description=f"The page that draws results of {widget.tool}; for hosts, not for models.",
            mime_type=VIEW,
            content=content,
            meta={"ui": {"csp": csp, "prefersBorder": False}},
        )


def render_resource(uri: str, render: StoredRender, theme: Theme) -> Resource:
    """Return a render's newest version as `{"tree", "text", "data", "ui", "render", "icons"}`."""
    content = {
        "tree": Fragment(render.tree),
        "text": render.text,
        "data": Fragment(render.data),
        "ui": Fragment(render.ui),
        "render": Fragment(encode_render(render)),
        "icons": find_icons(render.tree),
        **({"palette": Fragment(theme.json)} if theme.json else {}),
    }
    return ServedResource(uri, name=render.id, mime_type=JSON, content=json_text(content))


def _overview(widget: Widget, prefix: str) -> Resource:
    definition = widget.definition
    content = {
        "name": widget.tool,
        "title": definition.title,
        "description": widget.description,
        "tags": definition.tags,
        "uiType": definition.ui_type,
        "digest": widget.key,
        "parts": [with_prefix(_uri(widget.tool, part), prefix) for part in PARTS],
    }
    return ServedResource(
        _uri(widget.tool),
        name=widget.tool,
        title=definition.title,
        mime_type=JSON,
        content=json_text(content),
    )


def _template(
    name: str, uri_template: str, description: str, mime_type: str = JSON
) -> ResourceTemplate:
    variable = uri_template.partition("{")[2].partition("}")[0]
    return ResourceTemplate(
        name=name,
        uri_template=uri_template,
        description=description,
        mime_type=mime_type,
        parameters={
            "type": "object",
            "properties": {variable: {"type": "string"}},
            "required": [variable],
        },
    )
