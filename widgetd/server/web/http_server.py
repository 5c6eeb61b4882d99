"""A port: binding, serving, and a shutdown after the requests in flight.

uvicorn would handle signals itself and wait for open streams. Here the daemon handles signals,
and streams are ended first.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import socket
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, cast

import anyio
import uvicorn
from starlette.applications import Starlette

from widgetd.base.errors import ConfigError
from widgetd.server.web.http_connection import ConnectionSlots, HttpConnection, ThrottledWarning
from widgetd.server.web.limits import LIMITS, HttpLimits

_NO_DESCRIPTOR = "socket.accept() out of system resource"
"""Message of asyncio for each connection it cannot accept, repeated every second."""


def most_connections() -> int:
    """Return the number of connections within this process's spare descriptors."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return HttpLimits().connections
    return min(
        HttpLimits().connections, max(descriptors - LIMITS.spare_descriptors, descriptors // 2)
    )


def bind(host: str, port: int) -> socket.socket:
    """Open a listening socket. Port 0 takes any free port.

    Raises:
        ConfigError: The port is in use (W0005) or needs a privilege (W0006), or the host is no
            address of this machine (W0002).
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio lets small writes go at once only where the protocol is named: without it, a response
    # on an open connection waits 40 ms for the client to acknowledge its headers.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(LIMITS.backlog)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            problem = f"port {port} on {host} is in use"
            advice = "stop what uses it, or choose another with --port"
            raise ConfigError("W0005", problem, advice, exit_code=3) from None
        if error.errno == errno.EACCES:
            problem = f"port {port} on {host} needs a right"
            advice = "choose one above 1023 with --port"
            raise ConfigError("W0006", problem, advice, exit_code=3) from None
        advice = "name one with --host, as 127.0.0.1 or 0.0.0.0"
        raise ConfigError("W0002", f"{host} is not an address of this machine", advice) from None
    return listener


def url_of(listener: socket.socket) -> str:
    """Return the listener's URL for clients on this machine: `http://127.0.0.1:8787`."""
    host, port = listener.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 - read, not bound
    return f"http://{name}:{port}"


class HttpServer(uvicorn.Server):
    """A server of an app on a socket.

    Args:
        app: The app.
        limits: Timeouts and number of connections.
        probes: Paths answered even when there are too many connections.
        after_start: Called once when requests are answered.
        before_end: Called once before connections are closed, to end the open streams.
    """

    def __init__(
        self,
        app: Starlette,
        *,
        limits: HttpLimits,
        probes: Collection[str],
        after_start: Callable[[], None] = lambda: None,
        before_end: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=cast("Any", partial(HttpConnection, slots=ConnectionSlots(limits, probes))),
                backlog=LIMITS.accepted_at_once,
                lifespan="on",
                ws="none",
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=LIMITS.shutdown_s,
            )
        )
        self._after_start = after_start
        self._before_end = before_end
        self._ending = anyio.Event()

    def end(self) -> None:
        self.should_exit = True
        self._ending.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        handler = partial(_handle_exception, ThrottledWarning("accept.failed"))
        asyncio.get_running_loop().set_exception_handler(handler)
        await super().startup(sockets)
        for listener in sockets or ():
            # asyncio uses one number both as backlog and as connections accepted at once.
            listener.listen(LIMITS.backlog)
        self._after_start()

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            with anyio.move_on_after(LIMITS.tick_s):
                await self._ending.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._before_end()
        await super().shutdown(sockets)


def _handle_exception(
    warning: ThrottledWarning, loop: asyncio.AbstractEventLoop, context: dict[str, Any]
) -> None:
    if context["message"] == _NO_DESCRIPTOR:
        warning.count(problem=str(context["exception"]))
    else:
        loop.default_exception_handler(context)
