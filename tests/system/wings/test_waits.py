"""Streams and waiting calls of one token leave connections to others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.routes import STREAMS, TABLES
from tests.support.widgets import widget_file
from tests.system.server.mcp.test_access import call
from tests.system.server.mcp.test_shares import ACTING, ANN, BOB, TOKENS
from widgetd.daemon.wings import ROWS

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CONNECTIONS = 16


def page(path: str) -> Callable[[str], dict[str, Any]]:
    return lambda _render: {"method": "GET", "url": path}


def message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": MODERN["io.modelcontextprotocol/protocolVersion"],
        "mcp-method": method,
        **({"mcp-name": params["name"]} if "name" in params else {}),
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN}}
    return {"method": "POST", "url": "/mcp", "headers": headers, "json": body}


def tool(name: str) -> Callable[[str], dict[str, Any]]:
    return lambda render: message(
        "tools/call", {"name": name, "arguments": {"render_id": render, "timeout_s": 60}}
    )


def subscription(_render: str) -> dict[str, Any]:
    return message("subscriptions/listen", {"notifications": {"toolsListChanged": True}})


WAITING = {
    "/gallery/live": page("/gallery/live"),
    "await_widget_action": tool("await_widget_action"),
    "follow_render": tool("follow_render"),
    "subscriptions/listen": subscription,
}


def test_every_stream_and_waiting_tool_is_in_the_table() -> None:
    assert {one.path for one in TABLES if one.waits} == STREAMS
    assert {row.name for row in ROWS if row.waits and row.scope != "write"} <= WAITING.keys()


@asynccontextmanager
async def served_to_two(at: Path) -> AsyncIterator[tuple[str, str]]:
    """Serve a widget to Ann and Bob, and yield the address of MCP and a render of Ann's."""
    widgets, tokens = at / "widgets", at / "tokens"
    widgets.mkdir()
    (widgets / "Open.widget").write_text(widget_file("Open", template=ACTING))
    tokens.write_text(TOKENS)
    async with serving(widgets, gallery=True, token_file=tokens, connections=CONNECTIONS) as url:
        rendered = await call(url, ANN, "open", who="Ada")
        yield url, rendered["_meta"]["widgetd/render"]["id"]


@asynccontextmanager
async def waiting(url: str, request: Mapping[str, Any]) -> AsyncIterator[Callable[[], int]]:
    """Send Ann's request once per connection of the daemon, until half of them are refused.

    Yields:
        A function that counts the refused requests.
    """
    refused = anyio.Semaphore(0)

    async def wait() -> None:
        async with http.stream(**request) as answer:
            text = ""
            async for part in answer.aiter_text():
                text += part
                if "W2202" in text:
                    refused.release()

    async with (
        httpx2.AsyncClient(
            base_url=url.removesuffix("/mcp"),
            headers={"authorization": f"Bearer {ANN}"},
            timeout=PATIENCE_S,
            # Idle connections would hold places, too.
            limits=httpx2.Limits(max_keepalive_connections=0),
        ) as http,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(CONNECTIONS):
            tasks.start_soon(wait)
        with anyio.fail_after(PATIENCE_S):
            for _ in range(CONNECTIONS // 2):
                await refused.acquire()
        yield lambda: CONNECTIONS // 2 + refused.value
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("kind", WAITING)
async def test_token_at_its_limit_of_waits_leaves_calls_to_others(
    tmp_path: Path, kind: str
) -> None:
    async with served_to_two(tmp_path) as (url, render), waiting(url, WAITING[kind](render)):
        with anyio.fail_after(PATIENCE_S):
            assert not (await call(url, BOB, "open", who="Bob")).get("isError")
