"""Whoever comes without a good token is told, in a way that hosts act on, where to log in.

Where tokens are issued by an authorization server, its address stands in the metadata of this
resource, and every refusal names that metadata and the scopes to ask for: hosts then log their
user in by themselves. Where tokens stand in a file alone, there is nowhere to send anybody.

Source: RFC 9728, sections 3 and 5.1; RFC 6750, section 3; MCP specification 2025-11-25,
basic/authorization, "Protected Resource Metadata Discovery" and "Scope Challenge Handling".
"""

from __future__ import annotations

from collections.abc import Collection

from widgetd.access.auth import USUAL, Login, Reason, principal_of, steps_up
from widgetd.mcp import sdk
from widgetd.mcp.middleware import needs_of
from widgetd.mcp.server import Server
from widgetd.schema.json_text import NotJsonError, parse_sent

WELL_KNOWN = "/.well-known/oauth-protected-resource"
"""Where a resource without a path has its metadata; below it, the others have theirs."""

_HELD_BYTES = 4 * 1024 * 1024
"""Of a message that is read to find out which scope it needs; a longer one is never answered."""


class Challenges:
    """An ASGI layer around the endpoint and its authentication: lets in, or says how to log in."""

    def __init__(self, app: sdk.App, *, server: Server, login: Login) -> None:
        self.app = app
        self._server = server
        self._login = login

    async def __call__(self, scope: sdk.Scope, receive: sdk.Receive, send: sdk.Send) -> None:
        """Hand a request on, or refuse it."""
        user = scope.get("user")
        principal = principal_of(user, None)
        reason: Reason | None = reason_of(scope) if principal is None else None
        asked: Collection[str] = USUAL
        if principal is not None and steps_up(user) and scope["method"] == "POST":
            taken = await sdk.taken(receive, _HELD_BYTES)
            receive = sdk.replayed(taken, receive)
            needed = self._needed(b"".join([one.get("body", b"") for one in taken]))
            if needed is not None and needed not in principal.scopes:
                # With what they have already, for hosts ask for exactly what is named.
                reason, asked = "no_scope", sorted({needed, *principal.scopes})
        if reason is None:
            await self.app(scope, receive, send)
            return
        status, challenge, sentence = self._login.refuse(reason, asked)
        headers = [(b"www-authenticate", challenge.encode())]
        await sdk.respond(send, status, {"error_description": sentence}, headers)

    def _needed(self, body: bytes) -> str | None:
        """The scope that a message needs; None for none."""
        try:
            message = parse_sent(body)
        except NotJsonError:
            return None  # which is refused as anybody's
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return None
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        needs = needs_of(self._server, message["method"], params)
        return None if needs is None else needs.scope


def reason_of(scope: sdk.Scope) -> Reason:
    """Why a request is refused that nobody is known to have sent."""
    said = dict(scope["headers"]).get(b"authorization", b"")
    # A browser sends its token as a password.
    sent = said.lower().startswith((b"bearer ", b"basic "))
    return "unknown_token" if sent else "no_token"
