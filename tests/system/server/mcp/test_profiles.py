"""Profiles of results: the readers of the tree, over a real connection."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.extension import advertise
from mcp_types import (
    SERVER_INFO_META_KEY,
    CallToolResult,
    Implementation,
    RequestParamsMeta,
    TextContent,
)

from tests.support.clients import Era
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file
from widgetd.server.access.principal import UI_EXTENSION
from widgetd.server.render.hosts import HOSTS

TREE = greeting("Hello", "Ada")
FACTS = {"uiType": "greeting", "summary": "Greeting: who Ada"}

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


@asynccontextmanager
async def client_named(
    url: str, era: Era, name: str = "a-program", *, apps: bool = False
) -> AsyncIterator[Client]:
    """Yield a client named `name`, with or without support for MCP Apps."""
    mode: Any = "legacy" if era == "legacy" else "auto"
    extensions = [advertise(UI_EXTENSION, {"mimeTypes": ["text/html;profile=mcp-app"]})]
    info = Implementation(name=name, version="1.0")
    with anyio.fail_after(PATIENCE_S):
        async with Client(
            url, mode=mode, client_info=info, extensions=extensions if apps else None
        ) as client:
            yield client


async def greet(client: Client, profile: str = "") -> CallToolResult:
    meta = {"widgetd/profile": profile} if profile else {}
    return await client.call_tool(
        "greeting", {"who": "Ada"}, meta=cast("RequestParamsMeta", meta) or None
    )


def profile_of(result: CallToolResult) -> str:
    """Return the profile of `result`, and assert that it holds the tree exactly once."""
    assert result.meta is not None
    [text] = result.content
    assert isinstance(text, TextContent)
    summary, _, named = text.text.partition("\n")
    assert summary == "Greeting: who Ada"
    assert named in ("", f"Render: {result.meta['widgetd/render']['id']}")
    wire = result.model_dump_json(by_alias=True)
    assert wire.count(json.dumps(TREE, separators=(",", ":"))) == 1
    if "widgetd/widget" not in result.meta:
        assert result.structured_content == TREE
        return "chatkit"
    assert result.structured_content == FACTS
    assert result.meta["widgetd/widget"] == TREE
    return "split"


@both_eras
async def test_program_gets_the_tree_and_a_model_host_hides_it_from_models(
    folder: Path, era: Era
) -> None:
    async with serving(folder) as url:
        hosts = [name for name, host in HOSTS.items() if not host.shows_meta]
        for name in ("a-program", *hosts):
            async with client_named(url, era, name) as client:
                expected = "split" if name in HOSTS else "chatkit"
                assert profile_of(await greet(client)) == expected, name


@both_eras
@pytest.mark.parametrize("name", [name for name, host in HOSTS.items() if host.shows_meta])
async def test_host_that_shows_metadata_to_the_model_gets_the_renders_id_and_no_tree(
    folder: Path, era: Era, name: str
) -> None:
    async with serving(folder) as url, client_named(url, era, name) as client:
        result = await greet(client)

    assert result.meta is not None
    assert set(result.meta) <= {"widgetd/render", SERVER_INFO_META_KEY}
    assert set(result.meta["widgetd/render"]) == {"id"}
    assert result.structured_content == FACTS


@both_eras
async def test_address_requests_a_profile_for_clients_without_a_name_of_their_own(
    folder: Path, era: Era
) -> None:
    (folder / "Secret.widget").write_text(widget_file("Secret"))
    (folder / "Secret.widget.toml").write_text('sensitive = ["who"]')
    (folder / "Greeting.widget.toml").write_text('profile = "chatkit"')
    async with serving(folder, profile="chatkit") as url:
        async with client_named(f"{url}?profile=split", era, "mcp") as client:
            split = await greet(client)
            asked = await greet(client, "chatkit")
        async with client_named(f"{url}?profile=chatkit", era, "mcp") as client:
            secret = await client.call_tool("secret", {"who": "Ada"})
        async with client_named(f"{url}?profile=split", era, "mcp", apps=True) as host:
            drawn = await greet(host)

    assert [block.model_dump(exclude_none=True) for block in split.content] == [
        {"type": "text", "text": "Greeting: who Ada"}
    ]
    assert split.structured_content is None
    assert set(split.meta or {}) <= {SERVER_INFO_META_KEY}
    assert asked.structured_content == TREE
    assert secret.structured_content == {"uiType": "secret", "summary": "Secret"}
    assert profile_of(drawn) == "split"


@pytest.mark.parametrize(
    ("query", "headers", "place"),
    [("?profile=neither", {}, "profile"), ("", {"widgetd-profile": "neither"}, "widgetd-profile")],
    ids=["address", "header"],
)
async def test_unknown_profile_is_refused_with_the_list(
    folder: Path, query: str, headers: dict[str, str], place: str
) -> None:
    headers = {"accept": "application/json, text/event-stream", **headers}
    async with serving(folder) as url, httpx2.AsyncClient(timeout=PATIENCE_S) as client:
        answer = await client.post(f"{url}{query}", headers=headers, json=request("ping", {}))

    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == (
        f'[W2006] {place}: expected "auto", "chatkit" or "split", got \'neither\''
    )


@both_eras
async def test_host_that_draws_reads_the_renders_id_in_the_text_and_no_link(
    folder: Path, era: Era
) -> None:
    async with serving(folder, inline_max_bytes=10) as url:
        async with client_named(url, era, "claude-ai") as host:
            result = await greet(host)
        async with client_named(url, era, "a-program") as program:
            linked = await greet(program)

    assert result.meta is not None
    [text] = result.content
    assert isinstance(text, TextContent)
    assert text.text == f"Greeting: who Ada\nRender: {result.meta['widgetd/render']['id']}"
    assert [block.type for block in linked.content] == ["text", "resource_link"]


@both_eras
@pytest.mark.parametrize(
    ("client", "app_tools", "lists"),
    [
        ({"name": "a-program"}, "auto", False),
        ({"name": "a-program", "apps": True}, "auto", True),
        ({"name": "claude-ai"}, "auto", True),
        ({"name": "a-gateway"}, "always", True),
    ],
    ids=["a program", "a client that declares views", "a host that draws", "always"],
)
async def test_tools_of_pages_are_listed_to_clients_that_draw_or_to_all(
    folder: Path, era: Era, client: dict[str, Any], app_tools: str, *, lists: bool
) -> None:
    async with (
        serving(folder, app_tools=app_tools) as url,
        client_named(url, era, **client) as connected,
    ):
        listed = {tool.name for tool in (await connected.list_tools()).tools}

    assert ("widget_action" in listed) is lists


@both_eras
async def test_host_of_mcp_apps_keeps_the_tree_out_of_its_models_sight(
    folder: Path, era: Era
) -> None:
    async with serving(folder) as url, client_named(url, era, apps=True) as client:
        assert profile_of(await greet(client)) == "split"


@both_eras
async def test_profile_of_a_call_precedes_the_widgets_the_clients_and_the_setting(
    folder: Path, era: Era
) -> None:
    sidecar = folder / "Greeting.widget.toml"
    settings: dict[str, Any] = {"profile": "split", "profiles": {"mine": "chatkit"}}
    async with serving(folder, **settings) as url, client_named(url, era, "other") as other:
        assert profile_of(await greet(other)) == "split"
        async with client_named(url, era, "mine") as mine:
            assert profile_of(await greet(mine)) == "chatkit"
            assert profile_of(await greet(mine, "split")) == "split"

            sidecar.write_text('profile = "split"')
            with anyio.fail_after(PATIENCE_S):
                while (await greet(mine)).structured_content != FACTS:  # noqa: ASYNC110 - a client is not told of a result that changed
                    await anyio.sleep(0.01)
            assert profile_of(await greet(mine, "chatkit")) == "chatkit"
            assert profile_of(await greet(mine, "auto")) == "split"


@both_eras
@pytest.mark.parametrize("name", ["a-program", *HOSTS])
async def test_sensitive_argument_is_in_no_structured_content(
    folder: Path, name: str, era: Era
) -> None:
    (folder / "Greeting.widget.toml").write_text('sensitive = ["who"]\nprofile = "chatkit"\n')
    marker, results = "m4rker-of-a-secret", []
    settings: dict[str, Any] = {"profile": "chatkit", "text": "json"}
    async with serving(folder, **settings) as url, client_named(url, era, name) as client:
        for profile in ("", "auto", "chatkit", "split"):
            meta = cast("RequestParamsMeta", {"widgetd/profile": profile} if profile else {})
            direct = await client.call_tool("greeting", {"who": marker}, meta=meta or None)
            named = {"name": "greeting", "arguments": {"who": marker}}
            results += [direct, await client.call_tool("render_widget", named, meta=meta or None)]
            render = (direct.meta or {})["widgetd/render"]["id"]
            shown = {"render_id": render}
            results.append(await client.call_tool("show_render", shown, meta=meta or None))

    for result in results:
        assert not result.is_error
        assert marker not in f"{result.content} {result.structured_content}"


@both_eras
async def test_search_exposure_keeps_widgets_callable(folder: Path, era: Era) -> None:
    (folder / "Pinned.widget").write_text(widget_file("Pinned"))
    (folder / "Pinned.widget.toml").write_text('tags = ["pinned"]')
    async with serving(folder, expose="search") as url, client_named(url, era) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        result = await greet(client)

    assert "pinned" in listed
    assert "search_widgets" in listed
    assert "greeting" not in listed
    assert profile_of(result) == "chatkit"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26"])
async def test_client_without_structured_content_gets_the_tree_as_text(
    folder: Path, version: str
) -> None:
    headers = {"accept": "application/json, text/event-stream"}
    hello = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "an-old-one", "version": "1"},
    }
    call_body = {"name": "greeting", "arguments": {"who": "Ada"}}
    async with serving(folder) as url, httpx2.AsyncClient(timeout=PATIENCE_S) as old:
        greeted = await old.post(url, headers=headers, json=request("initialize", hello))
        headers["mcp-session-id"] = greeted.headers["mcp-session-id"]
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await old.post(url, headers=headers, json=ready)
        answer = await old.post(url, headers=headers, json=request("tools/call", call_body))

    assert greeted.json()["result"]["protocolVersion"] == version
    [text] = answer.json()["result"]["content"]
    assert json.loads(text["text"]) == TREE


def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
