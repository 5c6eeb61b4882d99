"""Responses of upstreams are decoded and counted where their bytes are kept."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import httpx2
import orjson
import pytest

from widgetd.upstreams.limits import LIMITS
from widgetd.upstreams.listing import ToolListing
from widgetd.upstreams.transport import (
    TOO_LARGE,
    RecordingTransport,
    Reduce,
    TooLargeError,
    http_client,
)

EXPANDED_BYTES = 512 * 1024 * 1024


class Source(httpx2.AsyncBaseTransport):
    """An upstream that answers every request with these chunks.

    Attributes:
        sent: How many chunks were taken so far.
    """

    def __init__(self, chunks: list[bytes], **headers: str) -> None:
        self.chunks = chunks
        self.headers = {key.replace("_", "-"): value for key, value in headers.items()}
        self.sent = 0
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return httpx2.Response(200, headers=self.headers, content=self._body())

    async def _body(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            self.sent += 1
            yield chunk


def connect(
    source: Source, *, is_mcp: bool = False, reduce: Reduce | None = None
) -> tuple[RecordingTransport, httpx2.AsyncClient]:
    recorder = RecordingTransport(private=True, is_mcp=is_mcp, reduce=reduce, _inner=source)
    return recorder, http_client(recorder, {})


def bomb() -> list[bytes]:
    """Return `EXPANDED_BYTES` of zeros as gzip, in chunks of 16 KiB."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    zeros = bytes(1024 * 1024)
    # Blocks that refer to none before them can be repeated; no reader gets to the checksum.
    first, other = (packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    packed = first + other * (EXPANDED_BYTES // len(zeros) - 1)
    return [packed[at : at + 16384] for at in range(0, len(packed), 16384)]


async def test_requests_ask_for_uncompressed_responses() -> None:
    source = Source([b"{}"], content_type="application/json")
    async with connect(source)[1] as http:
        await http.get("http://it.example/")

    assert source.requests[0].headers["accept-encoding"] == "identity"


async def test_compressed_response_is_decoded_although_not_asked_for() -> None:
    source = Source([gzip.compress(b"x" * 200_000)], content_encoding="gzip", content_length="234")
    async with connect(source)[1] as http:
        response = await http.get("http://it.example/")

    assert response.content == b"x" * 200_000
    assert "content-encoding" not in response.headers


async def test_compressed_response_stops_at_the_limit_of_decoded_bytes() -> None:
    chunks = bomb()
    source = Source(chunks, content_encoding="gzip")
    recorder, http = connect(source)
    async with http:
        with pytest.raises(TooLargeError):
            await http.get("http://it.example/")

    assert recorder.failure is not None
    assert recorder.failure.reason == TOO_LARGE
    assert len(chunks) > 30
    assert source.sent <= 2


async def test_decoding_leaves_turns_to_others() -> None:
    source = Source([gzip.compress(b"x" * LIMITS.answer_bytes)], content_encoding="gzip")
    turns = pieces = 0
    done = anyio.Event()

    async def count_turns() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            await anyio.lowlevel.checkpoint()

    _, http = connect(source)
    async with anyio.create_task_group() as tasks, http:
        tasks.start_soon(count_turns)
        async with http.stream("GET", "http://it.example/") as response:
            async for piece in response.aiter_bytes():
                assert len(piece) <= LIMITS.piece_bytes
                pieces += 1
        done.set()

    assert pieces == LIMITS.answer_bytes // LIMITS.piece_bytes
    assert turns >= pieces


@pytest.mark.parametrize(
    ("coding", "kind"), [("gzip, gzip", "application/json"), ("gzip", "text/event-stream")]
)
async def test_unbounded_content_coding_is_refused(coding: str, kind: str) -> None:
    source = Source([gzip.compress(b"")], content_encoding=coding, content_type=kind)
    recorder, http = connect(source, is_mcp=True)
    async with http:
        with pytest.raises(httpx2.DecodingError, match=f"the content coding {coding}"):
            await http.get("http://it.example/")

    assert recorder.failure is not None
    assert recorder.failure.reason == "protocol"
    assert source.sent == 0


async def test_response_with_too_many_containers_stops() -> None:
    source = Source([b"[" + b"[]," * 10_000] * 400, content_type="application/json")
    recorder, http = connect(source)
    async with http:
        with pytest.raises(TooLargeError):
            await http.get("http://it.example/")

    assert recorder.failure is not None
    assert recorder.failure.reason == TOO_LARGE
    assert source.sent == 100


async def test_event_stream_of_a_service_is_bounded_as_any_other_response() -> None:
    source = Source([b"data: x\n" * 10_000] * 200, content_type="text/event-stream")
    _, http = connect(source)
    async with http:
        with pytest.raises(TooLargeError):
            await http.get("http://it.example/")


LARGE_LIST = orjson.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{}] * 50_000}})


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("size", [1, 7, 65_536, 10_000_000])
async def test_large_list_in_an_event_is_reduced_in_any_chunks(end: bytes, size: int) -> None:
    listing = ToolListing(())
    small, large = b"id: 1\ndata: {}\n\n", b"id: 2\ndata:" + LARGE_LIST + b"\n\n"
    # Single bytes take a second for each of 50,000 entries, so the list stays in one piece.
    parts = [large] if size < 100 else []
    content = (small + small if parts else small + large + small).replace(b"\n", end)
    chunks = [content[at : at + size] for at in range(0, len(content), size)]
    chunks += [part.replace(b"\n", end) for part in parts]
    _, http = connect(
        Source(chunks, content_type="text/event-stream; charset=utf-16"),
        is_mcp=True,
        reduce=listing.reduce,
    )
    async with http, http.stream("GET", "http://a.example") as response:
        events = [(one.id, one.data) async for one in httpx2.EventSource(response)]

    reduced = '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}'
    expected = [("1", "{}"), ("2", reduced), ("1", "{}")]
    assert events == (sorted(expected) if parts else expected)
    assert listing.dropped == {"shape": 50_000}


