"""One legacy client: what is due to it, until it can hear it.

It hears on a standing stream that it opens itself, some time after its handshake,
and opens again when the network has broken it. The SDK drops what is said while
there is none; so what is due waits here, and what was said on a stream that ended
is said again on the next, for nobody knows how much of it arrived.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mcp.server.connection import Connection

from widgetd.mcp.notice import Notice
from widgetd.mcp.principal import Principal

_TOOLS = "notifications/tools/list_changed"
_RESOURCES = "notifications/resources/list_changed"
_UPDATED = "notifications/resources/updated"

_Said = tuple[str, str]
"""A method, and the URI that it is about; empty where it is about none."""


@dataclass(eq=False, slots=True)
class Listener:
    """One legacy client.

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
    _due: dict[_Said, None] = field(default_factory=dict)
    _said: dict[_Said, None] = field(default_factory=dict)
    _sending: bool = False

    def add(self, notice: Notice) -> bool:
        """Let `notice` be due to it, and say whether somebody should `send` it now."""
        if notice.tools:
            self._due[_TOOLS, ""] = None
        if notice.resources:
            self._due[_RESOURCES, ""] = None
        for uri in self.subscribed.intersection(notice.updated):
            self._due[_UPDATED, uri] = None
        return self._starts()

    def hear(self) -> bool:
        """Its standing stream is open: what was said on the one before is due again.

        Returns:
            Whether somebody should `send` it now.
        """
        self.hears = True
        self._due = self._said | self._due
        self._said = {}
        return self._starts()

    async def send(self) -> None:
        """Send all that is due, including what falls due meanwhile."""
        try:
            while self._due and self.hears:
                method, uri = said = next(iter(self._due))
                del self._due[said]
                self._said[said] = None
                await self.connection.notify(method, {"uri": uri} if uri else None)
        finally:
            self._sending = False

    def _starts(self) -> bool:
        starts = bool(self._due) and self.hears and not self._sending
        self._sending = self._sending or starts
        return starts
