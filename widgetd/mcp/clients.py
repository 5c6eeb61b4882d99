"""Clients that listen for changes, in both protocol eras.

A legacy client has a standing stream from its handshake on; a modern one asks for one with
`subscriptions/listen`. What is due twice is sent once, and a client that does not read delays
no other. No client hears of widgets that it may not see, nor after its token ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cache

import anyio
from anyio.abc import TaskGroup
from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp_types import (
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from widgetd.access.principal import CALLER, Audience, Principal
from widgetd.errors import CallError
from widgetd.mcp import sdk
from widgetd.observe.observer import Notice

MOST_SUBSCRIBED = 1000
"""Resources of one legacy client: more than it could read again whenever they change."""

NoticeFor = Callable[[Audience], Notice]
"""What changed, for those who see the same."""

_Notification = tuple[str, str]
"""A method, and the URI that it is about; empty where it is about none."""


@dataclass(eq=False, slots=True)
class LegacyClient:
    """One legacy client: what is due to it, until it can hear it.

    It hears on a standing stream that it opens itself, some time after its handshake, and opens
    again when the network has broken it. The SDK drops what is said while there is none; so what
    is due waits here, and what was sent on a stream that ended is sent again on the next, for
    nobody knows how much of it arrived.

    Attributes:
        connection: Where it is told.
        principal: Who it is.
        hears: Whether its standing stream is open, as far as that is known.
        subscribed: URIs of the resources whose changes it wants to hear of.
    """

    connection: Connection
    principal: Principal
    hears: bool
    subscribed: set[str] = field(default_factory=set)
    _due: dict[_Notification, None] = field(default_factory=dict)
    _sent: dict[_Notification, None] = field(default_factory=dict)
    _sending: bool = False

    def add(self, notice: Notice) -> bool:
        """Let `notice` be due to it, and say whether somebody should `send` it now."""
        if notice.tools:
            self._due["notifications/tools/list_changed", ""] = None
        if notice.resources:
            self._due["notifications/resources/list_changed", ""] = None
        for uri in self.subscribed.intersection(notice.updated):
            self._due["notifications/resources/updated", uri] = None
        return self._starts()

    def hear(self) -> bool:
        """Its standing stream is open: what was sent on the one before is due again, see `add`."""
        self.hears = True
        self._due = self._sent | self._due
        self._sent = {}
        return self._starts()

    async def send(self) -> None:
        """Send all that is due, including what falls due meanwhile."""
        try:
            while self._due and self.hears:
                method, uri = notification = next(iter(self._due))
                del self._due[notification]
                self._sent[notification] = None
                await self.connection.notify(method, {"uri": uri} if uri else None)
        finally:
            self._sending = False

    def _starts(self) -> bool:
        starts = bool(self._due) and self.hears and not self._sending
        self._sending = self._sending or starts
        return starts


class ListenStreams:
    """The listen streams of those who see the same."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self.bus)

    async def publish(self, notice: Notice) -> None:
        """Tell them."""
        if notice.tools:
            await self.bus.publish(ToolsListChanged())
        if notice.resources:
            await self.bus.publish(ResourcesListChanged())
        for uri in notice.updated:
            await self.bus.publish(ResourceUpdated(uri))


