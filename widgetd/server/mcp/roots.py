"""Servers with the widgets: their own, and every server they are mounted into."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from anyio.abc import TaskGroup
from fastmcp import FastMCP
from fastmcp.server.providers import Provider
from mcp_types import (
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)

from widgetd.server.access.principal import Audience, with_prefix
from widgetd.server.mcp import sdk
from widgetd.server.mcp.clients import Clients, NoticeFor
from widgetd.server.observe.observer import Notice

LISTEN = "subscriptions/listen"


class Root:
    """A FastMCP server through which clients reach the widgets.

    The first is the widgets' own server. The others are servers it is mounted into. Their clients
    see the same widgets under other names.

    Attributes:
        clients: Its listening clients, shared with other folders in the same server.
        uses: Number of mounts of the widgets in it.
    """

    def __init__(self, mcp: FastMCP, provider: Provider) -> None:
        self.mcp = mcp
        lowlevel = sdk.lowlevel_of(mcp)
        # Another folder's widgets may have installed them already.
        handler = lowlevel.get_request_handler(LISTEN)
        clients = None if handler is None else getattr(handler.handler, "__self__", None)
        if not isinstance(clients, Clients):
            clients = Clients()
            add_handler = lowlevel.add_request_handler
            # By the handler the server advertises changing lists (PrefectHQ/fastmcp issue 4920).
            if handler is None:
                add_handler(LISTEN, SubscriptionsListenRequestParams, clients.listen)
            add_handler("resources/subscribe", SubscribeRequestParams, clients.subscribe)
            add_handler("resources/unsubscribe", UnsubscribeRequestParams, clients.unsubscribe)
        self.clients = clients
        self.uses = 0
        self._provider = provider
        self._middleware: Any = None

    def wrap(self, middleware: sdk.Middleware) -> None:
        self._middleware = middleware
        sdk.lowlevel_of(self.mcp).middleware.append(self._middleware)

    def unwrap(self) -> None:
        sdk.lowlevel_of(self.mcp).middleware.remove(self._middleware)

    @cached_property
    def prefix(self) -> str:
        return sdk.path_prefix(self.mcp, self._provider) or ""

    async def notify(self, notice_for: NoticeFor, tasks: TaskGroup) -> int:
        def as_named_here(audience: Audience) -> Notice:
            notice = notice_for(audience)
            updated = tuple(with_prefix(uri, self.prefix) for uri in notice.updated)
            return replace(notice, updated=updated)

        return await self.clients.notify(as_named_here, tasks)
