"""Every client that wants to hear of changes, in both protocol eras.

A legacy client has a standing stream from its handshake on; a modern one asks
for one with `subscriptions/listen`. A notification is a level, not an event:
what is due twice is sent once, and a client that does not read delays nobody.
Nobody is told of what they may not see, nor after their token ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from widgetd.errors import CallError
from widgetd.mcp.admission import refused
from widgetd.mcp.caller import CALLER
from widgetd.mcp.listener import Listener
from widgetd.mcp.notice import Notice
from widgetd.mcp.principal import Audience, Principal

MOST_SUBSCRIBED = 1000
"""Resources of one legacy client: more than it could read again whenever they change."""

NoticeFor = Callable[[Audience], Notice]
"""What those who see the same are to be told."""


class _Streams:
    """The listen streams of those who see the same."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self.bus)


class Clients:
    """Who is listening."""

    def __init__(self) -> None:
        self._legacy: dict[Connection, Listener] = {}
        self._heard: set[str] | None = None
        self._tasks: TaskGroup | None = None
        self._streams: dict[Audience, _Streams] = {}
        self._open: dict[anyio.CancelScope, Principal] = {}

    def __len__(self) -> int:
        return len(self._legacy) + len(self._open)

    async def listen(
        self, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Answer `subscriptions/listen`: tell this client of changes until it or its token ends."""
        principal = CALLER.get().principal
        streams = self._streams.setdefault(principal.audience, _Streams())
        with anyio.move_on_after(principal.left_s(time.time())) as scope:
            self._open[scope] = principal
            try:
                return await streams.listen(context, params)
            finally:
                del self._open[scope]
        return SubscriptionsListenResult(_meta={SUBSCRIPTION_ID_META_KEY: context.request_id})

    def join(self, connection: Connection) -> None:
        """Tell this legacy client of changes until its connection or its token ends."""
        principal = CALLER.get().principal
        if connection in self._legacy:
            self._legacy[connection].principal = principal
            return
        standing = connection.has_standalone_channel
        if connection.protocol_version in MODERN_PROTOCOL_VERSIONS or not standing:
            return
        session, heard = connection.session_id, self._heard
        hears = session is None or heard is None or session in heard
        self._legacy[connection] = Listener(connection, principal, hears)
        connection.exit_stack.callback(self._legacy.pop, connection, None)

    def subscribe(self, connection: Connection, uri: str) -> None:
        """Tell this legacy client when the resource at `uri` changes.

        Raises:
            MCPError: It is told of too many already.
        """
        self.join(connection)
        if connection not in self._legacy:
            return
        subscribed = self._legacy[connection].subscribed
        if len(subscribed) >= MOST_SUBSCRIBED:
            raise refused(
                CallError(
                    "W2203",
                    f"a client subscribes to at most {MOST_SUBSCRIBED} resources; "
                    "unsubscribe from some of them",
                )
            )
        subscribed.add(uri)

    def unsubscribe(self, connection: Connection, uri: str) -> None:
        """Tell it no more."""
        if connection in self._legacy:
            self._legacy[connection].subscribed.discard(uri)

    async def tell(self, notice_for: NoticeFor, tasks: TaskGroup) -> int:
        """Tell every client what it may know of, and answer how many legacy clients that are.

        Args:
            notice_for: What changed, for those who see the same.
            tasks: Where a send that a client does not take at once goes on, now and later.
        """
        self._tasks = tasks
        notice_for, now = cache(notice_for), time.time()
        listeners = list(self._legacy.values())
        for listener in listeners:
            if listener.principal.left_s(now) <= 0:
                continue
            if listener.add(notice_for(listener.principal.audience)):
                tasks.start_soon(listener.send)
        for audience, streams in self._streams.items():
            for event in _events(notice_for(audience)):
                await streams.bus.publish(event)
        return len(listeners)

    def watch_streams(self) -> None:
        """Whoever serves HTTP will say which legacy session has its standing stream open."""
        self._heard = set()

    def stream_opened(self, session: str) -> None:
        """The standing stream of a legacy session is open: send what was due before it was."""
        if self._heard is not None:
            self._heard.add(session)
        for listener in self._of(session):
            # Whatever is due became so in `tell`, which has tasks. A task it must be: the SDK has
            # its end of the stream ready one step later, and drops what is said before.
            if listener.hear() and self._tasks is not None:
                self._tasks.start_soon(listener.send)

    def stream_ended(self, session: str) -> None:
        """It is not open any more; what is due waits for the next one."""
        if self._heard is not None:
            self._heard.discard(session)
        for listener in self._of(session):
            listener.hears = False

    def _of(self, session: str) -> Iterator[Listener]:
        return (one for one in self._legacy.values() if one.connection.session_id == session)

    def end(self, principals: Collection[Principal]) -> tuple[str, ...]:
        """Tell those who were `principals` nothing more.

        Returns:
            The legacy sessions that they had, for whoever can end their streams; the others'
            streams end with their final result.
        """
        for scope, principal in list(self._open.items()):
            if principal in principals:
                scope.cancel()
        ended = [one for one in self._legacy.values() if one.principal in principals]
        for listener in ended:
            del self._legacy[listener.connection]
        return tuple(one.connection.session_id or "" for one in ended)

    def close(self) -> None:
        """End every listen stream gracefully; each client gets its final result."""
        for streams in self._streams.values():
            streams.listen.close()


def _events(
    notice: Notice,
) -> Iterable[ToolsListChanged | ResourcesListChanged | ResourceUpdated]:
    if notice.tools:
        yield ToolsListChanged()
    if notice.resources:
        yield ResourcesListChanged()
    for uri in notice.updated:
        yield ResourceUpdated(uri)
