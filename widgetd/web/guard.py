"""Let only those see a page whose token has its scope.

A program sends `Authorization: Bearer TOKEN`. A browser asks its user for a name,
which may be any, and a password, which is the token.
"""

from __future__ import annotations

import time
from base64 import b64decode
from binascii import Error as Undecodable
from collections.abc import Collection
from typing import Any

import anyio
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from widgetd.access.auth import Access, principal_of
from widgetd.access.principal import UNAUTHENTICATED, Principal
from widgetd.mcp.http_calls import caller_for
from widgetd.mcp.login import reason_of
from widgetd.mcp.server import Server
from widgetd.store.limits import admission
from widgetd.web.page import Page, refusal

_ASK = {"www-authenticate": 'Basic realm="widgetd", charset="UTF-8", Bearer realm="widgetd"'}
_NEEDED = PlainTextResponse("a token is needed\n", 401, headers=_ASK)


class Guard:
    """Lets those in whose token has a page's scope, with the widgets that they may see.

    Where nobody needs a token, `access` is None.
    """

    def __init__(self, server: Server, access: Access | None) -> None:
        self._server = server
        self._access = access
        self._open: dict[anyio.CancelScope, Principal] = {}
        if access is not None:
            access.watch(self._end)

    def around(self, app: ASGIApp, page: Page[Any]) -> ASGIApp:
        """Return `app` behind the page's checks.

        It answers 401 without a token, 403 without one of the page's scopes, and 429 above the
        principal's rate or number of slots.
        """
        scopes = page.scopes or frozenset()

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            principal = await self._principal(scope)
            if self._access is not None and principal.scopes.isdisjoint(scopes):
                known = principal is not UNAUTHENTICATED
                self._access.login.refused["no_scope" if known else reason_of(scope)] += 1
            if principal is UNAUTHENTICATED:
                answer: ASGIApp = _NEEDED
            elif principal.scopes.isdisjoint(scopes):
                needed = " or ".join(sorted(scopes))
                answer = PlainTextResponse(f"this token has no scope {needed}\n", 403)
            else:
                answer = self._charged(app, page, principal)
            scope.setdefault("state", {})["caller"] = caller_for(self._server, principal)
            await self._while_good(principal, answer, scope, receive, send)

        return guarded

    def _charged(self, app: ASGIApp, page: Page[Any], principal: Principal) -> ASGIApp:
        async def charged(scope: Scope, receive: Receive, send: Send) -> None:
            limits = self._server.store.limits
            charge = admission(limits, principal.name, cost=page.cost, waits=page.waits)
            async with charge as decision:
                error = decision.refusal
                answer = app if error is None else refusal(error).response()
                await answer(scope, receive, send)

        return charged

    async def _while_good(
        self, principal: Principal, answer: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let `answer` go on until the token ends: some answers are streams."""
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        with anyio.move_on_after(principal.remaining_s(time.time())) as good:
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

    async def _principal(self, scope: Scope) -> Principal:
        if self._access is None:
            return self._server.anonymous
        said = HTTPConnection(scope).headers.get("authorization", "")
        if not said.lower().startswith("basic "):
            return principal_of(scope.get("user"), UNAUTHENTICATED)
        try:
            token = b64decode(said[6:], validate=True).decode().partition(":")[2]
        except (Undecodable, UnicodeDecodeError):
            token = ""
        proven = await self._access.verify_token(token) if token else None
        return UNAUTHENTICATED if proven is None else proven.principal
