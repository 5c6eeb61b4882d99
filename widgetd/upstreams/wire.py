"""HTTP towards upstreams: one client each, which notes what came back and how much of it.

What a library above says of a failure is one sentence for many causes; what is noted here is the
cause. No proxy, no redirect, no cookie is followed or kept.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio.lowlevel
import httpx2

from widgetd.store.delivery.addresses import PrivateAddressError, address_of
from widgetd.upstreams.limits import LIMITS

TOO_LARGE = "too_large"
"""Noted of an answer larger than that, which says nothing of whether the upstream is well."""

_JSON = ("application/json", "text/event-stream")


class TooLargeError(httpx2.StreamError):
    """A response exceeds `UpstreamLimits`.

    A `StreamError` fails one request; any other error would end the SDK's whole session.
    """


@dataclass(frozen=True, slots=True)
class Noted:
    """What went wrong on the wire.

    Attributes:
        reason: In one word, as `refused`, `tls`, `http_500`; or `TOO_LARGE`.
        at: When, by the clock of the wire.
        counts: Whether it says something of the upstream, and not only of what was asked.
    """

    reason: str
    at: float
    counts: bool


@dataclass(eq=False)
class Wire(httpx2.AsyncBaseTransport):
    """Passes requests on, and notes what goes wrong.

    Attributes:
        private: Whether addresses of this machine and network may be connected to.
        is_mcp: Whether MCP is spoken, whose answers are JSON or events whatever their status.
        clock: In seconds that never run backwards.
    """

    private: bool
    is_mcp: bool
    clock: Callable[[], float] = time.monotonic
    noted: Noted | None = None
    _inner: httpx2.AsyncHTTPTransport = field(
        default_factory=lambda: httpx2.AsyncHTTPTransport(trust_env=False)
    )

    def since(self, started_s: float) -> Noted | None:
        """The latest that went wrong after `started_s`."""
        return self.noted if self.noted and self.noted.at >= started_s else None

    def note(self, reason: str, *, counts: bool = True) -> None:
        """Something went wrong just now."""
        self.noted = Noted(reason, self.clock(), counts)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send `request` and return its response, decoded and bounded."""
        request.headers["accept-encoding"] = "identity"
        try:
            if not self.private:
                await self._pin(request)
            response = await self._inner.handle_async_request(request)
        except (httpx2.HTTPError, OSError, PrivateAddressError) as error:
            reason = reason_of(error) or "protocol"
            if isinstance(error, httpx2.ConnectError) and reason == "protocol":
                # A connection that ends before it is one: in the middle of TLS, or nobody listens.
                reason = "tls" if request.url.scheme == "https" else "refused"
            self.note(reason)
            raise
        self._look_at(response)
        return await self._bounded(response)

    async def _bounded(self, response: httpx2.Response) -> httpx2.Response:
        """Return `response` with a body that is decoded and counted here.

        httpx2 decompresses behind the transport and keeps all of it, so a limit on the bytes
        that arrive would bound nothing: 6 MB of gzip are 6 GB.
        """
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        if "," in encoding or (is_stream and encoding != "identity"):
            # Each coding multiplies by up to 1,000, and what lies between two is never counted;
            # a stream has no limit that its decoded bytes could be held to.
            self.note("protocol")
            await response.aclose()
            raise httpx2.DecodingError(f"the content coding {encoding[:40]}")
        bare = {"content-encoding", "content-length"} if encoding != "identity" else set()
        return httpx2.Response(
            response.status_code,
            headers=[pair for pair in response.headers.multi_items() if pair[0] not in bare],
            stream=_BoundedBody(response.stream, self, encoding, not is_stream),
            extensions=response.extensions,
        )

    def _look_at(self, response: httpx2.Response) -> None:
        status = response.status_code
        content_type = response.headers.get("content-type", "").partition(";")[0].strip()
        if 300 <= status < 400:
            self.note("redirect")
        elif status in {401, 403}:
            self.note("auth")
        elif status >= 400:
            # In MCP's modern era a refusal in JSON is an answer: to a probe, or to a bad call.
            said = self.is_mcp and content_type in _JSON and status < 500
            if not said:
                self.note(f"http_{status}", counts=self.is_mcp or status >= 500 or status == 429)
        elif self.is_mcp and status == 200 and content_type not in _JSON:
            self.note("not_mcp")

    async def _pin(self, request: httpx2.Request) -> None:
        """Connect to the address that was looked at, and to no other that the name may have."""
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        address = await address_of(url.host, port, allow_private=False)
        request.headers.setdefault("host", url.netloc.decode())
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        request.url = url.copy_with(host=address)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


@dataclass(eq=False)
class _BoundedBody(httpx2.AsyncByteStream):
    """A body that is decompressed piece by piece and ends with an error above the limits."""

    _stream: Any
    _wire: Wire
    _encoding: str
    _is_limited: bool

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = containers = 0
        try:
            async with aclosing(self._pieces()) as pieces:
                async for piece in pieces:
                    count += len(piece)
                    containers += piece.count(b"[") + piece.count(b"{")
                    is_too_large = count > LIMITS.answer_bytes or containers > LIMITS.containers
                    if self._is_limited and is_too_large:
                        self._wire.note(TOO_LARGE, counts=False)
                        raise TooLargeError("the response exceeds the limits")
                    yield piece
        except httpx2.HTTPError as error:
            self._wire.note(reason_of(error) or "protocol")
            raise

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        if self._encoding == "identity":
            async for piece in self._stream:
                yield piece
            return
        headers = {"content-encoding": self._encoding}
        packed = httpx2.Response(200, headers=headers, stream=self._stream)
        async with aclosing(packed.aiter_bytes(LIMITS.piece_bytes)) as decoded:
            async for piece in decoded:
                yield piece
                # One arriving chunk may hold 1,000 pieces; give the loop a turn after each.
                await anyio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        await self._stream.aclose()


def client(wire: Wire, headers: Mapping[str, str], base: str = "") -> httpx2.AsyncClient:
    """A client whose requests go over `wire`; how long they may take is for its user to say."""
    return httpx2.AsyncClient(
        transport=wire,
        base_url=base,
        headers=dict(headers),
        follow_redirects=False,
        trust_env=False,
        timeout=None,
    )


def reason_of(error: BaseException) -> str:
    """Why, in one word, as far as an exception and those within it tell; else nothing."""
    for one in within(error):
        for kinds, reason in _REASONS:
            if isinstance(one, kinds):
                return reason
    return ""


_REASONS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((socket.gaierror,), "dns"),
    ((PrivateAddressError,), "config"),
    ((ConnectionRefusedError,), "refused"),
    ((ssl.SSLError,), "tls"),
    ((FileNotFoundError, PermissionError, NotADirectoryError), "spawn"),
    ((TimeoutError, httpx2.TimeoutException), "timeout"),
    ((httpx2.UnsupportedProtocol, httpx2.InvalidURL), "config"),
    ((httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError), "protocol"),
)


def within(error: BaseException) -> Iterator[BaseException]:
    """`error`, and all that led to it, each once: where groups are raised, causes go in circles."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
        waiting += [inner for inner in (one.__cause__, one.__context__) if inner is not None]


async def asked(http: httpx2.AsyncClient, url: str) -> None:
    """Ask for `url` once; what comes of it is noted on the wire."""
    with suppress(httpx2.HTTPError, OSError, PrivateAddressError):
        await http.get(url)


async def closed(http: httpx2.AsyncClient) -> None:
    """Close a client, whatever state it is in."""
    with suppress(httpx2.HTTPError, OSError, RuntimeError):
        await http.aclose()
