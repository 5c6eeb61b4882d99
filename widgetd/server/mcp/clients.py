"""Clients that listen for changes, in both protocol eras.

A legacy client has a standing stream from its handshake on. A modern client asks for a stream with
`subscriptions/listen`. A notification due twice is sent once, and a slow reader delays no other.
Clients learn nothing of hidden widgets, and nothing after their token ended.
"""

from __future__ import annotations

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

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.server.access.principal import CALLER, Audience, ClientInfo, Principal
from widgetd.server.mcp import sdk
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.observe.observer import Notice

NoticeFor = Callable[[Audience], Notice]
"""Returns what changed for an audience."""

_Notification = tuple[str, str]
"""A method and its URI. "" without one."""


@dataclass(eq=False, slots=True)
class LegacyClient:
    """A legacy client with its undelivered notifications.

    It opens a standing stream some time after its handshake, and again after a network failure. The
    SDK drops notifications while there is no stream, so they wait here. Those of an ended stream
    are sent again on the next, because some may not have arrived.

    Attributes:
        has_stream: Whether its standing stream is open, as far as known.
        info: Itself, known from its handshake on.
        subscribed: URIs of its subscribed resources.
    """

    connection: Connection
    principal: Principal
    has_stream: bool
    info: ClientInfo | None = None
    subscribed: set[str] = field(default_factory=set)
    _due: dict[_Notification, None] = field(default_factory=dict)
    _sent: dict[_Notification, None] = field(default_factory=dict)
    _sending: bool = False

    def add(self, notice: Notice) -> bool:
        if notice.tools:
            self._due["notifications/tools/list_changed", ""] = None
        if notice.resources:
            self._due["notifications/resources/list_changed", ""] = None
        for uri in self.subscribed.intersection(notice.updated):
            self._due["notifications/resources/updated", uri] = None
        return self._starts()

    def open_stream(self) -> bool:
        """Note a new stream, and requeue the last stream's notifications. Return as `add` does."""
        self.has_stream = True
        self._due = self._sent | self._due
        self._sent = {}
        return self._starts()

    async def send(self) -> None:
        try:
            while self._due and self.has_stream:
                method, uri = notification = next(iter(self._due))
                del self._due[notification]
                self._sent[notification] = None
                await self.connection.notify(method, {"uri": uri} if uri else None)
        finally:
            self._sending = False

    def _starts(self) -> bool:
        starts = bool(self._due) and self.has_stream and not self._sending
        self._sending = self._sending or starts
        return starts


class ListenStreams:
    """The listen streams of an audience.

    Attributes:
        open: The number of them.
    """

    def __init__(self) -> None:
        self.open = 0
        self.bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self.bus)

    async def publish(self, notice: Notice) -> None:
        if notice.tools:
            await self.bus.publish(ToolsListChanged())
        if notice.resources:
            await self.bus.publish(ResourcesListChanged())
        for uri in notice.updated:
            await self.bus.publish(ResourceUpdated(uri))


