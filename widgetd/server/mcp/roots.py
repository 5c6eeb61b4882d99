"""Servers through which clients reach the widgets, by themselves or mounted into another."""

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
    """One FastMCP server through which clients reach the widgets.

    There is the server that they were added to, and each one that it is mounted into, whose
    clients see the same widgets under other names.

    Attributes:
        clients: The clients that listen to it, shared with other folders that it serves.
        uses: Number of mounts of the widgets in it; 2 if they are mounted twice.
    """

    def __init__(self, mcp: FastMCP, provider: Provider) -> None:
        self.mcp = mcp
        lowlevel = sdk.lowlevel_of(mcp)
        # Another folder's widgets may have installed them already.
        registered = lowlevel.get_request_handler(LISTEN)
        clients = None if registered is None else getattr(registered.handler, "__self__", None)
        if not isinstance(clients, Clients):
            clients = Clients()
            add_handler = lowlevel.add_request_handler
            # With it the server advertises that its lists change (PrefectHQ/fastmcp issue 4920).
            if registered is None:
                add_handler(LISTEN, SubscriptionsListenRequestParams, clients.listen)
            add_handler("resources/subscribe", SubscribeRequestParams, clients.subscribe)
            add_handler("resources/unsubscribe", UnsubscribeRequestParams, clients.unsubscribe)
        self.clients = clients
        self.uses = 0
        self._provider = provider
        self._middleware: Any = None

    def wrap(self, middleware: sdk.Middleware) -> None:
        """Put `middleware` around every message that comes to the server."""
        self._middleware = middleware
        sdk.lowlevel_of(self.mcp).middleware.append(self._middleware)

    def unwrap(self) -> None:
        """Take that layer away again."""
        sdk.lowlevel_of(self.mcp).middleware.remove(self._middleware)

    @cached_property
    def prefix(self) -> str:
        """The namespace before the path of the widgets' URIs, as `ui/`; empty for most."""
        return sdk.path_prefix(self.mcp, self._provider)

    async def notify(self, notice_for: NoticeFor, tasks: TaskGroup) -> int:
        """Notify its clients, see `Clients.notify`."""

        def as_named_here(audience: Audience) -> Notice:
            notice = notice_for(audience)
            updated = tuple(with_prefix(uri, self.prefix) for uri in notice.updated)
            return replace(notice, updated=updated)

        return await self.clients.notify(as_named_here, tasks)
