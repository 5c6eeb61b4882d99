"""Let only those see a page whose token has its scope.

A program sends `Authorization: Bearer TOKEN`. A browser asks its user for a name,
which may be any, and a password, which is the token.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Undecodable
from collections.abc import Iterable
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from widgetd.tools.access import Access, principal_of
from widgetd.tools.principal import NOBODY, Principal

_ASK = {"www-authenticate": 'Basic realm="widgetd", charset="UTF-8", Bearer realm="widgetd"'}


def guarded(access: Access | None, scopes: Iterable[str], routes: Iterable[Any]) -> list[Any]:
    """`routes`, for whoever has one of `scopes`; for everybody where nobody needs a token."""
    kept = list(routes)
    if access is not None:
        for route in kept:
            if isinstance(route, Route | Mount):
                route.app = _Guard(route.app, access, frozenset(scopes))
    return kept


class _Guard:
    """An ASGI layer around one page."""

    def __init__(self, app: ASGIApp, access: Access, scopes: frozenset[str]) -> None:
        self.app = app
        self._access = access
        self._scopes = scopes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 to whoever has no token, 403 to whoever has another."""
        principal = await self._principal(scope)
        if principal is NOBODY:
            answer: ASGIApp = PlainTextResponse("a token is needed\n", 401, headers=_ASK)
        elif principal.scopes.isdisjoint(self._scopes):
            needed = " or ".join(sorted(self._scopes))
            answer = PlainTextResponse(f"this token has no scope {needed}\n", 403)
        else:
            answer = self.app
        await answer(scope, receive, send)

    async def _principal(self, scope: Scope) -> Principal:
        said = HTTPConnection(scope).headers.get("authorization", "")
        if not said.lower().startswith("basic "):
            return principal_of(scope.get("user"), NOBODY)
        token = _password(said[6:])
        proven = await self._access.verify_token(token) if token else None
        return NOBODY if proven is None else proven.principal


def _password(encoded: str) -> str:
    try:
        return b64decode(encoded, validate=True).decode().partition(":")[2]
    except (Undecodable, UnicodeDecodeError):
        return ""
