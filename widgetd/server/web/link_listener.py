"""The port of links over stdio: opened with the first address, closed with the client."""

from __future__ import annotations

import socket

import anyio
from starlette.applications import Starlette

from widgetd.base.errors import ConfigError
from widgetd.base.logs import get_logger
from widgetd.server.web.http_server import HttpServer, bind, url_of
from widgetd.server.web.limits import HttpLimits

_log = get_logger()

_CONNECTIONS = 32
"""Browsers of one person."""


class LinkListener:
    """A listener on a free port of the loopback address, opened at its first need."""

    def __init__(self) -> None:
        self._origin: str | None = None
        self._listener: socket.socket | None = None
        self._opened = anyio.Event()

    def origin(self) -> str:
        """Return the origin of the pages, and open the port. Empty where that is forbidden."""
        if self._origin is None:
            try:
                # A browser faster than `serve` waits in the kernel.
                self._listener = bind("127.0.0.1", 0)
            except ConfigError as error:
                _log.warning("links.unavailable", problem=error.problem)
            self._origin = "" if self._listener is None else url_of(self._listener)
            self._opened.set()
        return self._origin

    async def serve(self, app: Starlette) -> None:
        await self._opened.wait()
        if self._listener is None:
            return
        limits = HttpLimits(connections=_CONNECTIONS)
        with self._listener:
            await HttpServer(app, limits=limits, probes=()).serve([self._listener])