class Clients:
    """The listening clients of a server, in both protocol eras."""

    def __init__(self) -> None:
        self._legacy: dict[Connection, LegacyClient] = {}
        self._sessions: dict[str, LegacyClient] = {}  # those over HTTP, by session
        self._streaming: set[str] | None = None
        self._tasks: TaskGroup | None = None
        self._streams: dict[Audience, ListenStreams] = {}
        self._open: dict[anyio.CancelScope, Principal] = {}

    def __len__(self) -> int:
        return len(self._legacy) + len(self._open)

    async def listen(
        self, context: sdk.Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Answer `subscriptions/listen`: notify this client until it or its token ends."""
        principal = CALLER.get().principal
        streams = self._streams.setdefault(principal.audience, ListenStreams())
        with anyio.move_on_after(principal.remaining_s(SYSTEM.clock.wall_s())) as scope:
            self._open[scope] = principal
            streams.open += 1
            try:
                return await streams.listen(context, params)
            finally:
                del self._open[scope]
                streams.open -= 1
                # Each swap compares snapshots for every audience here.
                if not streams.open:
                    del self._streams[principal.audience]
        return SubscriptionsListenResult(_meta={SUBSCRIPTION_ID_META_KEY: context.request_id})

    def join(self, connection: Connection, principal: Principal) -> None:
        """Notify this legacy client of changes until its connection or its token ends."""
        if connection in self._legacy:
            self._legacy[connection].principal = principal
            return
        standing = connection.has_standalone_channel
        if connection.protocol_version in MODERN_PROTOCOL_VERSIONS or not standing:
            return
        session, streaming = connection.session_id, self._streaming
        has_stream = session is None or streaming is None or session in streaming
        self._legacy[connection] = client = LegacyClient(connection, principal, has_stream)
        if session is not None:
            self._sessions[session] = client
        connection.exit_stack.callback(self._leave, connection)

    def _leave(self, connection: Connection) -> None:
        self._legacy.pop(connection, None)
        self._sessions.pop(connection.session_id or "", None)

    async def subscribe(self, context: sdk.Context, params: SubscribeRequestParams) -> EmptyResult:
        """Answer `resources/subscribe` of a legacy client.

        Raises:
            MCPError: The client has too many subscriptions (W2203).
        """
        connection = sdk.connection_of(context.session)
        self.join(connection, CALLER.get().principal)
        if client := self._legacy.get(connection):
            if len(client.subscribed) >= LIMITS.subscriptions:
                problem = f"a client subscribes to at most {LIMITS.subscriptions} resources"
                raise sdk.protocol_error(
                    CallError("W2203", f"{problem}; unsubscribe from some of them")
                )
            client.subscribed.add(params.uri)
        return EmptyResult()

    async def unsubscribe(
        self, context: sdk.Context, params: UnsubscribeRequestParams
    ) -> EmptyResult:
        if client := self._legacy.get(sdk.connection_of(context.session)):
            client.subscribed.discard(params.uri)
        return EmptyResult()

    async def notify(self, notice_for: NoticeFor, tasks: TaskGroup) -> int:
        """Notify every client of its visible changes, and return the number of legacy clients.

        `tasks` runs the sends to legacy clients, also those of reopened streams.
        """
        self._tasks = tasks
        notice_for, now = cache(notice_for), SYSTEM.clock.wall_s()
        legacy = list(self._legacy.values())
        for client in legacy:
            if client.principal.remaining_s(now) <= 0:
                continue
            # In a task of its own: a client that does not read delays no other.
            if client.add(notice_for(client.principal.audience)):
                tasks.start_soon(client.send)
        for audience, streams in list(self._streams.items()):
            await streams.publish(notice_for(audience))
        return len(legacy)

    def watch_streams(self) -> None:
        """Expect `stream_opened` and `stream_ended` for legacy sessions from now on."""
        self._streaming = set()

    def stream_opened(self, session: str) -> None:
        if self._streaming is not None:
            self._streaming.add(session)
        client = self._sessions.get(session)
        # Only `notify` queues notifications, so `_tasks` is set by then. It has to be a task: the
        # SDK's end of the stream is ready one step later and drops anything sent before.
        if client is not None and client.open_stream() and self._tasks is not None:
            self._tasks.start_soon(client.send)

    def stream_ended(self, session: str) -> None:
        """Note the end of a stream. The queue waits for the next."""
        if self._streaming is not None:
            self._streaming.discard(session)
        if session in self._sessions:
            self._sessions[session].has_stream = False

    def of_session(self, session: str) -> LegacyClient | None:
        return self._sessions.get(session)

    def end(self, principals: Collection[Principal]) -> None:
        """Stop notifying these principals. Modern streams end with a final result.

        `Sessions` ends the streams of legacy sessions.
        """
        for scope, principal in list(self._open.items()):
            if principal in principals:
                scope.cancel()
        for client in list(self._legacy.values()):
            if client.principal in principals:
                self._leave(client.connection)

    def close(self) -> None:
        """End every listen stream gracefully: each client gets its final result."""
        for streams in self._streams.values():
            streams.listen.close()
