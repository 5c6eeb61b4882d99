"""HTTP towards upstreams: a transport each, to record failures and bound responses.

The libraries above report many causes with the same sentence: 401 and 500 are the same error to
FastMCP's client. The transport records the cause. No proxy is used, no redirect followed and no
cookie kept.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import anyio.lowlevel
import httpx2
import orjson

from widgetd.base.system import SYSTEM
from widgetd.server.store.delivery.addresses import PrivateAddressError, pin_address, tls_context
from widgetd.upstreams.limits import LIMITS

TOO_LARGE = "too_large"
"""The reason of a response above the limits. It does not count: the upstream is well."""

Reduce = Callable[[dict[str, Any]], None]
"""Reduces the result of a `tools/list`, in place."""

KEY_META = "widgetd/idempotencyKey"
"""The key of `_meta` that identifies a press, for an upstream that speaks MCP."""

KEY_HEADER = "idempotency-key"
"""The header that identifies a press, for a service."""

PRESS_KEY: ContextVar[str] = ContextVar("press_key", default="")
"""The key of the press that a service is called for: FastMCP's server of an OpenAPI document runs
the call in a task of its own and has no other way to hand it to our HTTP client."""

_MCP_TYPES = ("application/json", "text/event-stream")


class TooLargeError(httpx2.StreamError):
    """A response exceeds `UpstreamLimits`.

    A `StreamError` fails one request. Any other error would end the SDK's whole session.
    """


Fate = Literal["sent", "undelivered", "refused"]
"""Of a request: it may have arrived, it did not, or its receiver refused it (4xx)."""


@dataclass(frozen=True, slots=True)
class TransportFailure:
    """A failed request.

    Attributes:
        reason: A word, as `refused`, `tls`, `http_500`, or `TOO_LARGE`.
        at: Time by the transport's clock.
        retry_after_s: The pause requested by the upstream.
    """

    reason: str
    at: float
    retry_after_s: float = LIMITS.retry_s


CALL_FAILURES: ContextVar[list[TransportFailure] | None] = ContextVar("call_failures", default=None)
"""The failed requests of the call that is under way; None outside of calls. The SDK sends each
message in the context of its caller, so calls at the same time do not see each other's."""


