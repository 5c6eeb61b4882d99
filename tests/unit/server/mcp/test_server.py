"""Answers of an MCP server over a registry."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from mcp import Client
from mcp_types import CallToolResult, RequestParamsMeta

from tests.support.widgets import build_widget, greeting, snapshot_of
from widgetd.base.errors import ConfigError, Finding, WidgetError
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.render.entry import tool_entry
from widgetd.server.render.result import Policy
from widgetd.server.store.factory import local_store

TABLE = {"type": "object", "properties": {"rows": {"type": "array"}}}


pytestmark = pytest.mark.serves(
    build_widget("Flight Tracker", sidecar='description = "Show where a flight is."'),
    build_widget("Table", schema=TABLE, sidecar='description = "Show rows of numbers."'),
    build_widget(sidecar='description = "Greet somebody."\ntags = ["social"]'),
)


def first_text(result: CallToolResult) -> str:
    return result.content[0].text  # type: ignore[union-attr]  # all of ours are texts


def asking(profile: str) -> RequestParamsMeta:
    return cast("RequestParamsMeta", {"widgetd/profile": profile})


def of_version(version: object) -> RequestParamsMeta:
    return cast("RequestParamsMeta", {"widgetd/clientVersion": version})


def structured_content(result: CallToolResult) -> dict[str, Any]:
    content: dict[str, Any] | None = result.structured_content
    assert content is not None
    return content


async def test_call_answers_with_the_tree_and_its_render_id(
    client: Client, registry: Registry
) -> None:
    result = await client.call_tool("greeting", {"who": "Ada"})

    assert structured_content(result) == greeting("Hello", "Ada")
    assert first_text(result) == "Greeting: who Ada"
    assert result.meta is not None
    mark = result.meta["widgetd/render"]
    assert mark["widget"] == "greeting"
    assert mark["generation"] == registry.current.generation
    assert result.meta["widgetd/ui"]["uiType"] == "greeting"


async def test_invalid_arguments_are_an_error_that_the_model_can_read(client: Client) -> None:
    result = await client.call_tool("greeting", {"who": True, "how": "loud"})

    assert result.is_error
    assert first_text(result).startswith("[W2002] who: expected a string, got true")
    assert result.meta is not None
    assert result.meta["widgetd/error"]["code"] == "W2002"
    assert result.meta["widgetd/error"]["path"] == "who"


async def test_unknown_tool_is_an_error_with_the_nearest_name(client: Client) -> None:
    result = await client.call_tool("flight_traker", {})

    assert result.is_error
    assert first_text(result) == (
        "[W2001] name: there is no widget 'flight_traker'; "
        "did you mean 'flight_tracker'? (correct this and call again)"
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("x" * 10_000, {}),
        ("render_widget", {"name": "x" * 10_000}),
        ("show_render", {"render_id": "x" * 10_000}),
    ],
)
async def test_error_does_not_repeat_a_long_name(
    client: Client, tool: str, arguments: dict[str, str]
) -> None:
    result = await client.call_tool(tool, arguments)

    assert result.is_error
    assert len(first_text(result)) < 600


async def test_internal_failure_reveals_nothing_to_the_caller(
    client: Client, registry: Registry
) -> None:
    broken = build_widget()
    vars(broken)["drawing"] = None
    registry.swap(snapshot_of(broken))

    result = await client.call_tool("greeting", {"who": "Ada"})

    assert result.is_error
    assert first_text(result) == "Error calling tool 'greeting'"


async def test_search_finds_widgets_by_their_purpose(client: Client) -> None:
    result = structured_content(await client.call_tool("search_widgets", {"query": "flights"}))

    assert result["total"] == 1
    assert result["items"][0]["name"] == "flight_tracker"
    assert result["items"][0]["description"] == "Show where a flight is."


async def test_empty_search_names_every_widget(client: Client) -> None:
    result = structured_content(await client.call_tool("search_widgets", {"limit": 2}))

    assert [item["name"] for item in result["items"]] == ["flight_tracker", "greeting"]
    assert result["total"] == 3


@pytest.mark.parametrize(
    "names", [["greeting", "tabel"], '["greeting", "tabel"]', "greeting, tabel"]
)
async def test_details_accept_names_in_any_spelling(client: Client, names: object) -> None:
    details = structured_content(await client.call_tool("get_widget_details", {"names": names}))

    known, unknown = details["items"]
    assert (known["name"], known["status"]) == ("greeting", "ok")
    assert known["inputSchema"]["required"] == ["who"]
    assert known["example"].keys() == {"who"}
    assert unknown == {"name": "tabel", "status": "not_found", "suggestions": ["table"]}


@pytest.mark.parametrize("arguments", [{}, {"names": None}, {"names": ""}])
async def test_details_of_an_unknown_name_list_all_names(
    client: Client, registry: Registry, arguments: dict[str, Any]
) -> None:
    details = await client.call_tool("get_widget_details", arguments)
    named = [
        {"name": tool, "status": "ok", "title": one.definition.title}
        for tool, one in registry.current.widgets.items()
    ]

    assert named
    assert structured_content(details) == {"items": named}


async def test_details_name_the_parts_they_have_no_room_for(
    client: Client, registry: Registry
) -> None:
    names = [f"long_{number}" for number in range(5)]
    registry.swap(snapshot_of(*(build_widget(name, description="a" * 30_000) for name in names)))

    details = structured_content(await client.call_tool("get_widget_details", {"names": names}))
    rest = structured_content(
        await client.call_tool("get_widget_details", {"names": details["left"]})
    )

    assert [item["name"] for item in details["items"]] == names[:2]
    assert details["left"] == names[2:]
    assert len(json.dumps(details)) < 64 * 1024
    assert [item["name"] for item in rest["items"]] == names[2:4]


async def test_details_report_the_fault_of_a_stale_widget(
    client: Client, registry: Registry
) -> None:
    fault = Finding(code="W1301", path="Greeting.widget", problem="it broke", advice="mend it")
    registry.swap(snapshot_of(build_widget(), faults={"Greeting.widget": fault}))

    details = structured_content(
        await client.call_tool("get_widget_details", {"names": "greeting"})
    )

    assert details["items"][0]["problems"] == ["Greeting.widget: it broke; mend it"]


async def test_render_widget_is_the_same_as_calling_the_tool(client: Client) -> None:
    arguments = {"name": "greeting", "arguments": {"who": "Ada"}}
    direct = await client.call_tool("greeting", {"who": "Ada"})

    rendered = await client.call_tool("render_widget", arguments)

    assert structured_content(rendered) == structured_content(direct)


async def test_call_is_answered_from_the_snapshot_at_its_arrival(
    client: Client, registry: Registry
) -> None:
    before = registry.current
    registry.swap(snapshot_of(build_widget(text="Goodbye")))

    result = await client.call_tool("greeting", {"who": "Ada"})

    assert structured_content(result) == greeting("Goodbye", "Ada")
    assert result.meta is not None
    assert result.meta["widgetd/render"]["generation"] != before.generation


async def test_one_call_may_ask_for_its_own_profile(client: Client) -> None:
    result = await client.call_tool("greeting", {"who": "Ada"}, meta=asking("split"))

    assert structured_content(result) == {"uiType": "greeting", "summary": "Greeting: who Ada"}
    assert result.meta is not None
    assert result.meta["widgetd/widget"] == greeting("Hello", "Ada")


async def test_unknown_profile_is_refused(client: Client) -> None:
    result = await client.call_tool("greeting", {"who": "Ada"}, meta=asking("slit"))

    assert result.is_error
    assert first_text(result) == (
        '[W2006] _meta.widgetd/profile: expected "auto", "chatkit" or "split", '
        "got 'slit' (retry: no)"
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("greeting", {"who": "Ada"}),
        ("render_widget", {"name": "greeting", "arguments": {"who": "Ada"}}),
    ],
)
async def test_too_old_client_gets_the_required_version(
    client: Client, registry: Registry, tool: str, arguments: dict[str, Any]
) -> None:
    registry.swap(snapshot_of(build_widget(sidecar='min_client_version = "1.5.0"')))

    result = await client.call_tool(tool, arguments, meta=of_version("1.5.0-rc.1"))

    assert result.is_error
    assert first_text(result) == (
        "[W2010] _meta.widgetd/clientVersion: greeting needs a client of version 1.5.0 or later, "
        "got 1.5.0-rc.1 (retry: no)"
    )
    assert result.meta is not None
    assert result.meta["widgetd/error"] == {
        "code": "W2010",
        "message": "greeting needs a client of version 1.5.0 or later, got 1.5.0-rc.1",
        "path": "_meta.widgetd/clientVersion",
        "recoverable": False,
        "suggestions": ["update the client to 1.5.0 or later"],
    }


async def test_client_of_a_sufficient_or_unknown_version_is_served(
    client: Client, registry: Registry
) -> None:
    registry.swap(snapshot_of(build_widget(sidecar='min_client_version = "1.5.0"')))
    for meta in (None, of_version("1.5"), of_version("1.10.0+build.7"), of_version("2.0.0-a")):
        result = await client.call_tool("greeting", {"who": "Ada"}, meta=meta)

        assert structured_content(result) == greeting("Hello", "Ada")


async def test_client_too_old_for_a_widget_is_shown_no_render_of_it(
    client: Client, registry: Registry
) -> None:
    registry.swap(snapshot_of(build_widget(sidecar='min_client_version = "1.5.0"')))
    rendered = await client.call_tool("greeting", {"who": "Ada"})
    assert rendered.meta is not None
    render = {"render_id": rendered.meta["widgetd/render"]["id"]}

    result = await client.call_tool("show_render", render, meta=of_version("1"))

    assert first_text(result) == (
        "[W2010] _meta.widgetd/clientVersion: greeting needs a client of version 1.5.0 or later, "
        "got 1 (retry: no)"
    )


@pytest.mark.parametrize("version", ["new", 15, "1.5.0\n", "1" * 40])
async def test_invalid_client_version_is_refused_where_one_is_needed(
    client: Client, registry: Registry, version: object
) -> None:
    registry.swap(snapshot_of(build_widget(sidecar='min_client_version = "1.5.0"')))
    result = await client.call_tool("greeting", {"who": "Ada"}, meta=of_version(version))

    assert first_text(result) == (
        '[W2006] _meta.widgetd/clientVersion: expected a version, as in "1.5.0", '
        f"got {version!r} (retry: no)"
    )


async def test_text_json_mirrors_the_tree_for_old_clients(registry: Registry) -> None:
    mirrored = build(registry, local_store(), ServerOptions(policy=Policy(text="json")))
    async with Client(sdk.lowlevel_of(mirrored.mcp)) as client:
        result = await client.call_tool("greeting", {"who": "Ada"})

    assert first_text(result) == '{"type":"Card","children":[{"type":"Text","value":"Hello, Ada"}]}'


async def test_tree_with_possibly_sensitive_values_is_never_mirrored() -> None:
    widget = build_widget(sidecar='sensitive = ["who"]')
    mirrored = build(
        Registry(snapshot_of(widget)), local_store(), ServerOptions(policy=Policy(text="json"))
    )
    async with Client(sdk.lowlevel_of(mirrored.mcp)) as client:
        result = await client.call_tool("greeting", {"who": "4242"})

    assert first_text(result) == "Greeting"


def test_schema_with_a_header_the_sdk_rejects_never_reaches_the_list() -> None:
    schema = {"type": "object", "properties": {"who": {"type": "object", "x-mcp-header": "Who"}}}
    poison = build_widget(schema=schema)

    with pytest.raises(WidgetError) as caught:
        tool_entry(poison)

    assert str(caught.value).startswith(
        "Greeting.widget#/jsonSchema: the schema cannot be sent in a tool list: "
        "its header annotation is not one ("
    )


def test_library_without_an_expected_private_name_is_a_sentence_at_start(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(server.mcp, "_mcp_server")

    with pytest.raises(ConfigError) as caught:
        sdk.verify(server.mcp)

    assert str(caught.value) == (
        "fastmcp 4.1.2 has no FastMCP._mcp_server any more; install the version that "
        "widgetd was tested with: requirements/runtime.txt names it"
    )
