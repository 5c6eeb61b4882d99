"""Announcements of MCP servers: a changed resource or list of tools.

A modern server sends them to subscribers. A server of the legacy era sends messages to its client.
The client passes them on by the URI of the resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastmcp import Client

CONNECTION_CLOSED = -32000
"""The code of the SDK's own error where a connection ends."""

Notify = Callable[[], None]


@dataclass(eq=False)
class ResourceListeners:
    """Callbacks for changes of resources, by URI."""

    _by_uri: dict[str, list[Notify]] = field(default_factory=dict)

    @contextmanager
    def adding(self, uri: str, notify: Notify) -> Iterator[None]:
        self._by_uri.setdefault(uri, []).append(notify)
        try:
            yield
        finally:
            self._by_uri[uri].remove(notify)
            if not self._by_uri[uri]:
                del self._by_uri[uri]

    def notify(self, uri: str) -> None:
        for notify in self._by_uri.get(uri, ()):
            notify()


async def follow_tools(client: Client[Any], notify: Notify) -> bool:
    """Call `notify` at each change of the tools. Return whether the connection was lost."""
    return await _follow(client, notify, tools_list_changed=True)


async def follow_resource(client: Client[Any], uri: str, notify: Notify) -> bool:
    """Call `notify` now and at each change of a resource, while the connection lasts.

    Now, because the resource may have changed after it was read and before this began.

    Returns:
        Whether the server is of the legacy era, whose changes go to `ResourceListeners`.
    """
    import mcp_types  # noqa: PLC0415 - most daemons have no upstream

    if client.initialize_result is None:
        await _follow(client, notify, is_due=True, resource_subscriptions=[uri])
        return False
    # The session's own method warns that newer servers do not have it.
    parameters = mcp_types.SubscribeRequestParams(uri=uri)
    request = mcp_types.SubscribeRequest(params=parameters)
    await client.session.send_request(request, mcp_types.EmptyResult)
    notify()
    return True


async def _follow(
    client: Client[Any], notify: Notify, *, is_due: bool = False, **topics: Any
) -> bool:
    from mcp import MCPError  # noqa: PLC0415 - most daemons have no upstream
    from mcp.client.subscriptions import SubscriptionLost, listen  # noqa: PLC0415 - likewise

    try:
        async with listen(client.session, **topics) as events:
            if is_due:
                notify()
            async for _ in events:
                notify()
    except SubscriptionLost:
        pass
    except MCPError as error:
        return error.code == CONNECTION_CLOSED  # else it does not offer subscriptions
    return True
