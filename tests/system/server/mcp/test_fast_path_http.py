"""However a request comes over a connection, the fast path answers it as the ordinary way does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from tests.support.clients import Era, connect_client
from tests.support.patience import PATIENCE_S
from tests.support.sockets import connect, modern_request
from tests.unit.server.mcp.two_ways import Clock, Way, made_ways, read_stable, stable
from widgetd.server.web.http_server import HttpServer, bind, url_of
from widgetd.server.web.limits import HttpLimits

CALL = {"name": "greeting", "arguments": {"who": "Ada"}}
LARGE = {"name": "greeting", "arguments": {"who": "a" * 70_000}}
TOO_LARGE = {"name": "greeting", "arguments": {"who": "a" * 5_000_000}}

Reply = tuple[int, Any]


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Both ways, each on a port of its own."""

    fast: Way
    around: Way
    urls: Sequence[str]


@asynccontextmanager
async def ports() -> AsyncIterator[Ports]:
    ways = made_ways(Clock())
    with ExitStack() as stack:
        listeners = [stack.enter_context(bind("127.0.0.1", 0)) for _ in ways]
        async with anyio.create_task_group() as tasks:
            servers = []
            for way, listener in zip(ways, listeners, strict=True):
                started = anyio.Event()
                server = HttpServer(
                    way.app, limits=HttpLimits(), probes=(), after_start=started.set
                )
                tasks.start_soon(server.serve, [listener])
                with anyio.fail_after(PATIENCE_S):
                    await started.wait()
                servers.append(server)
            urls = [f"{url_of(listener)}/mcp" for listener in listeners]
            yield Ports(fast=ways[0], around=ways[1], urls=urls)
            for server in servers:
                server.end()


async def exchange(url: str, parts: Sequence[bytes], replies: int) -> list[Reply]:
    """Send `parts` one after the other, and take so many replies."""
    received = b""
    taken: list[Reply] = []
    with anyio.fail_after(PATIENCE_S):
        async with await connect(url) as stream:
            for part in parts:
                if part is CONTINUE:
                    while b"100 Continue\r\n\r\n" not in received:
                        received += await stream.receive()
                    received = received.partition(b"100 Continue\r\n\r\n")[2]
                    continue
                await stream.send(part)
                await anyio.lowlevel.checkpoint()
            while len(taken) < replies:
                head, end, rest = received.partition(b"\r\n\r\n")
                length = next(
                    (
                        int(line.partition(b":")[2])
                        for line in head.split(b"\r\n")
                        if line.lower().startswith(b"content-length:")
                    ),
                    0,
                )
                if not end or len(rest) < length:
                    received += await stream.receive()
                    continue
                received = rest[length:]
                taken.append((int(head.split(b" ")[1]), read_stable(rest[:length])))
    return taken


CONTINUE = b"(wait until the server wants the body)"


def whole(url: str) -> list[bytes]:
    return [b"".join(modern_request(url, "tools/call", CALL, name="greeting"))]


def apart(url: str) -> list[bytes]:
    return list(modern_request(url, "tools/call", CALL, name="greeting"))


def by_bytes(url: str) -> list[bytes]:
    [message] = whole(url)
    return [message[place : place + 1] for place in range(len(message))]


def body_in_two(url: str) -> list[bytes]:
    head, body = apart(url)
    return [head + body[:100], body[100:]]


def pipeline(url: str) -> list[bytes]:
    lists = b"".join(modern_request(url, "tools/list"))
    return [b"".join([*whole(url), lists, *whole(url)])]


def pipeline_around(url: str) -> list[bytes]:
    odd = b"".join(modern_request(url, "prompts/list"))
    return [b"".join([*whole(url), odd, *whole(url)])]


def chunk(url: str) -> list[bytes]:
    head, body = apart(url)
    head = head.replace(b"content-length: %d" % len(body), b"transfer-encoding: chunked")
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:9], body[9:]))
    return [head, chunks, b"0\r\n\r\n"]


def after_continue(url: str) -> list[bytes]:
    head, body = modern_request(
        url, "tools/call", CALL, name="greeting", headers={"expect": "100-continue"}
    )
    return [head, CONTINUE, body]


def large(url: str) -> list[bytes]:
    return list(modern_request(url, "tools/call", LARGE, name="greeting"))


def too_large(url: str) -> list[bytes]:
    return list(modern_request(url, "tools/call", TOO_LARGE, name="greeting"))


def older_http(url: str) -> list[bytes]:
    head, body = apart(url)
    return [head.replace(b"HTTP/1.1", b"HTTP/1.0"), body]


def absolute(url: str) -> list[bytes]:
    head, body = apart(url)
    return [head.replace(b"POST /mcp", f"POST {url}".encode()), body]


def with_a_query(url: str) -> list[bytes]:
    head, body = apart(url)
    return [head.replace(b"POST /mcp", b"POST /mcp?a=b"), body]


def elsewhere(url: str) -> list[bytes]:
    head, body = apart(url)
    return [head.replace(b"POST /mcp", b"POST /mcp/"), body]


def no_json(url: str) -> list[bytes]:
    head, body = apart(url)
    return [head, b"{" * len(body)]


@pytest.mark.parametrize(
    ("chunks_of", "replies", "count"),
    [
        (whole, 1, 1),
        (apart, 1, 1),
        (by_bytes, 1, 1),
        (body_in_two, 1, 1),
        (pipeline, 3, 3),
        (pipeline_around, 3, 2),
        (after_continue, 1, 1),
        (older_http, 1, 1),
        (absolute, 1, 1),
        (with_a_query, 1, 1),
        (chunk, 1, 0),
        (large, 1, 0),
        (too_large, 1, 0),
        (elsewhere, 1, 0),
        (no_json, 1, 0),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_request_gets_the_same_answer_in_any_chunks(
    chunks_of: Callable[[str], list[bytes]], replies: int, count: int
) -> None:
    async with ports() as both:
        fast, around = [await exchange(url, chunks_of(url), replies) for url in both.urls]

        assert fast == around
        assert both.fast.answered == count
        assert both.fast.recorder.told == both.around.recorder.told


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_requests_of_an_sdk_client_are_answered_by_the_fast_path(era: Era) -> None:
    async with ports() as both:
        results = []
        for url in both.urls:
            async with connect_client(url, era) as connection:
                # A session is known after its first call.
                result = await connection.call("greeting", who="Ada")
                render_id = dict(result.meta or {})["widgetd/render"]["id"]
                followed = {"render_id": render_id, "timeout_s": 0.01}
                before = both.fast.answered
                client = connection.client
                answers = (
                    await client.call_tool("greeting", {"who": "Ada"}),
                    await client.call_tool("render_widget", {"name": "greeting", "arguments": {}}),
                    await client.list_tools(),
                    await client.list_resources(),
                    await client.read_resource("widget://greeting/template"),
                    await client.call_tool("follow_render", {**followed, "after": 0}),
                    await client.call_tool("follow_render", {**followed, "after": 1}),
                )
                results.append([stable(one.model_dump(mode="json")) for one in answers])
                if url == both.urls[0]:
                    # Before each call of a tool that is not listed, the client lists all.
                    assert both.fast.answered - before == len(answers) + 2

        assert results[0] == results[1]
