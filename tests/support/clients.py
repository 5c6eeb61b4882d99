"""Real clients of a daemon, for tests; every wait is inside `anyio.fail_after`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import Subscription, ToolsListChanged
from mcp.server.lowlevel.server import Server
from mcp_types import CallToolResult, ToolListChangedNotification

from tests.support.patience import PATIENCE_S

Era = Literal["legacy", "modern"]


@dataclass
class Connection:
    """One connected client, and the number of its tool list notifications."""

    client: Client
    notifications: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def count_notification(self) -> None:
        self.notifications += 1
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def wait_for_more_than(self, notifications: int) -> None:
        with anyio.fail_after(PATIENCE_S):
            while self.notifications <= notifications:
                await self._changed.wait()

    async def tools(self) -> set[str]:
        """Return the names of all listed tools."""
        return {tool.name for tool in (await self.client.list_tools()).tools}

    async def lists(self, name: str, *, present: bool = True) -> None:
        """Wait until `name` is listed, or no longer; list again only after a notification."""
        before = self.notifications
        while (name in await self.tools()) != present:
            await self.wait_for_more_than(before)
            before = self.notifications

    async def call(self, name: str, /, **arguments: Any) -> CallToolResult:
        with anyio.fail_after(PATIENCE_S):
            return await self.client.call_tool(name, arguments)

    async def answers(self, name: str, arguments: dict[str, Any], tree: dict[str, Any]) -> None:
        """Wait until a call of `name` returns `tree`."""
        with anyio.fail_after(PATIENCE_S):
            while read_tree(await self.client.call_tool(name, arguments)) != tree:  # noqa: ASYNC110 - no notification says that a result changed
                await anyio.sleep(0.01)


def read_tree(result: CallToolResult) -> Any:
    """Return the tree of a result in either profile."""
    return (result.meta or {}).get("widgetd/widget", result.structured_content)


@asynccontextmanager
async def connect_client(
    target: str | StdioServerParameters | Server[Any], era: Era, token: str = ""
) -> AsyncIterator[Connection]:
    """Connect a listening client to a URL, a command over stdio, or a server in memory."""
    async with AsyncExitStack() as stack:
        over: Any = target
        if token:
            headers = {"authorization": f"Bearer {token}"}
            # A stream may be silent for longer than the five seconds that httpx waits.
            timeout = httpx2.Timeout(PATIENCE_S, read=None)
            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers=headers, timeout=timeout)
            )
            over = streamable_http_client(str(target), http_client=http)
        connections: list[Connection] = []

        async def receive(message: object) -> None:
            if era == "legacy" and isinstance(message, ToolListChangedNotification):
                connections[0].count_notification()

        mode: Any = "legacy" if era == "legacy" else "auto"
        client = Client(over, mode=mode, message_handler=receive)
        connection = Connection(client)
        connections.append(connection)
        await stack.enter_async_context(client)
        if era == "modern":
            listening = await stack.enter_async_context(client.listen(tools_list_changed=True))
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            tasks.start_soon(_receive_events, listening, connection)
        yield connection


async def _receive_events(listening: Subscription, connection: Connection) -> None:
    async for event in listening:
        if isinstance(event, ToolsListChanged):
            connection.count_notification()


def over_stdio(folder: Path) -> StdioServerParameters:
    """Build the command of a daemon that serves `folder` over stdio."""
    return StdioServerParameters(
        command=sys.executable, args=["-m", "widgetd", "serve", str(folder), "--transport", "stdio"]
    )
