"""A board of departures that live feeds fill, in this process, and pages that follow it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import orjson
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

from tests.support.patience import PATIENCE_S
from tests.support.widgets import build_widget, snapshot_of
from tests.system.upstreams.servers import READ_ONLY, until, upstreams_of
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import LOCAL
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.http_calls import caller_for
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import Store, local_store
from widgetd.upstreams.feeds import UpstreamFeeds
from widgetd.upstreams.live import LiveFeeds

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("gate", "status", "weather", "both")},
    "required": ["gate"],
}
TEMPLATE = """{"type":"Card","children":[
 {"type":"Text","value":{{ (gate ~ " " ~ status ~ " " ~ weather) | tojson }}}]}"""
FEED = """
[feed]
upstream = "airport"
tool = "get_board"
ask = ["gate"]
keep_s = 0
every_s = 1
[feed.map]
status = "status"
"""


class Airport:
    """An MCP server that counts.

    Attributes:
        status: What the board says.
        weather: What the weather is.
        asked: How often each tool was called.
        fails: The tools that fail.
        meeting: Where set, each call waits until so many are under way.
    """

    def __init__(self) -> None:
        self.mcp: FastMCP[Any] = FastMCP("airport")
        self.status = "on time"
        self.weather = "sun"
        self.asked = {"get_board": 0, "get_weather": 0}
        self.fails: set[str] = set()
        self.meeting = 0
        self.waiting = 0

        @self.mcp.tool(annotations=READ_ONLY)
        async def get_board(gate: str) -> dict[str, Any]:
            await self.count("get_board")
            return {"gate": gate, "status": self.status}

        @self.mcp.tool(annotations=READ_ONLY)
        async def get_weather() -> dict[str, Any]:
            await self.count("get_weather")
            return {"sky": self.weather}

    async def count(self, tool: str) -> None:
        """Count a call, which may wait for others, and fail."""
        self.asked[tool] += 1
        self.waiting += 1
        await until(lambda: self.waiting >= self.meeting)
        if tool in self.fails:
            raise ToolError("out of order")


@dataclass(kw_only=True)
class Boards:
    """A server whose widgets live feeds fill.

    Attributes:
        server: The server.
        feeds: Asks the upstreams.
        live: Asks them again.
    """

    server: Server
    feeds: UpstreamFeeds
    live: LiveFeeds

    async def show(self, tool: str = "board", **arguments: Any) -> StoredRender:
        """Call the widget."""
        caller = caller_for(self.server, LOCAL)
        widget = caller.snapshot.widgets[tool]
        generation, owner = caller.snapshot.generation, caller.principal.name
        rendering, arguments = self.server.rendering, arguments or {"gate": "B4"}
        render = await rendering.compute(widget, arguments, generation, owner=owner)
        return await rendering.store(render)

    async def follow(self, render: StoredRender, after: int = 1) -> StoredRender:
        """Wait as a page does for a version after this one."""
        caller = caller_for(self.server, LOCAL)
        with anyio.fail_after(PATIENCE_S):
            newer = await self.server.rendering.wait_for_newer(
                render.id, caller, after=after, timeout_s=PATIENCE_S
            )
        assert isinstance(newer, StoredRender), newer
        return newer


@asynccontextmanager
async def boards(
    path: Path,
    declared: str,
    *widget: Widget,
    store: Store | None = None,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Boards]:
    """Yield a server of these widgets, with live feeds; `clock` says which window of time it is."""
    registry = Registry(snapshot_of(*widget))
    used = store or local_store(Bounds(versions_per_s=1e6))
    server = build(registry, used, ServerOptions())
    async with upstreams_of(path, declared) as upstreams, anyio.create_task_group() as tasks:
        feeds = UpstreamFeeds(upstreams, used.answers, clock=clock)
        live = LiveFeeds(
            feeds=feeds, rendering=server.rendering, renders=used.renders, registry=registry
        )
        feeds.live = live.following
        server.rendering.feeds = feeds
        tasks.start_soon(live.run)
        # Not `wait_all_tasks_blocked`, which looks every 100 ms: so often uvicorn's own loop wakes
        # up in this process, and may do so at each look.
        await until(lambda: live._tasks is not None)
        yield Boards(server=server, feeds=feeds, live=live)
        tasks.cancel_scope.cancel()


def board(sidecar: str = FEED, name: str = "Board") -> Widget:
    """Return the widget."""
    return build_widget(name, sidecar=sidecar, schema=SCHEMA, template=TEMPLATE)


def drawn_text(render: StoredRender) -> str:
    """Return the text that is drawn."""
    return str(orjson.loads(render.tree)["children"][0]["value"])


def mark_of(render: StoredRender) -> dict[str, Any]:
    """Return `_meta["widgetd/feed"]`."""
    document: dict[str, Any] = orjson.loads(render.feed or b"{}")
    return document
