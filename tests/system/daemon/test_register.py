"""Widgets in the FastMCP server of another project."""

from __future__ import annotations

import json
import re
import shlex
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
import uvicorn
from fastmcp import Client, FastMCP
from mcp import Client as McpClient
from mcp import StdioServerParameters
from mcp.client.extension import advertise
from mcp_types import TextResourceContents

import widgetd
from tests.support.clients import Connection, Era, connect_client
from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file
from tests.system.server.mcp.listening import hearing
from widgetd.base.errors import ConfigError
from widgetd.server.access.principal import UI_EXTENSION
from widgetd.server.mcp import sdk
from widgetd.server.render.result import Policy
from widgetd.server.render.view import view_html

Over = Literal["memory", "http"]
# How somebody's server comes to have widgets, and what its clients see before their names.
PLACES = {"its own": "", "mounted": "", "under a name": "ui", "twice under a name": "a_ui"}


def with_widgets(folder: Path, place: str, **settings: Any) -> FastMCP:
    """Return a server with the widgets of `folder` and a tool of its own."""
    inner = FastMCP("mine")
    widgetd.register(inner, folder, **settings)
    server = inner if place == "its own" else FastMCP("parent")
    if place == "mounted":
        server.mount(inner)
    elif place == "under a name":
        server.mount(inner, namespace="ui")
    elif place == "twice under a name":
        middle = FastMCP("middle")
        middle.mount(inner, namespace="ui")
        server.mount(middle, namespace="a")

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    return server


@asynccontextmanager
async def over_http(server: FastMCP) -> AsyncIterator[str]:
    """Serve `server` as its owner would, and yield its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(server.http_app(), lifespan="on", log_level="error")
        running = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(running.serve, sockets=[listening]))
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            finally:
                running.should_exit = True


@asynccontextmanager
async def client_of(server: FastMCP, over: Over, era: Era) -> AsyncIterator[Connection]:
    """Yield a client of `server` that listens for changes."""
    target: Any = sdk.lowlevel_of(server)
    with anyio.fail_after(2 * PATIENCE_S):
        async with AsyncExitStack() as stack:
            if over == "http":
                target = await stack.enter_async_context(over_http(server))
            yield await stack.enter_async_context(connect_client(target, era))


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("over", ["memory", "http"])
@pytest.mark.parametrize("place", PLACES)
async def test_clients_of_another_server_find_the_page_of_a_widget_and_are_notified_of_changes(
    folder: Path, place: str, over: Over, era: Era
) -> None:
    before = f"{PLACES[place]}_" if PLACES[place] else ""
    path = before.replace("_", "/")
    async with client_of(with_widgets(folder, place), over, era) as client:
        tools = {tool.name: tool for tool in (await client.client.list_tools()).tools}
        page = (tools[f"{before}greeting"].meta or {})["ui"]["resourceUri"]
        assert re.fullmatch(rf"ui://{path}widgetd/greeting\.[0-9a-f]+\.html", page)
        listed = (await client.client.list_resources()).resources
        assert page in {str(resource.uri) for resource in listed}
        [content] = (await client.client.read_resource(page)).contents
        assert isinstance(content, TextResourceContents)
        assert content.mime_type == "text/html;profile=mcp-app"
        assert content.text.partition("</script>")[2] == view_html().partition("<head>")[2]
        assert (content.meta or {})["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}
        assert (await client.call("add", a=1, b=2)).structured_content == {"result": 3}
        result = await client.call(f"{before}greeting", who="Ada")
        assert result.structured_content == greeting("Hello", "Ada")

        (folder / "Other.widget").write_text(widget_file("Other"))
        await client.wait_for_more_than(0)
        await client.lists(f"{before}other")


async def test_resource_addresses_have_the_callers_prefix(folder: Path) -> None:
    server = with_widgets(folder, "under a name", policy=Policy(inline_max_bytes=20))
    async with client_of(server, "memory", "modern") as client:
        [overview] = (await client.client.read_resource("widget://ui/greeting")).contents
        assert isinstance(overview, TextResourceContents)
        assert '"widget://ui/greeting/template"' in overview.text
        link = (await client.call("ui_greeting", who="Ada")).content[-1]
        assert link.type == "resource_link"
        [render] = (await client.client.read_resource(str(link.uri))).contents
        assert isinstance(render, TextResourceContents)
        assert "Hello, Ada" in render.text


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_changed_resource_is_announced_by_its_subscribed_address(
    folder: Path, era: Era
) -> None:
    template = "widget://ui/greeting/template"
    async with (
        over_http(with_widgets(folder, "under a name")) as url,
        hearing(url, "any", era, [template]) as notifications,
    ):
        (folder / "Greeting.widget").write_text(widget_file(text="Good day"))
        await notifications.of(template)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_two_folders_are_two_servers_mounted_under_two_names(
    tmp_path: Path, era: Era
) -> None:
    parent = FastMCP("parent")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Greeting.widget").write_text(widget_file(text=name))
        inner = FastMCP(name)
        widgetd.register(inner, tmp_path / name)
        parent.mount(inner, namespace=name)

    async with client_of(parent, "memory", era) as client:
        for name in ("a", "b"):
            result = await client.call(f"{name}_greeting", who="Ada")
            assert result.structured_content == greeting(name, "Ada")
            call = {"name": "greeting", "arguments": {"who": "Ada"}}
            result = await client.client.call_tool(f"{name}_render_widget", call)
            assert result.structured_content == greeting(name, "Ada")
        for name in ("a", "b"):
            notifications = client.notifications
            (tmp_path / name / "Other.widget").write_text(widget_file("Other"))
            await client.wait_for_more_than(notifications)
            await client.lists(f"{name}_other")


async def test_widget_server_is_mounted_into_a_running_server(folder: Path) -> None:
    parent, late = FastMCP("parent"), FastMCP("late")
    inner = with_widgets(folder, "its own")
    async with Client(inner), client_of(parent, "memory", "legacy") as client:
        parent.mount(late, namespace="x")
        late.mount(inner, namespace="y")

        tools = {tool.name: tool for tool in (await client.client.list_tools()).tools}
        page = (tools["x_y_greeting"].meta or {})["ui"]["resourceUri"]
        assert re.fullmatch(r"ui://x/y/widgetd/greeting\.[0-9a-f]+\.html", page)
        [content] = (await client.client.read_resource(page)).contents
        assert content.mime_type == "text/html;profile=mcp-app"
        (folder / "Other.widget").write_text(widget_file("Other"))
        await client.lists("x_y_other")


async def test_mounted_server_keeps_serving_after_the_parent_ended(folder: Path) -> None:
    inner, parent = with_widgets(folder, "its own"), FastMCP("parent")
    parent.mount(inner, namespace="ui")

    for _ in range(2):
        async with client_of(parent, "memory", "modern") as client:
            tools = {tool.name: tool for tool in (await client.client.list_tools()).tools}
            uri = (tools["ui_greeting"].meta or {})["ui"]["resourceUri"]
            assert re.fullmatch(r"ui://ui/widgetd/greeting\.[0-9a-f]+\.html", uri)
        async with client_of(inner, "memory", "modern") as client:
            tools = {tool.name: tool for tool in (await client.client.list_tools()).tools}
            page = (tools["greeting"].meta or {})["ui"]["resourceUri"]
            assert page == uri.replace("ui://ui/", "ui://")
    layers = len(sdk.lowlevel_of(parent).middleware)
    assert layers == len(sdk.lowlevel_of(FastMCP("other")).middleware)


async def test_host_of_apps_gets_the_tree_for_its_page_alone(folder: Path) -> None:
    server = sdk.lowlevel_of(with_widgets(folder, "under a name"))
    apps = advertise(UI_EXTENSION, {"mimeTypes": ["text/html;profile=mcp-app"]})
    with anyio.fail_after(PATIENCE_S):
        async with McpClient(server, extensions=[apps]) as client:
            result = await client.call_tool("ui_greeting", {"who": "Ada"})

    assert (result.structured_content or {})["uiType"] == "greeting"
    assert (result.meta or {})["widgetd/widget"] == greeting("Hello", "Ada")


def test_server_takes_one_folder_once(folder: Path) -> None:
    server = FastMCP("mine")
    widgetd.register(server, folder)

    with pytest.raises(ConfigError) as refused:
        widgetd.register(server, folder)

    assert refused.value.code == "W0030"
    assert str(refused.value) == (
        "the server 'mine' has widgets already, from a call of register before this one; "
        "register one folder, once; mount a server of its own for another folder"
    )


_OVER_STDIO = """
import logging, sys, widgetd
from fastmcp import FastMCP

