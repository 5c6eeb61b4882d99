"""Whoever comes without a good token is told, in a way that hosts act on, where to log in.

Where tokens are issued by an authorization server, its address stands in the metadata of this
resource, and every refusal names that metadata and the scopes to ask for: hosts then log their
user in by themselves. Where tokens stand in a file alone, there is nowhere to send anybody.

Source: RFC 9728, sections 3 and 5.1; RFC 6750, section 3; MCP specification 2025-11-25,
basic/authorization, "Protected Resource Metadata Discovery" and "Scope Challenge Handling".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, cast

import orjson
from fastmcp.server.auth import RemoteAuthProvider, TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url
from pydantic import AnyHttpUrl

from widgetd.mcp import sdk
from widgetd.mcp.principal import CALL, ELEVATED, READ, Principal
from widgetd.schema.json_text import NotJsonError, parse_sent

Reason = Literal["no_token", "unknown_token", "no_scope"]

USUAL = (READ, CALL)
"""What a host asks for at first."""

WELL_KNOWN = "/.well-known/oauth-protected-resource"
"""Where a resource without a path has its metadata; below it, the others have theirs."""

_HELD_BYTES = 4 * 1024 * 1024
"""Of a message that is read to find out which scope it needs; a longer one is never answered."""

_SAYS: Mapping[Reason, tuple[int, str, str]] = {
    "no_token": (401, "", "a token is needed; send it as 'Authorization: Bearer TOKEN'"),
    "unknown_token": (
        401,
        "invalid_token",
        "this token is not known here, or has ended; log in again, or ask for another",
    ),
    "no_scope": (403, "insufficient_scope", "this token lacks a scope; log in again with it"),
}


class Login:
    """Where to log in, and how often somebody was sent there.

    Args:
        issuer: The authorization server, as its tokens name it; empty where there is none.

    Attributes:
        refused: How many requests were refused, by reason.
    """

    def __init__(self, issuer: str = "") -> None:
        self.refused: Counter[Reason] = Counter(dict.fromkeys(_SAYS, 0))
        self._issuer = issuer
        self._metadata = ""

    def routes(self, verifier: TokenVerifier, base_url: object, path: str | None) -> list[Any]:
        """Where the metadata of the endpoint at `path` below `base_url` is, as routes of its app.

        Args:
            verifier: Finds out whose a token is.
            base_url: As clients know it; None where that is not known, and nothing can be said.
            path: Of the endpoint.
        """
        if not self._issuer or base_url is None:
            return []
        provider = RemoteAuthProvider(
            verifier,
            # Verbatim, for clients compare it as text, and a URL's model would add a slash to it.
            cast("list[AnyHttpUrl]", [self._issuer]),
            base_url=cast("AnyHttpUrl", base_url),
            scopes_supported=[*USUAL, ELEVATED],
            resource_name="widgetd",
        )
        self._metadata = str(
            build_resource_metadata_url(AnyHttpUrl(f"{str(base_url).rstrip('/')}{path}"))
        )
        return list(provider.get_routes(path))

    def refuse(self, reason: Reason, scopes: Collection[str] = USUAL) -> tuple[int, str, str]:
        """The status of a refusal, its challenge (`WWW-Authenticate`), and its sentence.

        Args:
            reason: Why it is refused; it is counted.
            scopes: What to ask for.
        """
        self.refused[reason] += 1
        status, error, sentence = _SAYS[reason]
        said = {"realm": "widgetd"}
        if error:
            said |= {"error": error, "error_description": sentence}
        if self._metadata:
            said |= {"scope": " ".join(scopes), "resource_metadata": self._metadata}
        return (
            status,
            "Bearer " + ", ".join(f'{key}="{text}"' for key, text in said.items()),
            sentence,
        )


class Challenges:
    """An ASGI layer around the endpoint and its authentication: lets in, or says how to log in.

    Args:
        app: What is let in to.
        login: Where to log in.
        principal_of: Whose a request is; None if it has no good token.
        steps_up: Whether a user came by a login, and may come again with more scopes.
        scope_of: The scope that a message needs, given its method and parameters; None for none.
    """

    def __init__(
        self,
        app: sdk.App,
        *,
        login: Login,
        principal_of: Callable[[object], Principal | None],
        steps_up: Callable[[object], bool],
        scope_of: Callable[[str, Mapping[str, Any]], str | None],
    ) -> None:
        self.app = app
        self._login = login
        self._principal_of = principal_of
        self._steps_up = steps_up
        self._scope_of = scope_of

    async def __call__(self, scope: sdk.Scope, receive: sdk.Receive, send: sdk.Send) -> None:
        """Hand a request on, or refuse it."""
        user = scope.get("user")
        principal = self._principal_of(user)
        if principal is None:
            await _send(send, self._login.refuse(reason_of(scope)))
            return
        if self._steps_up(user) and scope["method"] == "POST":
            taken = await _taken(receive)
            needed = self._needed(b"".join([one.get("body", b"") for one in taken]))
            if needed is not None and needed not in principal.scopes:
                # With what they have already, for hosts ask for exactly what is named.
                asked = sorted({needed, *principal.scopes})
                await _send(send, self._login.refuse("no_scope", asked))
                return
            receive = sdk.replayed(taken, receive)
        await self.app(scope, receive, send)

    def _needed(self, body: bytes) -> str | None:
        try:
            message = parse_sent(body)
        except NotJsonError:
            return None  # which is refused as anybody's
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return None
        params = message.get("params")
        return self._scope_of(message["method"], params if isinstance(params, dict) else {})


def reason_of(scope: sdk.Scope) -> Reason:
    """Why a request is refused that nobody is known to have sent."""
    said = dict(scope["headers"]).get(b"authorization", b"")
    # A browser sends its token as a password.
    sent = said.lower().startswith((b"bearer ", b"basic "))
    return "unknown_token" if sent else "no_token"


async def _taken(receive: sdk.Receive) -> list[sdk.Message]:
    taken = [await receive()]
    length = 0
    while taken[-1].get("more_body") and length <= _HELD_BYTES:
        length += len(taken[-1].get("body", b""))
        taken.append(await receive())
    return taken


async def _send(send: sdk.Send, refusal: tuple[int, str, str]) -> None:
    status, challenge, sentence = refusal
    body = orjson.dumps({"error_description": sentence})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"www-authenticate", challenge.encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
