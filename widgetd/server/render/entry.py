"""Entries of `tools/list` as JSON, equal for legacy and modern clients.

One invalid entry would break the whole list, so a widget without a valid entry is not served. The
SDK owns the rules for arguments in HTTP headers. It is loaded only for schemas with such arguments.

Source: MCP specification, server/tools, "Tool"; MCP Apps 2026-01-26, "Tool metadata".
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

import orjson

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.schema.document import drop_keywords
from widgetd.core.widget.widget import Widget

READ_ONLY: Mapping[str, bool] = MappingProxyType(
    {
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
        "readOnlyHint": True,
    }
)
"""Annotations of a tool without side effects, such as a widget."""

FED: Mapping[str, bool] = MappingProxyType({**READ_ONLY, "openWorldHint": True})
"""Annotations of a widget with data from an upstream."""

ASSUMED = "json-schema.org/draft/2020-12/schema"
"""The draft assumed by clients. Entries need not name it.

Source: MCP specification 2025-11-25, basic, "JSON Schema Usage".
"""

SHORTEST_GENEROUS = 60
"""The maximum length from which a text need not be told to be short."""

CHARACTERS_OF_A_TOKEN = 4
"""An estimate for JSON, good enough for comparisons."""

PARTS_FOR_MODELS = ("name", "title", "description", "inputSchema")
"""The fields of an entry for the model, in every turn."""

HEADER_ANNOTATION = b'"x-mcp-header"'
"""The key of a schema for repeating an argument in an HTTP header."""


def entry(fields: Mapping[str, Any]) -> bytes:
    """Encode a list entry: `{"name": ..., "title": ..., "inputSchema": {...}, ...}`."""
    schema = {key: value for key, value in fields["inputSchema"].items() if value is not None}
    present = {key: fields[key] for key in sorted(fields) if fields[key] not in ({}, [])}
    listed = {**present, "inputSchema": schema}
    # Copied, because orjson's result keeps its oversized buffer.
    return bytes(memoryview(orjson.dumps(listed, default=dict)))


def tokens_of_entry(entry: bytes) -> int:
    fields = orjson.loads(entry)
    return len(orjson.dumps([fields[part] for part in PARTS_FOR_MODELS])) // CHARACTERS_OF_A_TOKEN


def tool_entry(
    widget: Widget,
    *,
    has_view: bool = False,
    formats: bool = True,
    image_origins: Collection[str] = (),
    reserved: Container[str] = (),
) -> bytes:
    """Encode the list entry of a widget's tool.

    Args:
        widget: The widget.
        has_view: Whether the server has a page for results.
        formats: Whether the schema includes `format`. It is enforced in any case.
        image_origins: Origins of images for every page.
        reserved: The names of widgetd's own tools.

    Raises:
        WidgetError: A list with this entry would be invalid (W1206), or the name is reserved
            (W1109).
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
    fields = entry_fields(widget, has_view=has_view, formats=formats, image_origins=image_origins)
    schema, listed_entry = fields["inputSchema"], entry(fields)
    if HEADER_ANNOTATION in listed_entry:
        # Imported late: it costs a command half a second, and few schemas have headers.
        from mcp.shared.inbound import find_invalid_x_mcp_header  # noqa: PLC0415 - see above

        if problem := find_invalid_x_mcp_header(schema):
            raise _unlistable(widget, f"its header annotation is not one ({problem})")
    if schema["type"] != "object":
        raise _unlistable(widget, "MCP does not allow it at tools.0.inputSchema.type")
    return listed_entry


def entry_fields(
    widget: Widget,
    *,
    has_view: bool = False,
    formats: bool = True,
    image_origins: Collection[str] = (),
) -> dict[str, Any]:
    """Return the fields of a widget's list entry.

    The schema omits keywords that cost tokens and hardly help a model: `$schema` of the assumed
    draft, generous lengths of texts, and every `format` unless `formats` is set. Calls are held to
    all of them.
    """
    definition, image, schema = widget.definition, widget.icon, widget.input_schema
    if ASSUMED in str(schema.get("$schema")):
        schema = {key: value for key, value in schema.items() if key != "$schema"}

    def is_left_out(keyword: str, value: object) -> bool:
        return (
            (keyword == "minLength" and value == 1)
            or (keyword == "maxLength" and isinstance(value, int) and value >= SHORTEST_GENEROUS)
            or (keyword == "format" and not formats)
        )

    schema = drop_keywords(schema, is_left_out, Limits().json_depth)
    # Hosts do not show icons to the model, so the icon costs no tokens.
    icon = {"mimeType": "image/svg+xml", "sizes": ["any"], "src": image}
    return {
        "name": definition.tool,
        "title": definition.title or definition.tool.replace("_", " ").title(),
        "description": widget.description,
        "inputSchema": schema,
        "annotations": FED if definition.sidecar.feeds else READ_ONLY,
        "icons": [icon] if image else [],
        "_meta": page_meta(page_uri(widget, image_origins)) if has_view else {},
    }


def page_meta(uri: str) -> dict[str, Any]:
    """Return a tool's `_meta` with its page's URI, also under the flat key of older hosts.

    Source: MCP Apps 2026-01-26, "Tool metadata"; IBM/mcp-context-forge#5762.
    """
    return {"ui": {"resourceUri": uri}, "ui/resourceUri": uri}


def page_uri(widget: Widget, image_origins: Collection[str] = ()) -> str:
    """Return the URI of a widget's page. It differs with the page's policy."""
    # The digest covers the widget's own image origins, but not those of every page.
    digest = widget.page_digest
    if image_origins:
        policy = " ".join((digest, *sorted(image_origins)))
        digest = blake2b(policy.encode(), digest_size=len(digest) // 2).hexdigest()
    return view_uri(widget.tool, digest)


def view_uri(tool: str, page: str = "") -> str:
    """Return the URI of a widget's page, with its digest. Hosts cache pages by URI.

    Earlier releases used the URI without the digest. It is still answered.
    """
    return f"ui://widgetd/{tool}{page and f'.{page}'}.html"


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
