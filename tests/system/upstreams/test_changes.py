"""A change of an upstream's tools is noticed without a request."""

from __future__ import annotations

from pathlib import Path

import mcp_types
from fastmcp import Context, FastMCP

import widgetd
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.upstreams.servers import (
    READ_ONLY,
    Flights,
    serve,
    serve_mcp,
    toml,
    until,
    upstreams_of,
    wait_until_settled,
)
from tests.system.upstreams.test_feeds import DRAWN, write_flight


async def test_modern_server_announces_new_tools(tmp_path: Path) -> None:
    folder = tmp_path / "widgets"
    folder.mkdir()
    (folder / "A.widget").write_text(widget_file("A"))
    async with serving(folder) as url:
        config = toml("it", url=url, tools=["a", "b"])
        async with upstreams_of(tmp_path / "u.toml", config) as upstreams:
            assert await wait_until_settled(upstreams["it"]) == "ready"
            assert set(upstreams["it"].tools) == {"a"}
            (folder / "B.widget").write_text(widget_file("B"))
            await until(lambda: set(upstreams["it"].tools) == {"a", "b"})


async def test_legacy_server_announces_new_tools(tmp_path: Path) -> None:
    mcp = FastMCP("grows")

    @mcp.tool(annotations=READ_ONLY)
    async def grow(context: Context) -> str:
        mcp.tool(lambda: "grown", name="grown", annotations=READ_ONLY)
        await context.send_notification(mcp_types.ToolListChangedNotification())
        return "ok"

    async with serve(mcp.http_app(transport="sse")) as url:
        config = toml("it", url=f"{url}/sse")
        async with upstreams_of(tmp_path / "u.toml", config) as upstreams:
            assert await wait_until_settled(upstreams["it"]) == "ready"
            assert upstreams["it"].protocol < "2026"
            await upstreams["it"].call("grow", {})
            await until(lambda: set(upstreams["it"].tools) == {"grow", "grown"})


async def test_registered_server_fills_widgets(tmp_path: Path) -> None:
    from fastmcp import Client

    async with serve_mcp(Flights().mcp) as url:
        (tmp_path / "u.toml").write_text(toml("flights", url=url))
        mine = FastMCP("mine")
        widgetd.register(mine, write_flight(tmp_path), upstreams=tmp_path / "u.toml")
        async with Client(mine) as client:
            result = await client.call_tool_mcp("flight", {"number": "UA123"})

    assert result.structured_content == DRAWN
