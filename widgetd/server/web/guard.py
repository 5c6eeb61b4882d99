"""Authentication, scopes and rates of pages.

A program sends `Authorization: Bearer TOKEN`. A browser asks its user for a name, ignored here,
and a password, the token.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Undecodable
from collections.abc import Collection
from typing import Any

import anyio
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from widgetd.base.system import SYSTEM
from widgetd.server.access.auth import Access, principal_of
from widgetd.server.access.principal import UNAUTHENTICATED, Principal
from widgetd.server.mcp.http_calls import caller_for
from widgetd.server.mcp.login import reason_of
from widgetd.server.mcp.server import Server
from widgetd.server.store.rate_limits import admission
from widgetd.server.web.page import WebPage, refusal

_CHALLENGE = {"www-authenticate": 'Basic realm="widgetd", charset="UTF-8", Bearer realm="widgetd"'}
_UNAUTHORIZED = PlainTextResponse(
    "a token is needed: as a bearer, or in a browser as the password of any name\n",
    401,
    headers=_CHALLENGE,
)


class Guard:
    """Admits requests by the scopes of their token, and charges them.

    Args:
        server: Serves the widgets. Its store has the limits.
        access: Verifies tokens, None where none is needed.
    """

    def __init__(self, server: Server, access: Access | None) -> None:
        self._server = server
        self._access = access
        self._running: dict[anyio.CancelScope, Principal] = {}
        if access is not None:
            access.watch(self._cancel)

    def around(self, app: ASGIApp, page: WebPage[Any]) -> ASGIApp:
        """Return `app` behind the page's checks.

        It answers 401 without a token, 403 without a scope of the page, and 429 above the
        principal's rate or number of slots.
        """
        scopes = page.scopes or frozenset()

        async def answer_if_admitted(scope: Scope, receive: Receive, send: Send) -> None:
            principal = await self._principal(scope)
            if self._access is not None and principal.scopes.isdisjoint(scopes):
                is_authenticated = principal is not UNAUTHENTICATED
                self._access.refused["no_scope" if is_authenticated else reason_of(scope)] += 1
            if principal is UNAUTHENTICATED:
                answer: ASGIApp = _UNAUTHORIZED
            elif principal.scopes.isdisjoint(scopes):
                needed = " or ".join(sorted(scopes))
                answer = PlainTextResponse(f"this token has no scope {needed}\n", 403)
            else:
                answer = self._charge(app, page, principal)
            scope.setdefault("state", {})["caller"] = caller_for(self._server, principal)
            await self._until_expiry(principal, answer, scope, receive, send)

        return answer_if_admitted

    def _charge(self, app: ASGIApp, page: WebPage[Any], principal: Principal) -> ASGIApp:
        async def answer_if_paid(scope: Scope, receive: Receive, send: Send) -> None:
            limits = self._server.store.limits
            charge = admission(limits, principal.name, cost=page.cost, waits=page.waits)
            async with charge as decision:
                error = decision.refusal
                answer = app if error is None else refusal(error).response()
                await answer(scope, receive, send)

        return answer_if_paid

    async def _until_expiry(
        self, principal: Principal, answer: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        with anyio.move_on_after(principal.remaining_s(SYSTEM.clock.wall_s())) as timer:
            self._running[timer] = principal
            try:
                await answer(scope, receive, sending)
            finally:
                del self._running[timer]
        if timer.cancelled_caught and started:
            await send({"type": "http.response.body"})
        elif timer.cancelled_caught:
            await _UNAUTHORIZED(scope, receive, send)

    def _cancel(self, revoked: Collection[Principal]) -> None:
        for timer, principal in list(self._running.items()):
            if principal in revoked:
                timer.cancel()

    async def _principal(self, scope: Scope) -> Principal:
        if self._access is None:
            return self._server.options.anonymous
        header = HTTPConnection(scope).headers.get("authorization", "")
        if not header.lower().startswith("basic "):
            return principal_of(scope.get("user"), UNAUTHENTICATED)
        try:
            token = b64decode(header[6:], validate=True).decode().partition(":")[2]
        except (Undecodable, UnicodeDecodeError):
            token = ""
        proven = await self._access.verify_token(token) if token else None
        return UNAUTHENTICATED if proven is None else proven.principal
