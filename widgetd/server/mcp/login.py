"""Answer unauthenticated requests with a challenge for hosts.

With an authorization server, every refusal names this resource's metadata and the needed scopes, so
hosts log their user in by themselves. With a token file alone, a refusal names no server.

Source: RFC 9728, sections 3 and 5.1; RFC 6750, section 3; MCP specification 2025-11-25,
basic/authorization, "Protected Resource Metadata Discovery" and "Scope Challenge Handling".
"""

from __future__ import annotations

from collections.abc import Collection

from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.server.access.auth import USUAL, Access, Reason, principal_of, steps_up
from widgetd.server.mcp import asgi
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.mcp.middleware import requirements_of
from widgetd.server.mcp.server import Server

WELL_KNOWN = "/.well-known/oauth-protected-resource"
"""Path of the metadata of a resource at `/`. Other resources' metadata is below it."""


class Challenges:
    """An ASGI layer for login challenges, around the endpoint and its authentication."""

    def __init__(self, app: asgi.App, *, server: Server, access: Access) -> None:
        self.app = app
        self._server = server
        self._access = access

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        user = scope.get("user")
        principal = principal_of(user, None)
        reason: Reason | None = reason_of(scope) if principal is None else None
        scopes: Collection[str] = USUAL
        if principal is not None and steps_up(user) and scope["method"] == "POST":
            messages = await asgi.receive_body(receive, LIMITS.challenged_bytes)
            receive = asgi.replay(messages, receive)
            needed = self._required_scope(b"".join([part.get("body", b"") for part in messages]))
            if needed is not None and needed not in principal.scopes:
                # Hosts request exactly the scopes named here, so name the granted scopes, too.
                reason, scopes = "no_scope", sorted({needed, *principal.scopes})
        if reason is None:
            await self.app(scope, receive, send)
            return
        status, challenge, sentence = self._access.refuse(reason, scopes)
        headers = [(b"www-authenticate", challenge.encode())]
        await asgi.respond(send, status, {"error_description": sentence}, headers)

    def _required_scope(self, body: bytes) -> str | None:
        try:
            message = parse_json(body)
        except NotJsonError:
            return None  # the SDK refuses it
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return None
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        needs = requirements_of(self._server, message["method"], params)
        return None if needs is None else needs.scope


def reason_of(scope: asgi.Scope) -> Reason:
    authorization = dict(scope["headers"]).get(b"authorization", b"")
    # A browser sends its token as a password.
    sent = authorization.lower().startswith((b"bearer ", b"basic "))
    return "unknown_token" if sent else "no_token"
