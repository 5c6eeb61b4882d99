"""A daemon over a real folder, and real clients of it, for tests.

Everything here is bounded: whoever waits, waits inside `anyio.fail_after`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.subscriptions import Subscription, ToolsListChanged
from mcp.server.lowlevel.server import Server
from mcp_types import CallToolResult, ToolListChangedNotification

from widgetd.daemon.serve import serve
from widgetd.settings import Settings

Era = Literal["legacy", "modern"]

PATIENCE_S = 10
"""Far more than anything here takes on a busy machine."""


_TEMPLATE = '{"type":"Card","children":[{"type":"Text","value":{{ ("TEXT, " ~ who) | tojson }}}]}'


def widget_file(
    name: str = "Greeting",
    *,
    text: str = "Hello",
    schema: Mapping[str, Any] | None = None,
    template: str | None = None,
    **more: Any,
) -> str:
    """The text of a `.widget` file that says `text` to `who`."""
    document = {
        "version": "1.0",
        "name": name,
        "jsonSchema": schema
        or {
            "type": "object",
            "properties": {"who": {"type": "string", "description": "Whom to greet."}},
            "required": ["who"],
            "additionalProperties": False,
        },
        "template": template or _TEMPLATE.replace("TEXT", text),
        **more,
    }
    return json.dumps(document)


def greeting(text: str, who: str) -> dict[str, Any]:
    """The tree that `widget_file(text=text)` renders for `who`."""
    return {"type": "Card", "children": [{"type": "Text", "value": f"{text}, {who}"}]}


@asynccontextmanager
async def serving(folder: Path, **settings: Any) -> AsyncIterator[str]:
    """The URL of a daemon that serves `folder` until the block ends."""
    url = ""
    stop, started = anyio.Event(), anyio.Event()

    def tell(told: str, _widgets: int) -> None:
        nonlocal url
        url = told
        started.set()

    chosen = Settings(**{"dir": folder, "port": 0, **settings})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(serve, chosen, folder, started=tell, stop=stop))
        with anyio.fail_after(PATIENCE_S):
            await started.wait()
        try:
            yield url
        finally:
            stop.set()


@dataclass
class Connection:
    """One connected client, and how often it was told that the list of tools changed."""

    client: Client
    told: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def tell(self) -> None:
        self.told += 1
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def told_more_than(self, times: int) -> None:
        with anyio.fail_after(PATIENCE_S):
            while self.told <= times:
                await self._changed.wait()

    async def tools(self) -> set[str]:
        """The names of all listed tools."""
        return {tool.name for tool in (await self.client.list_tools()).tools}

    async def lists(self, name: str, *, present: bool = True) -> None:
        """Wait until `name` is, or is no more, among the tools; ask only when told of a change."""
        told = self.told
        while (name in await self.tools()) != present:
            await self.told_more_than(told)
            told = self.told

    async def call(self, name: str, **arguments: Any) -> CallToolResult:
        with anyio.fail_after(PATIENCE_S):
            return await self.client.call_tool(name, arguments)

    async def answers(self, name: str, arguments: dict[str, Any], tree: dict[str, Any]) -> None:
        """Wait until a call of `name` answers with `tree`."""
        with anyio.fail_after(PATIENCE_S):
            while (await self.client.call_tool(name, arguments)).structured_content != tree:  # noqa: ASYNC110 - a client is not told of a result that changed
                await anyio.sleep(0.01)


@asynccontextmanager
async def connected(
    target: str | StdioServerParameters | Server[Any], era: Era
) -> AsyncIterator[Connection]:
    """A client of `era` at a URL, over the stdio of a command or in memory; it listens."""
    async with AsyncExitStack() as stack:
        held: list[Connection] = []

        async def heard(message: object) -> None:
            if era == "legacy" and isinstance(message, ToolListChangedNotification):
                held[0].tell()

        mode: Any = "legacy" if era == "legacy" else "auto"
        client = Client(target, mode=mode, message_handler=heard)
        connection = Connection(client)
        held.append(connection)
        await stack.enter_async_context(client)
        if era == "modern":
            listening = await stack.enter_async_context(client.listen(tools_list_changed=True))
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            tasks.start_soon(_pass_on, listening, connection.tell)
        yield connection


async def _pass_on(listening: Subscription, tell: Callable[[], None]) -> None:
    async for event in listening:
        if isinstance(event, ToolsListChanged):
            tell()


def over_stdio(folder: Path) -> StdioServerParameters:
    """The command of a daemon that serves `folder` over stdio."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "widgetd", "serve", str(folder), "--transport", "stdio"],
    )
