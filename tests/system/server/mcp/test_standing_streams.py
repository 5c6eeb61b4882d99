"""Legacy clients receive every notification, whenever their standing stream opens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file

TOOLS = "notifications/tools/list_changed"
RESOURCES = "notifications/resources/list_changed"
CONFLICT = 409


class Session:
    """A legacy session on the wire, whose standing stream opens when a test says so."""

    def __init__(self, url: str, http: httpx2.AsyncClient) -> None:
        self._url = url
        self._http = http
        self._headers = {"accept": "application/json, text/event-stream"}

    async def begin(self) -> None:
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "slow", "version": "1"},
        }
        greeted = await self._post({"id": 1, "method": "initialize", "params": hello})
        self._headers["mcp-session-id"] = greeted.headers["mcp-session-id"]
        self._headers["mcp-protocol-version"] = "2025-11-25"
        await self._post({"method": "notifications/initialized"})

    async def tools(self) -> set[str]:
        answer = await self._post({"id": 2, "method": "tools/list"})
        return {tool["name"] for tool in answer.json()["result"]["tools"]}

    async def lists(self, name: str) -> None:
        """List the tools until `name` is among them, without a notification."""
        with anyio.fail_after(PATIENCE_S):
            while name not in await self.tools():  # noqa: ASYNC110 - no event reports it
                await anyio.sleep(0.01)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[AsyncIterator[str]]:
        """Return the messages of a standing stream, by method.

        There is one at a time, and the server may see the end of the last one late.
        """
        with anyio.fail_after(PATIENCE_S):
            while (opened := await self._open()).status_code == CONFLICT:
                await opened.aclose()
        try:
            yield self._said(opened)
        finally:
            await opened.aclose()

    async def is_refused_another_stream(self) -> bool:
        opened = await self._open()
        await opened.aclose()
        return opened.status_code == CONFLICT

    async def _open(self) -> httpx2.Response:
        request = self._http.build_request("GET", self._url, headers=self._headers)
        return await self._http.send(request, stream=True)

    async def _said(self, answer: httpx2.Response) -> AsyncIterator[str]:
        async for line in answer.aiter_lines():
            if line.startswith("data: {"):
                yield json.loads(line.removeprefix("data: "))["method"]

    async def _post(self, message: dict[str, Any]) -> httpx2.Response:
        content = {"jsonrpc": "2.0", **message}
        return await self._http.post(self._url, headers=self._headers, json=content)


async def hears(stream: AsyncIterator[str], *methods: str) -> None:
    """Wait for exactly these notifications, in any order."""
    remaining = set(methods)
    with anyio.fail_after(PATIENCE_S):
        while remaining:
            remaining.remove(await anext(stream))


@asynccontextmanager
async def beginning(folder: Path) -> AsyncIterator[Session]:
    """Yield a session over a daemon that serves one widget."""
    (folder / "Greeting.widget").write_text(widget_file())
    async with serving(folder) as url, httpx2.AsyncClient(timeout=PATIENCE_S) as http:
        session = Session(url, http)
        await session.begin()
        yield session


async def test_changes_before_the_stream_are_sent_when_it_opens(tmp_path: Path) -> None:
    async with beginning(tmp_path) as session:
        (tmp_path / "New.widget").write_text(widget_file("New"))
        await session.lists("new")

        async with session.listening() as stream:
            await hears(stream, TOOLS, RESOURCES)


async def test_changes_between_two_streams_are_sent_on_the_second(tmp_path: Path) -> None:
    async with beginning(tmp_path) as session:
        async with session.listening():
            pass
        (tmp_path / "New.widget").write_text(widget_file("New"))
        await session.lists("new")

        async with session.listening() as stream:
            await hears(stream, TOOLS, RESOURCES)


async def test_notifications_of_a_broken_stream_are_sent_again_on_the_next(tmp_path: Path) -> None:
    async with beginning(tmp_path) as session:
        async with session.listening() as stream:
            (tmp_path / "New.widget").write_text(widget_file("New"))
            await hears(stream, TOOLS, RESOURCES)

        async with session.listening() as stream:
            await hears(stream, TOOLS, RESOURCES)


async def test_stream_opened_without_a_change_sends_nothing(tmp_path: Path) -> None:
    async with beginning(tmp_path) as session, session.listening() as stream:
        (tmp_path / "Greeting.widget").write_text(widget_file(description="Greet."))

        await hears(stream, TOOLS)


async def test_refused_second_stream_does_not_end_the_first(tmp_path: Path) -> None:
    async with beginning(tmp_path) as session, session.listening() as stream:
        assert await session.is_refused_another_stream()
        (tmp_path / "New.widget").write_text(widget_file("New"))

        await hears(stream, TOOLS, RESOURCES)
