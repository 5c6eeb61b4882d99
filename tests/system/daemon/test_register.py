"""Widgets in a FastMCP server that is somebody else's."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
from fastmcp import Client, FastMCP

import widgetd
from tests.serving import greeting, widget_file


async def test_a_folder_is_served_and_followed_beside_the_servers_own_tools(
    tmp_path: Path,
) -> None:
    server = FastMCP("mine")

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    (tmp_path / "Greeting.widget").write_text(widget_file())
    widgetd.register(server, tmp_path)

    with anyio.fail_after(10):
        async with Client(server) as client:
            tools = {tool.name for tool in await client.list_tools()}
            assert {"add", "greeting", "search_widgets"} <= tools
            assert (await client.call_tool("add", {"a": 1, "b": 2})).data == 3
            result = await client.call_tool("greeting", {"who": "Ada"})
            assert result.structured_content == greeting("Hello", "Ada")

            (tmp_path / "Other.widget").write_text(widget_file("Other"))
            while "other" not in {tool.name for tool in await client.list_tools()}:
                await anyio.lowlevel.checkpoint()


def test_files_that_cannot_be_served_are_named_and_the_others_found(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    (tmp_path / "Broken.widget").write_text("{")
    refused: list[widgetd.Finding] = []

    found = widgetd.discover_widgets(tmp_path, refused=refused.append)

    assert [widget.tool for widget in found] == ["greeting"]
    assert [fault.path for fault in refused] == ["Broken.widget"]


def test_a_widget_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.widget").write_text(widget_file("Flight Tracker"))

    for name in ("Flight Tracker", "flight_tracker"):
        found = widgetd.get_widget(name, tmp_path)
        assert found is not None
        assert found.definition.path == "a.widget"
    assert widgetd.get_widget("nobody", tmp_path) is None


def test_a_single_file_is_loaded_with_its_sidecar(tmp_path: Path) -> None:
    (tmp_path / "a.widget").write_text(widget_file())
    (tmp_path / "a.widget.toml").write_text('description = "Greet somebody."')

    assert widgetd.load_widget(tmp_path / "a.widget").description == "Greet somebody."
