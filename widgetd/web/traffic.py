"""Every request over HTTP is counted, and logged where an operator wants that.

It stands before everything, the fast path too, so it counts into plain numbers that are read when
somebody asks. What a client chooses freely, as paths, is in no label and no log line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from http import HTTPMethod
from time import perf_counter

from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from widgetd.logs import get_logger

OTHER = "other"
"""The route of a path that leads nowhere, and the method that HTTP does not know."""

GONE = 499
"""The status of whoever left, or was cut off, before there was one; as nginx has it."""

_METHODS = frozenset(HTTPMethod)

_log = get_logger()


class Traffic:
    """What came and went so far.

    Args:
        log: Whether each request is logged as information; else it is at level `debug`.

    Attributes:
        requests: How many had an answer, by route, method and status.
        received_bytes: Of their bodies, by route.
        sent_bytes: Of the bodies of answers, by route.
    """

    def __init__(self, *, log: bool = False) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.received_bytes: Counter[str] = Counter()
        self.sent_bytes: Counter[str] = Counter()
        self._log = log

    def around(self, app: ASGIApp, routes: Iterable[BaseRoute]) -> ASGIApp:
        """`app`, each of whose requests is counted under one of `routes`, by its path."""
        named = [route for route in routes if isinstance(route, Route)]
        route_of = _route_of(named)

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            passing = _Passing(receive, send)
            started_s = perf_counter()
            try:
                await app(scope, passing.receive, passing.send)
            finally:
                method = scope["method"] if scope["method"] in _METHODS else OTHER
                route = route_of(scope)
                self.requests[route, method, passing.status] += 1
                self.received_bytes[route] += passing.received
                self.sent_bytes[route] += passing.sent
                facts = {
                    "route": route,
                    "method": method,
                    "status": passing.status,
                    "ms": round((perf_counter() - started_s) * 1000, 3),
                    "received_bytes": passing.received,
                    "sent_bytes": passing.sent,
                }
                if self._log:
                    _log.info("request.answered", **facts)
                else:
                    _log.debug("request.answered", **facts)

        return counted


def _route_of(routes: list[Route]) -> Callable[[Scope], str]:
    plain = {route.path for route in routes if "{" not in route.path}
    patterns = [route for route in routes if "{" in route.path]

    def route_of(scope: Scope) -> str:
        path: str = scope["path"]
        if path in plain:
            return path
        for route in patterns:
            if route.matches(scope)[0] is not Match.NONE:
                return route.path
        return OTHER

    return route_of


class _Passing:
    """One request on its way through."""

    __slots__ = ("_receive", "_send", "received", "sent", "status")

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self.received = self.sent = 0
        self.status = GONE

    async def receive(self) -> Message:
        """More of the request."""
        message = await self._receive()
        self.received += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        """More of the answer."""
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)