@dataclass(eq=False)
class RecordingTransport(httpx2.AsyncBaseTransport):
    """A transport with a record of failures: of calls in `CALL_FAILURES`, and the latest other.

    Attributes:
        private: Whether it may connect to addresses of this machine and network.
        is_mcp: Whether the server speaks MCP: answers in JSON or events at any status.
        clock: Monotonic time in seconds.
        failure: The latest failure outside of calls.
        reduce: Reduces the result of a `tools/list`, in place, or None to leave it.
        watched: The fate of the request of each press under way, by key.
    """

    private: bool
    is_mcp: bool
    clock: Callable[[], float] = SYSTEM.clock.steady_s
    failure: TransportFailure | None = None
    reduce: Reduce | None = None
    watched: dict[str, Fate] = field(default_factory=dict)
    _inner: httpx2.AsyncBaseTransport = field(
        default_factory=lambda: httpx2.AsyncHTTPTransport(verify=tls_context(), trust_env=False)
    )

    def failure_since(self, started_s: float) -> TransportFailure | None:
        """Return the latest failure of the call, else any after `started_s` outside of calls."""
        if failures := CALL_FAILURES.get():
            return failures[-1]
        return self.failure if self.failure and self.failure.at >= started_s else None

    def record(self, reason: str, *, retry_after_s: float = LIMITS.retry_s) -> None:
        failures = CALL_FAILURES.get()
        failure = TransportFailure(reason, self.clock(), retry_after_s)
        if failures is None:
            self.failure = failure
        else:
            failures.append(failure)

    def too_large(self) -> TooLargeError:
        self.record(TOO_LARGE)
        return TooLargeError("the response exceeds the limits")

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        if key := PRESS_KEY.get():
            request.headers[KEY_HEADER] = key
        self._note_fate(request, "sent")
        try:
            if not self.private:
                await pin_address(request, allow_private=False)
            response = await self._inner.handle_async_request(request)
        except (httpx2.HTTPError, OSError, PrivateAddressError) as error:
            reason = failure_reason(error) or "protocol"
            if isinstance(error, httpx2.ConnectError) and reason == "protocol":
                # It ended before it was established: within TLS, or without a listener.
                reason = "tls" if request.url.scheme == "https" else "refused"
            self.record(reason)
            if isinstance(error, (httpx2.ConnectError, PrivateAddressError)):
                self._note_fate(request, "undelivered")
            raise
        self._record_status(response)
        if 400 <= response.status_code < 500 and response.status_code != 408:
            self._note_fate(request, "refused")
        return await self._limit_body(response)

    def _note_fate(self, request: httpx2.Request, fate: Fate) -> None:
        """Record what became of a press's request.

        By the request itself: the latest failure may be of a probe, refused after the upstream
        took the press and ended.
        """
        if not self.watched:
            return
        header = request.headers.get(KEY_HEADER, "")
        body = request.content if not header and self.is_mcp else b""
        for key in self.watched:
            if key == header or key.encode() in body:
                self.watched[key] = fate

    async def _limit_body(self, response: httpx2.Response) -> httpx2.Response:
        """Return `response` with a body to be decoded and counted here.

        httpx2 decompresses behind the transport and keeps all of it, so a limit on arriving
        bytes would bound nothing: 6 MB of gzip are 6 GB.
        """
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        # Without MCP, an event stream is a body as any other.
        is_stream = self.is_mcp and _media_type(response) == "text/event-stream"
        if "," in encoding or (is_stream and encoding != "identity"):
            # Each coding multiplies by up to 1,000, and the bytes between two are never counted;
            # an event stream has no limit on its decoded bytes.
            self.record("protocol")
            await response.aclose()
            raise httpx2.DecodingError(f"the content coding {encoding[:40]}")
        body: httpx2.AsyncByteStream = _BoundedBody(response.stream, self, encoding, not is_stream)
        if self.reduce is not None:
            body = (_ReducedEvents if is_stream else _ReducedBody)(body, self, self.reduce)
        is_rewritten = encoding != "identity" or self.reduce is not None
        obsolete = {"content-encoding", "content-length"} if is_rewritten else set[str]()
        headers = [pair for pair in response.headers.multi_items() if pair[0] not in obsolete]
        if is_stream:
            # Events are always UTF-8. By another charset the SDK would read other events than here.
            headers = [pair for pair in headers if pair[0] != "content-type"]
            headers.append(("content-type", "text/event-stream"))
        return httpx2.Response(
            response.status_code, headers=headers, stream=body, extensions=response.extensions
        )

    def _record_status(self, response: httpx2.Response) -> None:
        status = response.status_code
        content_type = _media_type(response)
        if 300 <= status < 400:
            self.record("redirect")
        elif status in {401, 403}:
            self.record("auth")
        elif status >= 400:
            # In MCP's modern era a refusal in JSON answers a probe, or a wrong call.
            is_mcp_answer = content_type in _MCP_TYPES and status < 500
            is_answer = is_mcp_answer if self.is_mcp else is_refusal(status)
            if not is_answer:
                after_s = parse_retry_after(response.headers.get("retry-after", ""))
                self.record(f"http_{status}", retry_after_s=after_s)
        elif self.is_mcp and status == 200 and content_type not in _MCP_TYPES:
            self.record("not_mcp")

    async def aclose(self) -> None:
        await self._inner.aclose()


def is_refusal(status: int) -> bool:
    return 400 <= status < 500 and status not in {401, 403, 408, 429}


def parse_retry_after(value: str) -> float:
    """Return the seconds of a `Retry-After`, a number or a date; `LIMITS.retry_s` without one."""
    if value.isascii() and value.isdecimal() and len(value) < 10:
        return float(value)
    try:
        at = parsedate_to_datetime(value[:64])
    except (ValueError, OverflowError):
        return LIMITS.retry_s
    return max(at.timestamp() - SYSTEM.clock.wall_s(), 0.0)


def _media_type(response: httpx2.Response) -> str:
    content_type: str = response.headers.get("content-type", "")
    return content_type.partition(";")[0].strip().lower()


@dataclass(eq=False)
class _BoundedBody(httpx2.AsyncByteStream):
    """A body decompressed piece by piece, with an error above the limits."""

    _stream: Any
    _recorder: RecordingTransport
    _encoding: str
    _is_limited: bool

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = containers = 0
        try:
            async with aclosing(self._pieces()) as pieces:
                async for piece in pieces:
                    count += len(piece)
                    containers += count_containers(piece)
                    is_too_large = count > LIMITS.answer_bytes or containers > LIMITS.containers
                    if self._is_limited and is_too_large:
                        raise self._recorder.too_large()
                    yield piece
        except httpx2.HTTPError as error:
            self._recorder.record(failure_reason(error) or "protocol")
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
                # An arriving chunk may hold 1,000 pieces. Give the loop a turn after each.
                await anyio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        await self._stream.aclose()


