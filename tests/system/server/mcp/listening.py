"""Clients with a token, and their notifications."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourceUpdated, Subscription, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ResourceUpdatedNotification, ToolListChangedNotification

from tests.support.clients import Era
from tests.support.patience import PATIENCE_S

TOOLS = "the list of tools changed"


class Heard:
    """Notifications of one client, in order: `TOOLS`, or the URI of a changed resource.

    Attributes:
        all: Everything.
        ended: Set when the subscription has ended.
    """

    def __init__(self) -> None:
        self.all: list[str] = []
        self.ended = anyio.Event()
        self._came = anyio.Event()

    def add(self, uri: str) -> None:
        self.all.append(uri)
        event, self._came = self._came, anyio.Event()
        event.set()

    async def of(self, uri: str) -> None:
        """Wait for this notification."""
        with anyio.fail_after(PATIENCE_S):
            while uri not in self.all:
                await self._came.wait()

    async def over(self) -> None:
        """Wait until the subscription has ended."""
        with anyio.fail_after(PATIENCE_S):
            await self.ended.wait()


@asynccontextmanager
async def hearing(url: str, token: str, era: Era, uris: Sequence[str] = ()) -> AsyncIterator[Heard]:
    """Yield a client that subscribes to the list of tools and to these resources."""
    inbox = Heard()

    async def take(message: object) -> None:
        match message:
            case ToolListChangedNotification() if era == "legacy":
                inbox.add(TOOLS)
            case ResourceUpdatedNotification() if era == "legacy":
                inbox.add(str(message.params.uri))

    async with AsyncExitStack() as stack:
        headers = {"authorization": f"Bearer {token}"}
        # A stream may be silent for longer than the five seconds that httpx waits.
        timeout = httpx2.Timeout(PATIENCE_S, read=None)
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=timeout))
        over: Any = streamable_http_client(url, http_client=http)
        mode: Any = "legacy" if era == "legacy" else "auto"
        client = await stack.enter_async_context(Client(over, mode=mode, message_handler=take))
        if era == "legacy":
            for uri in uris:
                with pytest.warns(MCPDeprecationWarning):
                    await client.subscribe_resource(uri)
        else:
            subscription = client.listen(tools_list_changed=True, resource_subscriptions=list(uris))
            stream = await stack.enter_async_context(subscription)
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            tasks.start_soon(_pass_on, stream, inbox)
        yield inbox


async def _pass_on(stream: Subscription, inbox: Heard) -> None:
    async for event in stream:
        match event:
            case ToolsListChanged():
                inbox.add(TOOLS)
            case ResourceUpdated(uri):
                inbox.add(uri)
    inbox.ended.set()