OWNERS_LOGGING
server = FastMCP("mine")
widgetd.register(server, sys.argv[1])
server.run(transport="stdio", show_banner=False)
"""

LOGGING = {
    "unconfigured": ("", {"widget.refused"}),
    "of the root": ("logging.basicConfig(level='INFO')", {"widget.refused"}),
    "of our logger": (
        "logging.basicConfig(); logging.getLogger('widgetd').setLevel('DEBUG')",
        {"widget.refused", "catalog.swapped"},
    ),
}


@pytest.mark.parametrize("owners", LOGGING)
async def test_registered_server_writes_only_json_rpc_to_stdout(
    tmp_path: Path, owners: str
) -> None:
    configuration, expected = LOGGING[owners]
    folder, script = tmp_path / "widgets", tmp_path / "server.py"
    folder.mkdir()
    (folder / "Greeting.widget").write_text(widget_file())
    (folder / "Broken.widget").write_text("{")
    script.write_text(_OVER_STDIO.replace("OWNERS_LOGGING", configuration))
    line = f"{shlex.join([sys.executable, str(script), str(folder)])} 2>errors | tee output"
    command = StdioServerParameters(command="sh", args=["-c", line], cwd=tmp_path)

    with anyio.fail_after(3 * PATIENCE_S):
        async with McpClient(command) as client:
            await client.call_tool("greeting", {"who": "Ada"})
            (folder / "Other.widget").write_text(widget_file("Other"))
            while "other" not in {tool.name for tool in (await client.list_tools()).tools}:  # noqa: ASYNC110 - no event reports it
                await anyio.sleep(0.01)

    messages = [json.loads(line) for line in (tmp_path / "output").read_text().splitlines()]
    assert messages
    assert {message["jsonrpc"] for message in messages} == {"2.0"}
    words = set(re.findall(r"\b(?:widget|catalog)\.\w+", (tmp_path / "errors").read_text()))
    assert words == expected
