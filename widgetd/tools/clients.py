"""Every client that wants to hear of changes, in both protocol eras.

A legacy client has a standing stream from its handshake on; a modern one asks
for one with `subscriptions/listen`. A notification is a level, not an event:
what is due twice is sent once, and a client that does not read delays nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from anyio.abc import TaskGroup
from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

_TOOLS = "notifications/tools/list_changed"
_RESOURCES = "notifications/resources/list_changed"
_UPDATED = "notifications/resources/updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What clients are to be told, once.

    Attributes:
        tools: The list of tools is another one now.
        resources: The list of resources is another one now.
        updated: URIs of resources whose content is another one now.
    """

    tools: bool = False
    resources: bool = False
    updated: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.tools or self.resources or bool(self.updated)


@dataclass(eq=False, slots=True)
class _Listener:
    """One legacy client: what is due to it, and whether something is on its way."""

    connection: Connection
    subscribed: set[str] = field(default_factory=set)
    due: dict[tuple[str, str], None] = field(default_factory=dict)
    sending: bool = False

    def add(self, notice: Notice) -> None:
        if notice.tools:
            self.due[_TOOLS, ""] = None
        if notice.resources:
            self.due[_RESOURCES, ""] = None
        for uri in self.subscribed.intersection(notice.updated):
            self.due[_UPDATED, uri] = None

    async def send(self) -> None:
        """Send all that is due, including what falls due meanwhile."""
        self.sending = True
        try:
            while self.due:
                method, uri = next(iter(self.due))
                del self.due[method, uri]
                await self.connection.notify(method, {"uri": uri} if uri else None)
        finally:
            self.sending = False


class _Bus(InMemorySubscriptionBus):
    """The SDK's bus, and how many listen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.listeners = 0

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        unsubscribe = super().subscribe(listener)
        self.listeners += 1

        def leave() -> None:
            self.listeners -= 1
            unsubscribe()

        return leave


class Clients:
    """Who is listening.

    Attributes:
        listen: Answers `subscriptions/listen`.
    """

    def __init__(self) -> None:
        self._bus = _Bus()
        self._legacy: dict[Connection, _Listener] = {}
        self.listen = ListenHandler(self._bus)

    def __len__(self) -> int:
        return len(self._legacy) + self._bus.listeners

    def join(self, connection: Connection) -> None:
        """Tell this legacy client of changes until its connection ends."""
        standing = connection.has_standalone_channel
        if connection.protocol_version in MODERN_PROTOCOL_VERSIONS or not standing:
            return
        if connection not in self._legacy:
            self._legacy[connection] = _Listener(connection)
            connection.exit_stack.callback(self._legacy.pop, connection, None)

    def subscribe(self, connection: Connection, uri: str) -> None:
        """Tell this legacy client when the resource at `uri` changes."""
        self.join(connection)
        if connection in self._legacy:
            self._legacy[connection].subscribed.add(uri)

    def unsubscribe(self, connection: Connection, uri: str) -> None:
        """Tell it no more."""
        if connection in self._legacy:
            self._legacy[connection].subscribed.discard(uri)

    async def tell(self, notice: Notice, tasks: TaskGroup) -> int:
        """Tell every client, and answer how many legacy clients that are.

        Args:
            notice: What changed.
            tasks: Where a send that a client does not take at once goes on.
        """
        listeners = list(self._legacy.values())
        for listener in listeners:
            listener.add(notice)
            if listener.due and not listener.sending:
                listener.sending = True
                tasks.start_soon(listener.send)
        for event in _events(notice):
            await self._bus.publish(event)
        return len(listeners)

    def close(self) -> None:
        """End every listen stream gracefully; each client gets its final result."""
        self.listen.close()


def _events(
    notice: Notice,
) -> Iterable[ToolsListChanged | ResourcesListChanged | ResourceUpdated]:
    if notice.tools:
        yield ToolsListChanged()
    if notice.resources:
        yield ResourcesListChanged()
    for uri in notice.updated:
        yield ResourceUpdated(uri)
