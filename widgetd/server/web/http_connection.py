"""A client's connection: strict HTTP/1.1, bounded in time, size and number.

Bytes with two readings by different parsers are refused, and the connection is
closed: both ways to frame a body at once, folded lines, bare line feeds, two Hosts. llhttp refuses
most of them, this module the rest. Requests have deadlines. A connection closed in the
middle of a request is drained first, for the client to read the answer.

Source: RFC 9112, sections 3.2 (Host), 6.1 and 6.3 (framing), 9.6 (closing), and RFC 9110, section
6.5 (trailers may be ignored).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from http import HTTPStatus
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern
from widgetd.server.web.limits import LIMITS, HttpLimits

_HOST = compile_pattern(rb"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")

_log = get_logger()


class ThrottledWarning:
    """A recurring log event, logged once per interval with its number of occurrences."""

    def __init__(self, event: str) -> None:
        self._event = event
        self._times = 0
        self._next = 0.0

    def count(self, **facts: Any) -> None:
        """Count an occurrence, and log it after an interval."""
        self._times += 1
        now = SYSTEM.clock.steady_s()
        if now >= self._next:
            _log.warning(self._event, times=self._times, **facts)
            self._times, self._next = 0, now + LIMITS.warning_interval_s


class ConnectionSlots:
    """The slots of a port's connections, and some for probes when there are no others."""

    def __init__(self, limits: HttpLimits, probes: Collection[str]) -> None:
        self.limits = limits
        self._probes = frozenset(probes)
        self._for_probes: dict[HttpConnection, None] = {}
        self._full = ThrottledWarning("connections.exhausted")

    def enter(self, connection: HttpConnection, opened: int) -> bool:
        """Return whether `connection` got a slot, with `opened` others. Else it answers probes."""
        if opened - len(self._for_probes) <= self.limits.connections:
            return True
        self._full.count(most=self.limits.connections)
        self._for_probes[connection] = None
        if len(self._for_probes) > self.limits.probe_connections:
            oldest = next(iter(self._for_probes))
            self.leave(oldest)
            oldest.transport.abort()
        return False

    def leave(self, connection: HttpConnection) -> None:
        self._for_probes.pop(connection, None)

    async def answer_probes(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in self._probes:
            await app(scope, receive, send)
            return
        text = b"too many connections are open; try again\n"
        headers = [(b"content-length", b"%d" % len(text)), (b"retry-after", b"1")]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": text})


class _Expected(Enum):
    HEADER = auto()
    BODY = auto()
    NOTHING = auto()


class HttpConnection(HttpToolsProtocol):
    """uvicorn's protocol with strict parsing, deadlines and limits."""

    def __init__(self, *, slots: ConnectionSlots, **options: Any) -> None:
        super().__init__(**options)
        self._slots = slots
        self._limits = slots.limits
        self._expected = _Expected.HEADER
        self._advanced = False
        self._overhead = 0
        self._timer: asyncio.TimerHandle | None = None
        self._lingering = False
        self._refused = False
        self._keep_alive = True
        self._has_begun = False
        self._admitted = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        ours = _Transport(transport, self.loop, self.linger)
        super().connection_made(cast("asyncio.Transport", ours))
        self._admitted = self._slots.enter(self, len(self.connections))
        if not self._admitted:
            self.app = cast("Any", partial(self._slots.answer_probes, cast("ASGIApp", self.app)))
        self._arm(self._limits.header_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self._slots.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._lingering or self._refused:
            return
        self._advanced = False
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._expected is _Expected.NOTHING:
            if self._answering is not None:
                return
            self._expected = _Expected.HEADER  # line breaks before the next request
        self._overhead = 0 if self._advanced else self._overhead + len(data)
        if self._overhead > LIMITS.overhead_bytes:
            self._refuse(431)
        elif self._timer is None:
            header = self._expected is _Expected.HEADER
            self._arm(self._limits.header_s if header else self._limits.body_s)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_begun = True
        self._expected, self._advanced = _Expected.HEADER, True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a field without white space around its value. llhttp strips only the front.

        Source: RFC 9110, section 5.5.
        """
        super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        self._check_header()
        super().on_headers_complete()
        self._disarm()
        self._expected, self._advanced = _Expected.BODY, True
        # llhttp would add trailers to these fields.
        self.headers = []
        # After an answer before the end of its body, a client is not read any further.
        self._keep_alive = self.cycle.keep_alive and self._admitted
        self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._advanced = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._disarm()
        self._expected = _Expected.NOTHING
        if not self.cycle.response_started:
            self.cycle.keep_alive = self._keep_alive
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request, or close after the last before a refused request."""
        is_last = not self.pipeline
        super().on_response_complete()
        if self._refused and is_last and not self.transport.is_closing():
            self.transport.close()

    def shutdown(self) -> None:
        self._keep_alive = False
        super().shutdown()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _unsupported_upgrade_warning(self) -> None:
        # The parser takes what follows for bytes of the other protocol.
        self.cycle.keep_alive = False

    @property
    def _answering(self) -> RequestResponseCycle | None:
        last = cast("RequestResponseCycle | None", self.cycle)
        return None if last is None or last.response_complete else last

    def _check_header(self) -> None:
        """Refuse a header that other parsers read differently, by a ValueError."""
        version = self.parser.get_http_version()
        hosts = [value for name, value in self.headers if name == b"host"]
        codings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
        if version not in {"1.0", "1.1"}:
            raise ValueError("version")
        if len(hosts) != 1 and (hosts or version == "1.1"):
            raise ValueError("host")
        if hosts and not _HOST.fullmatch(hosts[0]):
            raise ValueError("host")
        if codings and (codings != [b"chunked"] or version == "1.0"):
            raise ValueError("transfer-encoding")
        if not self.url.startswith((b"/", b"*")):
            authority = self.url.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0]
            if [authority] != hosts:
                raise ValueError("target")

    def _arm(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self._overdue, seconds)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _overdue(self, seconds: float) -> None:
        if self.flow.read_paused:  # this side does not read
            self._arm(seconds)
        elif not self._has_begun:  # a silent client gets no answer
            self.transport.abort()
        else:
            self._refuse(408)

    def _refuse(self, status: int, reason: str = "") -> None:
        self._disarm()
        self._refused = True
        cycle, inside = self._answering, self._expected is _Expected.BODY
        if cycle is not None and (not inside or self.pipeline):
            if inside:
                self.pipeline.popleft()
            return
        if cycle is None or not cycle.response_started:
            text = (reason or HTTPStatus(status).phrase).encode() + b"\n"
            head = b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode())
            kind = b"content-type: text/plain; charset=utf-8\r\n"
            length = b"content-length: %d\r\nconnection: close\r\n\r\n" % len(text)
            self.transport.write(head + kind + length + text)
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()

    def linger(self, transport: asyncio.Transport) -> None:
        """Close, after a client still sending had time to read the answer.

        A socket closed with bytes unread resets its connection, and the last bytes written
        may be lost.
        """
        if self._lingering or self._expected is _Expected.NOTHING or transport.is_closing():
            transport.close()
            return
        self._lingering = True
        self._disarm()
        self._unset_keepalive_if_required()
        if transport.can_write_eof():
            with suppress(OSError):  # the client has left already
                transport.write_eof()
        self.flow.resume_reading()
        self._timer = self.loop.call_later(self._limits.linger_s, transport.abort)


class _Transport:
    """A transport with header and body in a single packet, closed by its owner.

    Two packets of a response wake its reader twice.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        linger: Callable[[asyncio.Transport], None],
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._linger = linger
        self._is_closed = False
        self._header = b""
        self._flushing: asyncio.Handle | None = None
        self.abort = transport.abort
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading
        self.get_extra_info = transport.get_extra_info

    def write(self, data: bytes | memoryview) -> None:
        """Send `data`. A header waits for the rest of this turn of the loop."""
        if len(data) > LIMITS.copied_bytes:
            self._flush()
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
            self._transport.write(self._header + data)
        elif data[:5] == b"HTTP/":
            self._header = bytes(data)
            self._flushing = self._loop.call_soon(self._flush)
        else:
            self._transport.write(data)

    def _flush(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
            self._transport.write(self._header)

    def close(self) -> None:
        self._flush()
        self._is_closed = True
        self._linger(self._transport)

    def is_closing(self) -> bool:
        return self._is_closed or self._transport.is_closing()
