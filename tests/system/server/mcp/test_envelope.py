"""The `_meta` of results and of failed calls, over a real connection."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import pytest
from mcp_types import CallToolResult, RequestParamsMeta, TextContent, TextResourceContents

from tests.support.clients import Connection, connect_client
from tests.support.daemons import serving
from tests.support.widgets import widget_file

EVERYTHING = """
ui_type = "social-greeting"
title = "A greeting"
version = "1.2.0"
provider = "social"
priority = "high"
render_mode = "progressive"
preload = true
min_client_version = "1.5.0"
deprecated = true
migration_guide = "https://example.com/new"
cache = "session"
"""


@pytest.fixture
def envelope_folder(tmp_path: Path) -> Path:
    (tmp_path / "Plain.widget").write_text(widget_file("Plain"))
    (tmp_path / "Greeting.widget").write_text(widget_file())
    (tmp_path / "Greeting.widget.toml").write_text(EVERYTHING)
    (tmp_path / "Dividing.widget").write_text(
        widget_file("Dividing", template='{"type":"Card","children":[{{ 1 / (who | length) }}]}')
    )
    counted = {"type": "object", "properties": {"times": {"type": "integer"}}}
    plain = '{"type":"Card","children":[]}'
    rain = '{"type":"Card","children":[{"type":"Icon","name":"lucide:cloud-rain"}]}'
    (tmp_path / "Rain.widget").write_text(widget_file("Rain", template=rain))
    (tmp_path / "Counting.widget").write_text(
        widget_file("Counting", schema=counted, template=plain)
    )
    return tmp_path


@pytest.fixture(params=["legacy", "modern"])
async def envelope_client(
    envelope_folder: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Connection]:
    async with serving(envelope_folder) as url, connect_client(url, request.param) as connection:
        yield connection


def meta_of(result: CallToolResult) -> dict[str, Any]:
    """Return widgetd's entries of `_meta`."""
    return {key: value for key, value in (result.meta or {}).items() if key.startswith("widgetd/")}


async def test_widget_without_a_sidecar_has_a_default_description(
    envelope_client: Connection,
) -> None:
    meta = meta_of(await envelope_client.call("plain", who="Ada"))

    version = meta["widgetd/ui"]["uiMetadata"].pop("version")
    assert re.fullmatch(r"0\.0\.0\+[0-9a-f]{8}", version)
    assert meta["widgetd/ui"] == {
        "uiType": "plain",
        "uiMetadata": {"component": "Plain", "priority": "medium", "renderMode": "immediate"},
    }
    assert set(meta) == {"widgetd/ui", "widgetd/render"}
    assert set(meta["widgetd/render"]) == {"id", "widget", "generation", "digest", "ms"}
    assert meta["widgetd/render"]["widget"] == "plain"


async def test_envelope_has_the_sidecars_settings_of_the_view(envelope_client: Connection) -> None:
    result = await envelope_client.call("greeting", who="Ada")

    assert meta_of(result)["widgetd/ui"] == {
        "uiType": "social-greeting",
        "uiMetadata": {
            "component": "Greeting",
            "version": "1.2.0",
            "provider": "social",
            "priority": "high",
            "renderMode": "progressive",
            "minClientVersion": "1.5.0",
            "deprecated": True,
            "migrationGuide": "https://example.com/new",
            "cacheStrategy": "session",
            "preload": True,
        },
    }


async def test_lucide_icons_are_sent_with_their_shapes(envelope_client: Connection) -> None:
    for profile in ("chatkit", "split"):
        meta = cast("RequestParamsMeta", {"widgetd/profile": profile})
        result = await envelope_client.client.call_tool("rain", {"who": "Ada"}, meta=meta)
        tool_meta = meta_of(result)

        assert list(tool_meta["widgetd/icons"]) == ["lucide:cloud-rain"]
        assert tool_meta["widgetd/icons"]["lucide:cloud-rain"][1] == ["path", {"d": "M16 14v6"}]