class Clients:
    """Who is listening, in both protocol eras."""

    def __init__(self) -> None:
        self._legacy: dict[Connection, LegacyClient] = {}
        self._sessions: dict[str, LegacyClient] = {}  # the same, of those that came by HTTP
        self._hearing: set[str] | None = None
        self._tasks: TaskGroup | None = None
        self._streams: dict[Audience, ListenStreams] = {}
        self._open: dict[anyio.CancelScope, Principal] = {}

    def __len__(self) -> int:
        return len(self._legacy) + len(self._open)

    async def listen(
        self, context: sdk.Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Answer `subscriptions/listen`: tell this client of changes until it or its token ends."""
        principal = CALLER.get().principal
        streams = self._streams.setdefault(principal.audience, ListenStreams())
        with anyio.move_on_after(principal.left_s(time.time())) as scope:
            self._open[scope] = principal
            try:
                return await streams.listen(context, params)
            finally:
                del self._open[scope]
        return SubscriptionsListenResult(_meta={SUBSCRIPTION_ID_META_KEY: context.request_id})

    def join(self, connection: Connection, principal: Principal) -> None:
        """Notify this legacy client of changes until its connection or its token ends."""
        if connection in self._legacy:
            self._legacy[connection].principal = principal
            return
        standing = connection.has_standalone_channel
        if connection.protocol_version in MODERN_PROTOCOL_VERSIONS or not standing:
            return
        session, hearing = connection.session_id, self._hearing
        hears = session is None or hearing is None or session in hearing
        self._legacy[connection] = client = LegacyClient(connection, principal, hears)
        if session is not None:
            self._sessions[session] = client
        connection.exit_stack.callback(self._leave, connection)

    def _leave(self, connection: Connection) -> None:
        self._legacy.pop(connection, None)
        self._sessions.pop(connection.session_id or "", None)

    async def subscribe(self, context: sdk.Context, params: SubscribeRequestParams) -> EmptyResult:
        """Answer `resources/subscribe`: tell this legacy client when that resource changes.

        Raises:
            MCPError: It is told of too many already.
        """
        connection = sdk.connection_of(context.session)
        self.join(connection, CALLER.get().principal)
        if client := self._legacy.get(connection):
            if len(client.subscribed) >= MOST_SUBSCRIBED:
                problem = f"a client subscribes to at most {MOST_SUBSCRIBED} resources"
                raise sdk.protocol_error(
                    CallError("W2203", f"{problem}; unsubscribe from some of them")
                )
            client.subscribed.add(params.uri)
        return EmptyResult()

    async def unsubscribe(
        self, context: sdk.Context, params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Answer `resources/unsubscribe`: tell it no more."""
        if client := self._legacy.get(sdk.connection_of(context.session)):
            client.subscribed.discard(params.uri)
        return EmptyResult()

    async def tell(self, notice_for: NoticeFor, tasks: TaskGroup) -> int:
        """Tell every client what it may know of, and return how many legacy clients that are.

        Args:
            notice_for: What changed, for those who see the same.
            tasks: Where a send that a client does not take at once goes on, now and later.
        """
        self._tasks = tasks
        notice_for, now = cache(notice_for), time.time()
        legacy = list(self._legacy.values())
        for client in legacy:
            if client.principal.left_s(now) <= 0:
                continue
            if client.add(notice_for(client.principal.audience)):
                tasks.start_soon(client.send)
        for audience, streams in list(self._streams.items()):
            await streams.publish(notice_for(audience))
        return len(legacy)

    def watch_streams(self) -> None:
        """Whoever serves HTTP will say which legacy session has its standing stream open."""
        self._hearing = set()

    def stream_opened(self, session: str) -> None:
        """The standing stream of a legacy session is open: send what was due before it was."""
        if self._hearing is not None:
            self._hearing.add(session)
        client = self._sessions.get(session)
        # Whatever is due became so in `tell`, which has tasks. A task it must be: the SDK has its
        # end of the stream ready one step later, and drops what is said before.
        if client is not None and client.hear() and self._tasks is not None:
            self._tasks.start_soon(client.send)

    def stream_ended(self, session: str) -> None:
        """It is not open any more; what is due waits for the next one."""
        if self._hearing is not None:
            self._hearing.discard(session)
        if session in self._sessions:
            self._sessions[session].hears = False

    def of_session(self, session: str) -> LegacyClient | None:
        """The client of a legacy session, once it was heard of after its handshake."""
        return self._sessions.get(session)

    def end(self, principals: Collection[Principal]) -> None:
        """Tell those who were `principals` nothing more; modern streams end with a final result.

        Legacy streams are for whoever knows their sessions to end.
        """
        for scope, principal in list(self._open.items()):
            if principal in principals:
                scope.cancel()
        for client in [one for one in self._legacy.values() if one.principal in principals]:
            self._leave(client.connection)

    def close(self) -> None:
        """End every listen stream gracefully; each client gets its final result."""
        for streams in self._streams.values():
            streams.listen.close()
