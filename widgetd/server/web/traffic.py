"""Counts and log lines of HTTP requests.

The layer wraps everything, the fast path included, so it adds to plain counters for metrics.
Text from clients, such as paths, is in no label and no log line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from http import HTTPMethod

from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM

OTHER = "other"
"""Label of paths without a route and of methods that HTTP does not define."""

DISCONNECTED = 499
"""Status of requests whose client disconnected before there was one, as in nginx."""

_METHODS = frozenset(HTTPMethod)

_log = get_logger()


class Traffic:
    """Counters of the requests so far.

    Args:
        log: Log each request at level `info`, else at `debug`.

    Attributes:
        requests: Answered requests, by route, method and status.
        received_bytes: Size of their bodies, by route.
        sent_bytes: Size of the bodies of responses, by route.
    """

    def __init__(self, *, log: bool) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.received_bytes: Counter[str] = Counter()
        self.sent_bytes: Counter[str] = Counter()
        self._log = log

    def around(self, app: ASGIApp, routes: Iterable[BaseRoute]) -> ASGIApp:
        named = [route for route in routes if isinstance(route, Route)]
        route_of = _route_of(named)

        async def count_request(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            status, received_bytes, sent_bytes = DISCONNECTED, 0, 0

            async def receive_counted() -> Message:
                nonlocal received_bytes
                message = await receive()
                received_bytes += len(message.get("body", b""))
                return message

            async def send_counted(message: Message) -> None:
                nonlocal status, sent_bytes
                if message["type"] == "http.response.start":
                    status = int(message["status"])
                else:
                    sent_bytes += len(message.get("body", b""))
                await send(message)

            started_s = SYSTEM.clock.steady_s()
            try:
                await app(scope, receive_counted, send_counted)
            except Exception as error:
                # A page's own handler says so. This is a failure before or beside a page.
                if status != 500:
                    raise  # a client that left in the middle of its answer
                _log.error(
                    "request.crashed",
                    route=route_of(scope),
                    error=type(error).__name__,
                    exc_info=True,
                )
            finally:
                method = scope["method"] if scope["method"] in _METHODS else OTHER
                route = route_of(scope)
                self.requests[route, method, status] += 1
                self.received_bytes[route] += received_bytes
                self.sent_bytes[route] += sent_bytes
                log = _log.info if self._log else _log.debug
                log(
                    "request.answered",
                    route=route,
                    method=method,
                    status=status,
                    ms=round((SYSTEM.clock.steady_s() - started_s) * 1000, 3),
                    received_bytes=received_bytes,
                    sent_bytes=sent_bytes,
                )

        return count_request


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