async def test_priority_is_also_an_annotation_of_the_content(envelope_client: Connection) -> None:
    [high] = (await envelope_client.call("greeting", who="Ada")).content
    [medium] = (await envelope_client.call("plain", who="Ada")).content

    assert isinstance(high, TextContent)
    assert high.annotations is not None
    assert high.annotations.priority == 1.0
    assert isinstance(medium, TextContent)
    assert medium.annotations is not None
    assert medium.annotations.model_dump(exclude_none=True) == {"audience": ["assistant"]}
    assert high.annotations.audience == ["assistant"]


async def test_corrections_are_reported(envelope_client: Connection) -> None:
    result = await envelope_client.call("counting", times="3")

    assert not result.is_error
    assert meta_of(result)["widgetd/render"]["mended"] == [
        "times: a number in quotes was read as a number"
    ]


# A call that fails, and what there is to correct in it; None where calling again does not help.
FAILING: list[tuple[str, dict[str, Any], dict[str, Any], str | None]] = [
    ("nothing", {}, {}, "this"),
    ("nobody-knows", {}, {}, "this"),
    ("plain", {"who": True}, {}, "this"),
    ("plain", {"who": True, "whom": "Ada"}, {}, "these"),
    ("plain", {}, {}, "this"),
    ("dividing", {"who": ""}, {}, None),
    ("plain", {"who": "Ada"}, {"widgetd/profile": "all"}, None),
    ("greeting", {"who": "Ada"}, {"widgetd/clientVersion": "1.4.9"}, None),
    ("render_widget", {"name": "plian", "arguments": {}}, {}, "this"),
    ("render_widget", {"name": "plain", "arguments": {"who": True}}, {}, "this"),
    ("render_widget", {}, {}, "this"),
    ("show_render", {"render_id": "r_gone"}, {}, None),
    ("search_widgets", {"limit": 0}, {}, "this"),
    ("get_widget_details", {"names": True}, {}, "this"),
    ("await_widget_action", {"render_id": "r_gone", "timeout_s": -1}, {}, "this"),
    (
        "widget_action",
        {"render_id": "r_gone", "action": "a.b", "payload": {}, "idempotency_key": "k"},
        {},
        None,
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "meta", "correct"), FAILING)
async def test_every_failing_call_has_its_code_its_path_and_the_next_step(
    envelope_client: Connection,
    tool: str,
    arguments: dict[str, Any],
    meta: dict[str, Any],
    correct: str | None,
) -> None:
    result = await envelope_client.client.call_tool(
        tool, arguments, meta=cast("RequestParamsMeta", meta) or None
    )

    assert result.is_error
    assert set(meta_of(result)) == {"widgetd/error"}
    error = meta_of(result)["widgetd/error"]
    assert {"code", "message", "path", "recoverable", "suggestions"} <= set(error)
    assert set(error) <= {"code", "message", "path", "recoverable", "suggestions", "details"}
    [text] = result.content
    assert isinstance(text, TextContent)
    place = "" if error["message"].startswith(error["path"]) else f"{error['path']}: "
    retry = "yes" if error["recoverable"] else "no"
    what_next = f"retry: {retry}" if correct is None else f"correct {correct} and call again"
    assert text.text == f"[{error['code']}] {place}{error['message']} ({what_next})"


async def test_schema_of_the_envelope_admits_every_result(envelope_client: Connection) -> None:
    read = await envelope_client.client.read_resource("widgetd://schemas/result")
    [content] = read.contents
    assert isinstance(content, TextResourceContents)
    schema = jsonschema_rs.Draft202012Validator(json.loads(content.text))

    results = [
        await envelope_client.call("plain", who="Ada"),
        await envelope_client.call("greeting", who="Ada"),
        await envelope_client.call("counting", times="3"),
        await envelope_client.call("rain", who="Ada"),
        *[
            await envelope_client.client.call_tool(tool, arguments)
            for tool, arguments, *_ in FAILING
        ],
    ]

    for result in results:
        schema.validate(meta_of(result))
