"""Limits on legacy sessions: per principal, and in all.

A session costs memory as long as its client might come back. Opening a session costs a unit of the
rate limit. At the limit the longest idle session is closed: its client gets 404, as the protocol
says, and repeats the handshake. A request in flight or a standing stream prevents that.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.server.access.auth import principal_of
from widgetd.server.access.principal import Principal
from widgetd.server.mcp import asgi, sdk
from widgetd.server.mcp.clients import Clients
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.store.rate_limits import RateLimits, admission

_TOO_MANY = "as many sessions as may be are in use; end one, or try again later"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBounds:
    """Limits on legacy sessions.

    Attributes:
        most: Sessions of all principals.
        per_principal: Sessions of a named principal.
        idle_s: Idle time after which a session is closed.
    """

    most: int = 2000
    per_principal: int = 500
    idle_s: float = 300


@dataclass(eq=False, kw_only=True)
class Sessions:
    """An ASGI layer around the SDK's endpoint, to admit new sessions and track their owners."""

    app: asgi.App = field(kw_only=False)
    bounds: SessionBounds
    limits: RateLimits
    anonymous: Principal
    clients: Clients
    _owners: dict[str, Principal] = field(default_factory=dict)  # in the order of their last use
    _in_flight: Counter[str] = field(default_factory=Counter)
    _opening: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.clients.watch_streams()

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        headers = dict(scope.get("headers", ()))
        session = asgi.read_header(headers, b"mcp-session-id")
        version = asgi.read_header(headers, b"mcp-protocol-version")
        principal = principal_of(scope.get("user"), self.anonymous)
        if session in self._owners:
            await self._use(session, principal, scope, receive, send)
        elif session or (version and version not in HANDSHAKE_PROTOCOL_VERSIONS):
            await self.app(scope, receive, send)
        else:
            await self._open(principal, scope, receive, send)

    def count(self) -> int:
        return len(sdk.sessions_of(self.app))

    def end_streams(self, gone: Collection[Principal] | None = None) -> None:
        for session, owner in self._owners.items():
            if gone is None or owner in gone:
                sdk.end_stream(self.app, session)

    async def _open(
        self, principal: Principal, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send
    ) -> None:
        try:
            (await self.limits.take(principal.name)).check()
        except CallError as error:
            await _refuse(send, 429, error)
            return
        if not await self._make_room(principal.name):
            await _refuse(send, 503, CallError("W2204", _TOO_MANY))
            return

        async def send_and_note(message: asgi.Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                session = asgi.read_header(dict(message["headers"]), b"mcp-session-id")
                if session:
                    self._owners[session] = principal
            await send(message)

        self._opening[principal.name] += 1
        try:
            await self.app(scope, receive, send_and_note)
        finally:
            _decrement(self._opening, principal.name)

    async def _use(
        self,
        session: str,
        principal: Principal,
        scope: asgi.Scope,
        receive: asgi.Receive,
        send: asgi.Send,
    ) -> None:
        is_open = False

        async def send_and_note(message: asgi.Message) -> None:
            nonlocal is_open
            await send(message)
            if message["type"] == "http.response.start" and message["status"] == 200:
                is_open = True
                self.clients.stream_opened(session)

        with self.in_use(session, principal):
            if scope["method"] != "GET":
                await self.app(scope, receive, send)
                return
            async with admission(self.limits, principal.name, cost=0, waits=True) as place:
                if place.refusal is not None:
                    await _refuse(send, 429, place.refusal)
                    return
                left_s = min(principal.remaining_s(SYSTEM.clock.wall_s()), LIMITS.session_s)
                loop = asyncio.get_running_loop()
                ending = loop.call_later(left_s, sdk.end_stream, self.app, session)
                try:
                    await self.app(scope, receive, send_and_note)
                finally:
                    ending.cancel()
                    if is_open:
                        self.clients.stream_ended(session)

    @contextmanager
    def in_use(self, session: str, principal: Principal) -> Iterator[None]:
        """Protect a session from being closed for another while the block runs."""
        owner = self._owners.get(session)
        if owner is not None and principal.name == owner.name:
            self._owners[session] = principal
        self._in_flight[session] += 1
        try:
            yield
        finally:
            _decrement(self._in_flight, session)
            if session in self._owners:
                self._owners[session] = self._owners.pop(session)

    async def _make_room(self, name: str) -> bool:
        alive = sdk.sessions_of(self.app)
        self._owners = {
            session: owner for session, owner in self._owners.items() if session in alive
        }
        theirs = sum(owner.name == name for owner in self._owners.values()) + self._opening[name]
        if name and theirs >= self.bounds.per_principal:
            return await self._end_idle(lambda owner: owner.name == name)
        if len(self._owners) + self._opening.total() >= self.bounds.most:
            return await self._end_idle(lambda _: True)
        return True

    async def _end_idle(self, may_end: Callable[[Principal], bool]) -> bool:
        for session, owner in self._owners.items():
            if may_end(owner) and not self._in_flight[session]:
                del self._owners[session]
                await sdk.end_session(self.app, session)
                return True
        return False


def _decrement(counter: Counter[str], name: str) -> None:
    counter[name] -= 1
    if not counter[name]:
        del counter[name]


async def _refuse(send: asgi.Send, status: int, error: CallError) -> None:
    headers = [(b"retry-after", b"%d" % ceil(error.retry_after_s or 1))]  # whole seconds
    await asgi.refuse(send, status, sdk.SERVER_ERROR, error, headers)