@pytest.mark.parametrize("event", [b"data: x\n", b": a comment\n", b"x", b"data: [[[[[[[[\n"])
async def test_event_above_the_limits_ends_the_stream(event: bytes) -> None:
    recorder, http = connect(
        Source([event * 10_000] * 2_000, content_type="text/event-stream"),
        is_mcp=True,
        reduce=ToolListing(()).reduce,
    )
    async with http:
        with pytest.raises(TooLargeError):
            await http.get("http://a.example")

    assert recorder.failure is not None
    assert recorder.failure.reason == TOO_LARGE


async def test_large_list_is_reduced_once_before_the_sdk_parses_it() -> None:
    useful = {
        "name": "lookup",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }
    listed = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [*([{}] * 50_000), useful]}}
    listing = ToolListing(())
    source = Source([orjson.dumps(listed)], content_type="application/json")
    recorder = RecordingTransport(private=True, is_mcp=True, reduce=listing.reduce, _inner=source)
    async with http_client(recorder, {}) as http:
        response = (await http.get("http://a.example")).json()
    listing.reduce(response["result"])

    assert response["result"]["tools"] == [
        {"name": "lookup", "inputSchema": {"type": "object", "properties": {}}}
    ]
    assert (set(listing.tools), listing.dropped) == ({"lookup"}, {"shape": 50_000})
    assert listing.tools["lookup"].is_read_only


@pytest.mark.parametrize(
    "body",
    [b'["tools"]', b'"tools"', b'{"result": "tools"}', b'{"result": ["tools"]}', b'{"tools": NaN}'],
)
async def test_large_response_without_a_list_of_tools_is_unchanged(body: bytes) -> None:
    body += b" " * LIMITS.loop_bytes
    source = Source([body], content_type="application/json")
    recorder = RecordingTransport(
        private=True, is_mcp=True, reduce=ToolListing(()).reduce, _inner=source
    )
    async with http_client(recorder, {}) as http:
        assert (await http.get("http://a.example")).content == body
