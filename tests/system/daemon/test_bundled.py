"""The bundled widgets as clients meet them: every state of each, called over a real connection."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from mcp import MCPError
from mcp_types import (
    RequestParamsMeta,
    ResourceTemplateReference,
    TextResourceContents,
)

import widgetd
from tests.support.clients import Era, connect_client
from tests.support.daemons import serving
from tests.support.widgets import bundled_widgets
from tests.unit.core.schema.schemas import with_nulls
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.widget import Widget
from widgetd.server.render.mock import MockState, mocks

STATES: tuple[MockState, ...] = ("sample", "empty", "one", "many", "long")

SPLIT = cast("RequestParamsMeta", {"widgetd/profile": "split"})

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


@pytest.fixture(scope="module")
async def url() -> AsyncIterator[str]:
    """Serve the bundled widgets to all tests; none changes anything."""
    async with serving(bundled_folder()) as served:
        yield served


@pytest.fixture(scope="module")
def widgets() -> tuple[Widget, ...]:
    return bundled_widgets()


@pytest.fixture(scope="module")
def states(widgets: tuple[Widget, ...]) -> dict[str, list[dict[str, Any]]]:
    """Make each widget's arguments for the states that its schema admits."""
    return {
        widget.tool: [mocks(widget, state=state, seed=3)[0]["arguments"] for state in STATES]
        for widget in widgets
    }


async def test_every_state_of_every_widget_is_drawn_out_of_the_models_sight(
    url: str, widgets: tuple[Widget, ...], states: dict[str, list[dict[str, Any]]]
) -> None:
    async with connect_client(url, "modern") as client:
        for widget in widgets:
            for arguments in states[widget.tool]:
                result = await client.client.call_tool(widget.tool, arguments, meta=SPLIT)

                assert not result.is_error, (widget.tool, result.content)
                assert result.meta is not None
                tree = result.meta["widgetd/widget"]
                assert tree == widget.call(arguments).tree
                parts = json.dumps(tree).count('"children"')
                assert result.model_dump_json().count('"children"') == parts


@both_eras
async def test_every_widget_takes_null_for_optional_arguments_as_adapters_send_it(
    url: str, era: Era, widgets: tuple[Widget, ...]
) -> None:
    """CrewAI and mcp-use's adapter send every declared property, with null for what is not said."""
    async with connect_client(url, era) as client:
        for widget in widgets:
            schema = widget.definition.schema
            least = widget.schema.sample(state="required")
            assert schema is not None
            assert least is not None
            arguments = with_nulls(schema, least, everywhere=True)
            assert None in arguments.values()

            result = await client.client.call_tool(widget.tool, arguments, meta=SPLIT)

            assert not result.is_error, (widget.tool, result.content)
            assert result.meta is not None
            assert result.meta["widgetd/render"]["mended"]


async def test_mocked_call_equals_a_call_except_for_its_id_and_time(
    url: str, widgets: tuple[Widget, ...]
) -> None:
    async with connect_client(url, "modern") as client:
        for widget in widgets:
            (call,) = mocks(widget, profile="split", seed=5)
            called = await client.client.call_tool(widget.tool, call["arguments"], meta=SPLIT)

            mocked = widgetd.response(call["result"])
            response = widgetd.response(called)
            assert isinstance(mocked, widgetd.Shown)
            assert isinstance(response, widgetd.Shown)
            assert called.structured_content is not None
            assert mocked.tree == response.tree
            assert mocked.ui == response.ui
            assert mocked.render.digest == response.render.digest
            assert mocked.facts is not None
            assert mocked.facts.wire().keys() == called.structured_content.keys()


@both_eras
async def test_every_listed_resource_can_be_read_and_every_tool_completed(
    url: str, era: Era, widgets: tuple[Widget, ...]
) -> None:
    async with connect_client(url, era) as client:
        listed = (await client.client.list_resources()).resources
        templates = (await client.client.list_resource_templates()).resource_templates
        for resource in listed:
            [content] = (await client.client.read_resource(resource.uri)).contents
            assert content.mime_type == resource.mime_type
            assert isinstance(content, TextResourceContents)
            assert content.text
        for template in templates:
            if "{tool}" in template.uri_template:
                uri = template.uri_template.replace("{tool}", "flight_tracker")
                assert (await client.client.read_resource(uri)).contents
        completed = await client.client.complete(
            ResourceTemplateReference(uri="widget://{tool}"), {"name": "tool", "value": "fl"}
        )
        with pytest.raises(MCPError):
            await client.client.read_resource("widget://flight_trakcer")

    assert {f"{widget.tool}_{part}" for widget in widgets for part in ("template", "encoded")} <= {
        resource.name for resource in listed
    }
    assert completed.completion.values == ["flight_tracker"]
