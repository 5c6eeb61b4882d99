"""See when a legacy client's standing stream opens and ends, around the SDK's own endpoint.

Refuses to know what is said on it.
"""

from __future__ import annotations

from widgetd.mcp.clients import Clients
from widgetd.mcp.ready_lists import App, Message, Receive, Scope, Send

_SESSION = b"mcp-session-id"
_OPEN = 200


class StandingStreams:
    """An ASGI layer that tells `clients` who can hear.

    Args:
        app: The SDK's own endpoint.
        clients: Are told of each stream.
    """

    def __init__(self, app: App, clients: Clients) -> None:
        self.app = app
        self._clients = clients
        clients.watch_streams()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on; where it is a standing stream, say so while it is open."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        session = dict(scope["headers"]).get(_SESSION, b"").decode("latin-1")
        opened = False

        async def watched(message: Message) -> None:
            nonlocal opened
            await send(message)
            if message["type"] == "http.response.start" and message["status"] == _OPEN:
                opened = True
                self._clients.stream_opened(session)

        try:
            await self.app(scope, receive, watched)
        finally:
            if opened:
                self._clients.stream_ended(session)
