"""Let only those see a page whose token has its scope.

A program sends `Authorization: Bearer TOKEN`. A browser asks its user for a name,
which may be any, and a password, which is the token.
"""

from __future__ import annotations

import time
from base64 import b64decode
from binascii import Error as Undecodable
from collections.abc import Collection, Iterable
from typing import Any

import anyio
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from widgetd.mcp.auth import Access, principal_of
from widgetd.mcp.principal import CALLER, NOBODY, Caller, Principal
from widgetd.mcp.server import Server

_ASK = {"www-authenticate": 'Basic realm="widgetd", charset="UTF-8", Bearer realm="widgetd"'}
_NEEDED = PlainTextResponse("a token is needed\n", 401, headers=_ASK)


def guarded(
    server: Server, access: Access | None, scopes: Iterable[str], routes: Iterable[Any]
) -> list[Any]:
    """`routes`, for whoever has one of `scopes`, and with the widgets that they may see.

    Args:
        server: What is served.
        access: Finds out whose a token is; None where nobody needs one.
        scopes: One of them is enough.
        routes: The pages.
    """
    kept = list(routes)
    for route in kept:
        if isinstance(route, Route | Mount):
            route.app = _Guard(route.app, server, access, frozenset(scopes))
    return kept


class _Guard:
    """An ASGI layer around one page."""

    def __init__(
        self, app: ASGIApp, server: Server, access: Access | None, scopes: frozenset[str]
    ) -> None:
        self.app = app
        self._server = server
        self._access = access
        self._scopes = scopes
        self._open: dict[anyio.CancelScope, Principal] = {}
        if access is not None:
            access.watch(self._end)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 to whoever has no token, 403 to whoever has another."""
        principal = await self._principal(scope)
        if principal is NOBODY:
            answer: ASGIApp = _NEEDED
        elif principal.scopes.isdisjoint(self._scopes):
            needed = " or ".join(sorted(self._scopes))
            answer = PlainTextResponse(f"this token has no scope {needed}\n", 403)
        else:
            answer = self.app
        token = CALLER.set(self._caller(principal))
        try:
            await self._while_good(principal, answer, scope, receive, send)
        finally:
            CALLER.reset(token)

    async def _while_good(
        self, principal: Principal, answer: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let `answer` go on until the token ends: some answers are streams."""
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        with anyio.move_on_after(principal.left_s(time.time())) as good:
            self._open[good] = principal
            try:
                await answer(scope, receive, sending)
            finally:
                del self._open[good]
        if good.cancelled_caught and started:
            await send({"type": "http.response.body"})
        elif good.cancelled_caught:
            await _NEEDED(scope, receive, send)

    def _end(self, gone: Collection[Principal]) -> None:
        for good, principal in list(self._open.items()):
            if principal in gone:
                good.cancel()

    def _caller(self, principal: Principal) -> Caller:
        server = self._server
        snapshot = server.views.of(server.registry.current, principal.audience)
        return Caller(snapshot=snapshot, principal=principal)

    async def _principal(self, scope: Scope) -> Principal:
        if self._access is None:
            return self._server.otherwise
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
