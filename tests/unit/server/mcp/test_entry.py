"""Entries of tools in lists: built without the SDK, equal to the SDK's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from fastmcp.tools.base import Tool
from mcp_types.methods import serialize_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from tests.support.widgets import build_widget, bundled_widgets
from widgetd.base.errors import CallError, WidgetError
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.builtin import CORE_TOOLS
from widgetd.server.mcp.provider import WidgetProvider
from widgetd.server.mcp.resources import Resources
from widgetd.server.mcp.server import ServerOptions
from widgetd.server.render.entry import tool_entry
from widgetd.server.store.factory import local_store

ENVELOPES: Mapping[str, Mapping[str, Any]] = {
    LATEST_HANDSHAKE_VERSION: {},
    LATEST_MODERN_VERSION: {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"},
}

SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "every kind of keyword": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "who": {"$ref": "#/$defs/name"},
            "more": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "any": True,
        },
        "required": ["who"],
        "$defs": {"name": {"type": "string", "minLength": 1}},
        "x-of-the-author": [1, 2.5, {"a": None}],
    },
    "a null at the root": {"type": "object", "default": None, "properties": {"who": {}}},
    "no type": {"properties": {"who": {"type": "string"}}},
    "another draft": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"who": {"type": "number", "minimum": 1, "exclusiveMinimum": True}},
    },
    "a header": {
        "type": "object",
        "properties": {"who": {"type": "string", "x-mcp-header": "Who"}},
    },
}


def provider() -> WidgetProvider:
    options = ServerOptions(resources=Resources("<html></html>"))
    return WidgetProvider(build(Registry(), local_store(), options), None)


def tool_of(widget: Widget) -> Tool:
    return provider().tool_of_widget(widget)


def listed_entry(tool: Tool, version: str) -> dict[str, Any]:
    """Return the tool's entry in a list as the SDK sends it."""
    listed = tool.to_mcp_tool(name=tool.name).model_dump(
        by_alias=True, mode="json", exclude_none=True
    )
    answer = serialize_server_result(
        "tools/list", version, {"tools": [listed], **ENVELOPES[version]}
    )
    entry: dict[str, Any] = answer["tools"][0]
    return entry


@pytest.mark.parametrize("version", ENVELOPES)
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_entry_equals_the_sdks_in_both_eras(version: str, schema: Mapping[str, Any]) -> None:
    widget = build_widget(schema=schema, sidecar='title = "A greeting"')

    assert orjson.loads(tool_entry(widget, has_view=True)) == listed_entry(tool_of(widget), version)


def test_entry_of_a_widget_filled_by_another_server_is_the_sdks_own() -> None:
    widget = build_widget(sidecar='[feed]\nupstream = "it"\ntool = "get"\nask = ["who"]\n')
    listed = listed_entry(tool_of(widget), LATEST_MODERN_VERSION)

    assert orjson.loads(tool_entry(widget, has_view=True))["annotations"] == listed["annotations"]
    assert listed["annotations"]["openWorldHint"]


@pytest.mark.parametrize("version", ENVELOPES)
def test_entries_of_all_bundled_widgets_equal_the_sdks(version: str) -> None:
    for widget in bundled_widgets():
        assert orjson.loads(tool_entry(widget, has_view=True)) == listed_entry(
            tool_of(widget), version
        )


@pytest.mark.parametrize("version", ENVELOPES)
def test_entries_of_the_builtin_tools_equal_the_sdks(version: str) -> None:
    for tool in CORE_TOOLS:
        assert orjson.loads(tool.entry()) == listed_entry(provider().tool_of_builtin(tool), version)


def test_title_of_invisible_characters_is_derived_from_the_name() -> None:
    widget = build_widget("Hotel room", sidecar='title = "\\u200b"')

    assert orjson.loads(tool_entry(widget))["title"] == "Hotel Room"
    assert listed_entry(tool_of(widget), LATEST_MODERN_VERSION)["title"] == "Hotel Room"


@pytest.mark.parametrize("version", ENVELOPES)
def test_entry_invalid_for_the_sdk_is_refused(version: str) -> None:
    widget = build_widget(schema={"type": ["object"], "properties": {"who": {}}})

    with pytest.raises(ValidationError) as theirs:
        listed_entry(tool_of(widget), version)
    with pytest.raises(WidgetError) as ours:
        tool_entry(widget)

    place = ".".join(str(part) for part in theirs.value.errors()[0]["loc"])
    assert str(ours.value) == (
        "Greeting.widget#/jsonSchema: the schema cannot be sent in a tool list: MCP does not allow "
        f"it at {place}; describe the arguments as an object with properties"
    )


def test_unlisted_formats_are_still_enforced() -> None:
    schema = {
        "type": "object",
        "properties": {
            "format": {"type": "string", "format": "date"},
            "days": {"type": "array", "items": {"anyOf": [{"format": "date"}, {"type": "null"}]}},
        },
        "default": {"format": "2026-01-02"},
    }
    widget = build_widget(schema=schema)

    listed = orjson.loads(tool_entry(widget, formats=False))["inputSchema"]

    assert listed == {
        "type": "object",
        "properties": {
            "format": {"type": "string"},
            "days": {"type": "array", "items": {"anyOf": [{}, {"type": "null"}]}},
        },
        "default": {"format": "2026-01-02"},
    }
    with pytest.raises(CallError, match="format: expected a date"):
        widget.check({"format": "someday"})
