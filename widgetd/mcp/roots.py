"""The servers through which clients reach the widgets.

There is the one that the widgets were added to, and each that it is mounted into:
its clients see the same widgets, under other names perhaps, and hear of changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup
from fastmcp import FastMCP
from fastmcp.server.providers import Provider

from widgetd.mcp import sdk
from widgetd.mcp.middleware import middleware_of
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
        clients = getattr(sdk.answer_to_listen(mcp), "__self__", None)
        if not isinstance(clients, Clients):
            clients = Clients()
            sdk.serve_listen(mcp, clients.listen)
            sdk.serve_subscribe(mcp, clients.subscribe, clients.unsubscribe)
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


@contextmanager
def reached_through(mcp: FastMCP, provider: Provider, server: Server) -> Iterator[None]:
    """Within the block, clients of `mcp` reach what `server` serves.

    Args:
        mcp: Where they connect; it may be entered more than once.
        provider: What brings the widgets into it.
        server: What is served.
    """
    known = (root for root in server.roots if root.mcp is mcp)
    root = next(known, None) or add_root(mcp, provider, server)
    root.uses += 1
    try:
        yield
    finally:
        root.uses -= 1
        if not root.uses and root is not server.roots[0]:
            sdk.remove_middleware(mcp, root.middleware)
            server.roots.remove(root)


def add_root(mcp: FastMCP, provider: Provider, server: Server) -> Root:
    """Let clients of `mcp` reach what `server` serves; its first root remains."""
    root = Root(mcp, provider, server)
    sdk.add_middleware(mcp, root.middleware)
    server.roots.append(root)
    return root