@dataclass(eq=False)
class _ReducedBody(httpx2.AsyncByteStream):
    """A body with a large list of tools reduced before the SDK parses it."""

    _body: httpx2.AsyncByteStream
    _recorder: RecordingTransport
    _reduce: Reduce

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content = bytearray()
        async for piece in self._body:
            content += piece
        yield await reduce_message(bytes(content), self._reduce)

    async def aclose(self) -> None:
        await self._body.aclose()


@dataclass(eq=False)
class _ReducedEvents(_ReducedBody):
    """An event stream with bounded events, and a large list of tools reduced."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pending, ends_in_return = bytearray(), False
        async for piece in self._body:
            # Lines end in CR, LF or both. CR at the end of a piece may be half of both.
            lines = piece[1:] if ends_in_return and piece[:1] == b"\n" else piece
            ends_in_return = piece[-1:] == b"\r" or (ends_in_return and not piece)
            before = max(len(pending) - 1, 0)
            pending += lines.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            end = pending.rfind(b"\n\n", before) + 2
            if end < 2:
                if len(pending) > LIMITS.answer_bytes:
                    raise self._recorder.too_large()
                continue
            events = bytes(pending[:end])
            del pending[:end]
            if len(events) <= LIMITS.loop_bytes:
                yield events
                continue
            for event in events.split(b"\n\n"):
                yield await self._bound_event(event) + b"\n\n"
        yield bytes(pending)

    async def _bound_event(self, event: bytes) -> bytes:
        if len(event) <= LIMITS.loop_bytes:
            return event
        lines = event.split(b"\n")
        data = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
        message = b"\n".join(data)
        if count_containers(message) > LIMITS.containers:
            raise self._recorder.too_large()
        message = await reduce_message(message, self._reduce)
        if len(message) > LIMITS.event_bytes:
            raise self._recorder.too_large()
        others = [line for line in lines if not line.startswith(b"data:")]
        return b"\n".join([*others, *(b"data: " + line for line in message.split(b"\n"))])


def count_containers(content: bytes) -> int:
    """Return how many objects and arrays a text of JSON may hold, to be held to the limit."""
    return content.count(b"[") + content.count(b"{")


async def reduce_message(content: bytes, reduce: Reduce) -> bytes:
    """Return a server's message with a large list of tools reduced before the SDK parses it.

    The SDK's parser takes 25 times the size of a list of small objects, since it builds a tree of
    its own before the objects of Python, and it runs in the event loop.
    """
    # The key may be written with escapes of ASCII letters.
    may_list = b'"tools"' in content or b"\\u00" in content
    if len(content) <= LIMITS.loop_bytes or not may_list:
        return content
    return await SYSTEM.threads.run_blocking(_reduce_response, content, reduce)


def _reduce_response(content: bytes, reduce: Reduce) -> bytes:
    try:
        response = orjson.loads(content)
    except orjson.JSONDecodeError:
        return content  # the SDK finds the words for it
    result = response.get("result") if isinstance(response, dict) else None
    if not isinstance(result, dict) or "tools" not in result:
        return content
    reduce(result)
    return orjson.dumps(response)


def http_client(
    recorder: RecordingTransport, headers: Mapping[str, str], base: str = ""
) -> httpx2.AsyncClient:
    """Return a client that sends by `recorder`. It has no timeouts: its user bounds each call."""
    return httpx2.AsyncClient(
        transport=recorder,
        base_url=base,
        headers=dict(headers),
        follow_redirects=False,
        trust_env=False,
        timeout=None,
    )


def failure_reason(error: BaseException) -> str:
    for cause in _chain(error):
        for kinds, reason in _REASONS:
            if isinstance(cause, kinds):
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


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes, each once: groups make circles of causes."""
    waiting, visited = [error], set()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in visited:
            continue
        visited.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions
        waiting += [inner for inner in (cause.__cause__, cause.__context__) if inner is not None]


async def probe(http: httpx2.AsyncClient, url: str) -> None:
    with suppress(httpx2.HTTPError, OSError, PrivateAddressError):
        await http.get(url)


async def close_client(http: httpx2.AsyncClient) -> None:
    with suppress(httpx2.HTTPError, OSError, RuntimeError):
        await http.aclose()
