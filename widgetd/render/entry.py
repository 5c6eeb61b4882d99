"""A tool's entry in `tools/list`, as JSON: the same for legacy and for modern clients.

One bad entry would break the whole list, so a widget that cannot have one is not
served. Nothing of the SDK is needed for that, except where a schema asks clients to
repeat arguments in HTTP headers: the rules for those are the SDK's.

    Source: MCP specification, server/tools, "Tool"; MCP Apps 2026-01-26, "Tool metadata".
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any

import orjson

from widgetd.errors import Finding, WidgetError
from widgetd.limits import Limits
from widgetd.schema.document import without
from widgetd.widget.widget import Widget

READ_ONLY: Mapping[str, bool] = MappingProxyType(
    {
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
        "readOnlyHint": True,
    }
)
"""The annotations of a tool that changes nothing and reaches nothing, as rendering a widget is."""

FED: Mapping[str, bool] = MappingProxyType({**READ_ONLY, "openWorldHint": True})
"""The same of a widget that another server fills."""

ASSUMED = "json-schema.org/draft/2020-12/schema"
"""The draft by which a client reads a schema that names none, so that no list need name it.

Source: MCP specification 2025-11-25, basic, "JSON Schema Usage".
"""

CHARACTERS_OF_A_TOKEN = 4
"""Of JSON; near enough to compare by."""

HEADER_ANNOTATION = b'"x-mcp-header"'
"""Stands in the JSON of a schema that asks clients to repeat an argument in an HTTP header."""


def entry(said: Mapping[str, Any]) -> bytes:
    """The entry of any tool: `{"name": ..., "title": ..., "inputSchema": {...}, ...}`."""
    schema = {key: value for key, value in said["inputSchema"].items() if value is not None}
    kept = {key: said[key] for key in sorted(said) if said[key] not in ({}, [])}
    listed = {**kept, "inputSchema": schema}
    # A copy, for what orjson hands over is as large as its buffer grew.
    return bytes(memoryview(orjson.dumps(listed, default=dict)))


def tokens_of_entry(entry: bytes) -> int:
    """What a tool costs a model in every turn: of its entry, the parts that hosts show to it."""
    said = orjson.loads(entry)
    shown = [said[part] for part in ("name", "title", "description", "inputSchema")]
    return len(orjson.dumps(shown)) // CHARACTERS_OF_A_TOKEN


def tool_entry(
    widget: Widget,
    *,
    has_view: bool = False,
    formats: bool = True,
    reserved: Container[str] = (),
) -> bytes:
    """The entry of a widget's tool.

    Args:
        widget: Which one.
        has_view: Whether the server has a page that draws results.
        formats: Whether the schema says each `format`; it is enforced all the same.
        reserved: The names of widgetd's own tools.

    Raises:
        WidgetError: A list with this entry could not be sent; every other widget would vanish
            with it (W1206). Or its name is taken (W1109).
    """
    definition = widget.definition
    if definition.tool in reserved:
        raise WidgetError(
            Finding(
                code="W1109",
                path=definition.path,
                at="/name",
                problem=f"the tool name '{definition.tool}' is one of widgetd's own",
                advice="give the widget another name",
            )
        )
    said = entry_fields(widget, has_view=has_view, formats=formats)
    schema = said["inputSchema"]
    made = entry({**said, "title": said["title"] or definition.tool.replace("_", " ").title()})
    if HEADER_ANNOTATION in made:
        # Late, because it costs a command half a second, and hardly a schema has one.
        from mcp.shared.inbound import find_invalid_x_mcp_header  # noqa: PLC0415 - see above

        if problem := find_invalid_x_mcp_header(schema):
            raise _unlistable(widget, f"its header annotation is not one ({problem})")
    if schema["type"] != "object":
        raise _unlistable(widget, "MCP does not allow it at tools.0.inputSchema.type")
    return made


def entry_fields(widget: Widget, *, has_view: bool = False, formats: bool = True) -> dict[str, Any]:
    """What a list says of a widget's tool, by its name there; empty for what it does not say.

    Clients need not read of its schema the draft, where it is the one that they assume, nor each
    `format` without `formats`.
    """
    definition, image, schema = widget.definition, widget.icon, widget.advertised
    if ASSUMED in str(schema.get("$schema")):
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    if not formats:
        schema = without(schema, frozenset({"format"}), Limits().json_depth)
    # The icon takes no room in a model's context.
    icon = {"mimeType": "image/svg+xml", "sizes": ["any"], "src": image}
    return {
        "name": definition.tool,
        "title": definition.title,
        "description": widget.description,
        "inputSchema": schema,
        "annotations": READ_ONLY if definition.sidecar.feed is None else FED,
        "icons": [icon] if image else [],
        "_meta": {"ui": {"resourceUri": view_uri(definition.tool)}} if has_view else {},
    }


def view_uri(tool: str) -> str:
    """Where the page is that draws this widget's results."""
    return f"ui://widgetd/{tool}.html"


def _unlistable(widget: Widget, problem: str) -> WidgetError:
    return WidgetError(
        Finding(
            code="W1206",
            path=widget.definition.path,
            at="/jsonSchema",
            problem=f"the schema cannot be sent in a tool list: {problem}",
            advice="describe the arguments as an object with properties",
        )
    )
