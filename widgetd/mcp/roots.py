"""The servers through which clients reach the widgets.

There is the one that the widgets were added to, and each that it is mounted into:
its clients see the same widgets, under other names perhaps, and hear of changes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup
from fastmcp import FastMCP
from fastmcp.server.providers import Provider
from mcp_types import (
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)

from widgetd.mcp import sdk
from widgetd.mcp.middleware import LISTEN, middleware_of
from widgetd.mcp.notifications import Clients, NoticeFor
from widgetd.mcp.observer import Notice
from widgetd.mcp.principal import Audience, placed

if TYPE_CHECKING:
    from widgetd.mcp.server import Server


class Root:
    """One server that clients connect to.

    Attributes:
        mcp: The server.
        clients: Who listens to it; shared with whatever else of ours it serves.
        middleware: The layer around every message that comes to it.
        uses: How often it runs with the widgets in it; twice where they are mounted twice.
    """

    def __init__(self, mcp: FastMCP, provider: Provider, server: Server) -> None:
        self.mcp = mcp
        # Whoever listens to `mcp` already, if they are told already.
        listening = sdk.answers(mcp, LISTEN)
        clients = getattr(listening, "__self__", None)
        if not isinstance(clients, Clients):
            clients = Clients()
            # With it the server advertises that its lists change (PrefectHQ/fastmcp issue 4920).
            if listening is None:
                sdk.answer(mcp, LISTEN, SubscriptionsListenRequestParams, clients.listen)
            sdk.answer(mcp, "resources/subscribe", SubscribeRequestParams, clients.subscribe)
            sdk.answer(mcp, "resources/unsubscribe", UnsubscribeRequestParams, clients.unsubscribe)
        self.clients = clients
        self.middleware = middleware_of(server, self)
        self.uses = 0
        self._provider = provider

    @cached_property
    def prefix(self) -> str:
        """What it puts before the path of the widgets' URIs, as `ui/`; most often nothing."""
        return sdk.path_prefix(self.mcp, self._provider)

    async def tell(self, notice_for: NoticeFor, tasks: TaskGroup) -> int:
        """Tell its clients what they may know of, see `Clients.tell`."""

        def as_named_here(audience: Audience) -> Notice:
            notice = notice_for(audience)
            updated = tuple(placed(uri, self.prefix) for uri in notice.updated)
            return replace(notice, updated=updated)

        return await self.clients.tell(as_named_here, tasks)


def add_root(mcp: FastMCP, provider: Provider, server: Server) -> Root:
    """Let clients of `mcp` reach what `server` serves; its first root remains."""
    root = Root(mcp, provider, server)
    sdk.add_middleware(mcp, root.middleware)
    server.roots.append(root)
    return root
