"""Requests over a plain socket that are hostile or never finish."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from tests.support.daemons import needs_wings, serving
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.support.sockets import connect, exchange, modern_request, read_response
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from widgetd.server.web.http_server import HttpServer, bind, most_connections, url_of
from widgetd.server.web.limits import LIMITS, HttpLimits

SHORT_S = 0.2
TOKEN = "a-token-of-ada-0001"
ALIVE = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n"
POST = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


async def rest(stream: SocketStream) -> bytes:
    """Read until the server closes; a reset raises."""
    content = b""
    with anyio.fail_after(PATIENCE_S):
        while True:
            try:
                content += await stream.receive()
            except anyio.EndOfStream:
                return content


async def read_to_end(stream: SocketStream) -> bytes:
    """Read until the connection ends, by a reset too."""
    try:
        return await rest(stream)
    except anyio.BrokenResourceError:
        return b""


UNFINISHED = {
    "nothing": b"",
    "line breaks": b"\r\n",
    "half a line": b"GET /li",
    "half a header": b"GET /livez HTTP/1.1\r\nhost: loc",
    "half a body": POST + b"content-length: 9\r\n\r\n{",
    "half a chunk": POST + b"transfer-encoding: chunked\r\n\r\n9\r\n{",
    "half the trailers": POST + b"transfer-encoding: chunked\r\n\r\n0\r\nx: y",
    "an answer, and half of the next request": ALIVE + b"GET /livez HTTP/1.1\r\nho",
    "an answer, and line breaks": ALIVE + b"\r\n",
    "half a body where an error is the answer": POST.replace(b"localhost", b"a")
    + b"content-length: 9\r\n\r\n{",
}


@pytest.mark.parametrize("start", UNFINISHED.values(), ids=list(UNFINISHED))
async def test_unfinished_request_ends_with_its_connection(tmp_path: Path, start: bytes) -> None:
    async with (
        serving(tmp_path, header_s=SHORT_S, body_s=SHORT_S) as url,
        await connect(url) as stream,
    ):
        if start:
            await stream.send(start)
        content = await read_to_end(stream)

    if start.startswith((b"GET /li", POST)) and not start.startswith(ALIVE):
        assert content.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert b"\r\nconnection: close\r\n" in content
    if start.startswith(ALIVE):
        assert content.startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize("drip", [b"x", b"x: y\r\n"], ids=["a name", "fields"])
async def test_header_sent_byte_by_byte_has_the_same_deadline(tmp_path: Path, drip: bytes) -> None:
    async with serving(tmp_path, header_s=SHORT_S) as url, await connect(url) as stream:

        async def dripping() -> None:
            await stream.send(b"GET /livez HTTP/1.1\r\n")
            while True:
                await stream.send(drip)
                await anyio.sleep(SHORT_S / 10)

        async with anyio.create_task_group() as tasks:

            async def reading() -> None:
                assert b" 408 " in await read_to_end(stream)
                tasks.cancel_scope.cancel()

            tasks.start_soon(reading)
            with contextlib.suppress(anyio.BrokenResourceError):
                await dripping()


async def test_slow_request_within_the_limits_is_answered(tmp_path: Path) -> None:
    async with serving(tmp_path) as url:
        head, body = modern_request(url, "tools/list")
        status, _ = await exchange(url, head[:9], head[9:], body[:1], body[1:])
        async with await connect(url) as stream:
            for _ in range(3):  # the limits of one request say nothing of the next
                await stream.send(ALIVE[:20])
                await stream.send(ALIVE[20:])
                with anyio.fail_after(PATIENCE_S):
                    assert (await read_response(stream))[0] == 200

    assert status == 200


AFTERWARDS = {
    "half a line": b"GET /li",
    "no request": b"\0\r\n\r\n",
    "no version": b"GET /livez\r\n\r\n",
    "no Host": b"GET /livez HTTP/1.1\r\n\r\n",
    "half a body": POST + b"content-length: 9\r\n\r\n{",
    "half a body, after another request": ALIVE + POST + b"content-length: 9\r\n\r\n{",
    "a broken chunk": POST + b"transfer-encoding: chunked\r\n\r\nz",
}


@pytest.mark.parametrize("after", AFTERWARDS.values(), ids=list(AFTERWARDS))
async def test_bytes_after_a_request_do_not_cancel_its_answer(
    after: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    answers, ended = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await answers.wait()
        with contextlib.suppress(ClientDisconnect):
            await Request(scope, receive).body()
            await PlainTextResponse("here it is")(scope, receive, send)

    async def serve_until_ended(listener: socket.socket) -> None:
        await server.serve(sockets=[listener])
        ended.set()

    server = HttpServer(
        Starlette(routes=[Mount("/", app)]),
        limits=HttpLimits(header_s=SHORT_S, body_s=SHORT_S, linger_s=SHORT_S),
        probes=(),
    )
    async with anyio.create_task_group() as tasks:
        listener = bind("127.0.0.1", 0)
        tasks.start_soon(serve_until_ended, listener)
        async with await connect(url_of(listener)) as stream:
            await stream.send(ALIVE + after)
            with anyio.move_on_after(2 * SHORT_S):
                assert not await stream.receive()
            answers.set()
            content = await rest(stream)
        server.end()
        with anyio.fail_after(PATIENCE_S):
            await ended.wait()

    before = after.count(ALIVE) + 1
    assert content.count(b"HTTP/1.1 200 OK\r\n") == content.count(b"here it is") == before
    assert content.startswith(b"HTTP/1.1 200 OK\r\n")
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_listening_client_outlives_the_limits(tmp_path: Path) -> None:
    listen = {"notifications": {"toolsListChanged": True}}
    async with (
        serving(tmp_path, header_s=SHORT_S, body_s=SHORT_S) as url,
        await connect(url) as stream,
        await connect(url) as unfinished,
    ):
        await stream.send(b"".join(modern_request(url, "subscriptions/listen", listen)))
        with anyio.fail_after(PATIENCE_S):
            await stream.receive()
        await read_to_end(unfinished)
        with anyio.move_on_after(SHORT_S) as waited:
            while await stream.receive():
                pass

    assert waited.cancelled_caught  # and not the end of the stream


CHUNKED = b"transfer-encoding: chunked\r\n"
FRAMED_TWICE = {
    "both ways": b"content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "both ways, the other first": CHUNKED + b"content-length: 4\r\n\r\n0\r\n\r\n",
    "a list of lengths": b"content-length: 7,7\r\n\r\n1234567",
    "two lengths": b"content-length: 7\r\ncontent-length: 7\r\n\r\n1234567",
    "a length with a sign": b"content-length: +7\r\n\r\n1234567",
    "a length that no number holds": b"content-length: 99999999999999999999999\r\n\r\n",
    "another coding": b"transfer-encoding: gzip\r\n\r\n",
    "another coding first": b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": CHUNKED * 2 + b"\r\n0\r\n\r\n",
    "a coding like chunked": b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": b"transfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    "a folded coding": b"transfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "bare line feeds in chunks": CHUNKED + b"\r\n2\nhi\n0\n\n",
    "a bare line feed after an extension": CHUNKED + b"\r\n2;\nhi\r\n0\r\n\r\n",
    "a length among the trailers": CHUNKED + b"\r\n0\r\ncontent-length: 9\r\n\r\n",
}
HEADERS = {
    "a folded field": b"GET /livez HTTP/1.1\r\nhost: localhost\r\nx: 1\r\n 2\r\n\r\n",
    "a folded first field": b"GET /livez HTTP/1.1\r\n x: 1\r\nhost: localhost\r\n\r\n",
    "bare line feeds": b"GET /livez HTTP/1.1\nhost: localhost\n\n",
    "one bare line feed": b"GET /livez HTTP/1.1\r\nhost: localhost\nx: y\r\n\r\n",
    "a bare line feed at the end": b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\n",
    "a bare carriage return": b"GET /livez HTTP/1.1\r\nhost: localhost\rx: y\r\n\r\n",
    "a zero byte": b"GET /livez HTTP/1.1\r\nhost: localhost\r\nx: \x00\r\n\r\n",
    "no version": b"GET /livez\r\n\r\n",
    "another version": b"GET /livez HTTP/1.2\r\nhost: localhost\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a tunnel": b"CONNECT localhost:1 HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "a path that is not ASCII": b"GET /\xff HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "chunks of the older version": POST.replace(b"1.1", b"1.0")
    + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "no Host": b"GET /livez HTTP/1.1\r\n\r\n",
    "two Hosts": b"GET /livez HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n",
    "a target of another host": ALIVE.replace(b"/livez", b"http://evil.example/livez"),
}
HOSTS = [
    "127.0.0.1:80@evil.example",
    "localhost@evil.example",
    "localhost:80:80",
    "localhost:port",
    "localhost:",
    "localhost/",
    "localhost#",
    "localhost\\",
    "localhost evil.example",
    "localhost,evil.example",
    "local%68ost",
    "[::1",
    "[::1]evil.example",
    "[::1@evil]",
    "*",
    "",
]
REFUSED = {
    **{name: POST + framed for name, framed in FRAMED_TWICE.items()},
    **HEADERS,
    **{f"Host '{host}'": ALIVE.replace(b"localhost", host.encode()) for host in HOSTS},
}


@pytest.mark.parametrize("content", REFUSED.values(), ids=list(REFUSED))
async def test_ambiguous_request_is_refused_and_its_connection_closed(
    tmp_path: Path, content: bytes
) -> None:
    async with serving(tmp_path) as url, await connect(url) as stream:
        await stream.send(content)
        await stream.send(ALIVE)  # as if another request had been smuggled in
        content = await rest(stream)

    assert content.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert content.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "content",
    [
        ALIVE.replace(b"/livez", b"http://localhost/livez"),
        ALIVE.replace(b"1.1", b"1.0"),
        ALIVE.replace(b"localhost", b"LOCALHOST:8787"),
        ALIVE.replace(b"localhost", b"[::1]:8787"),
        b"\r\n" + ALIVE,
        ALIVE.replace(b"host:", b"Connection: Upgrade\r\nUpgrade: h2c\r\nhost:"),
    ],
)
async def test_unusual_but_unambiguous_request_is_answered(tmp_path: Path, content: bytes) -> None:
    async with serving(tmp_path) as url:
        assert (await exchange(url, content))[0] == 200


@pytest.mark.parametrize("space", [" ", "\t", " \t  "])
async def test_white_space_around_header_values_is_stripped(tmp_path: Path, space: str) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    headers = {
        "mcp-name": f"{space}greeting{space}",
        "mcp-method": f"tools/call{space}",
        "authorization": f"Bearer {TOKEN}{space}",
    }
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ada {TOKEN}\n")
    params = {"name": "greeting", "arguments": {"who": "Ada"}}
    async with serving(tmp_path, token_file=tokens) as url:
        parts = modern_request(url, "tools/call", params, name="greeting", headers=headers)
        status, body = await exchange(url, *parts)

    assert status == 200
    assert b"Hello, Ada" in body


@needs_wings
@pytest.mark.parametrize("path", ["/render/greeting", "/w/greeting.json", "/gallery/files"])
async def test_body_that_ends_early_logs_no_error(
    tmp_path: Path, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    async with serving(tmp_path, gallery=True, allow_upload=True) as url:
        host = url.removeprefix("http://").partition("/")[0]
        head = f"POST {path} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\n"
        with anyio.fail_after(PATIENCE_S):
            async with await connect(url) as stream:
                await stream.send(f"{head}content-length: 100\r\n\r\n{{".encode())
            route = path.replace("greeting", "{name}" if "render" in path else "{tool}")
            counted = f'route="{route}"'
            while counted not in (await ask(url, "/metrics")).text:
                pass

    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_trailer_is_not_read_as_a_header_field(tmp_path: Path) -> None:
    async with serving(tmp_path) as url:
        head, body = modern_request(url, "tools/list")
        length = f"content-length: {len(body)}".encode()
        chunked = head.replace(length, b"transfer-encoding: chunked")
        trailed = b"%x\r\n%b\r\n0\r\nmcp-method: tools/call\r\nhost: evil\r\n\r\n" % (
            len(body),
            body,
        )
        status, _ = await exchange(url, chunked + trailed)

    assert status == 200


@pytest.mark.parametrize(
    "head",
    [b"GET /livez HTTP/1.1\r\nx: ", POST + b"transfer-encoding: chunked\r\n\r\n0\r\nx: "],
    ids=["header", "trailers"],
)
async def test_field_without_an_end_is_not_buffered(tmp_path: Path, head: bytes) -> None:
    async with serving(tmp_path) as url, await connect(url) as stream:
        await stream.send(head)
        size = 0
        with anyio.fail_after(PATIENCE_S):
            try:
                while True:
                    await stream.send(b"y" * 4096)
                    size += 4096
                    if b" 431 " in await _read_status(stream):
                        break
            except anyio.BrokenResourceError:
                pass

    assert size < 20 * LIMITS.overhead_bytes


async def _read_status(stream: SocketStream) -> bytes:
    with anyio.move_on_after(0.001):
        return await stream.receive()
    return b""


BODY_BYTES = 8 * 1024 * 1024


@pytest.mark.parametrize("more", [b"", b"connection: close\r\n"], ids=["open", "close"])
@pytest.mark.parametrize(
    ("path", "framing"),
    [
        (b"/mcp", b"content-length: %d\r\n\r\n" % BODY_BYTES),
        (b"/mcp", b"transfer-encoding: chunked\r\n\r\n%x\r\n" % BODY_BYTES),
        (b"/render/x", b"transfer-encoding: chunked\r\n\r\n%x\r\n" % BODY_BYTES),
    ],
    ids=["length", "chunks", "render"],
)
async def test_too_large_request_is_answered_before_the_connection_ends(
    tmp_path: Path, path: bytes, framing: bytes, more: bytes
) -> None:
    (tmp_path / "X.widget").write_text(widget_file("X"))
    async with serving(tmp_path) as url, await connect(url) as stream:
        await stream.send(POST.replace(b"/mcp", path) + more + framing)
        with anyio.fail_after(PATIENCE_S):
            for _ in range(BODY_BYTES // 65536):
                await stream.send(b" " * 65536)
        content = await rest(stream)

    assert content.startswith(b"HTTP/1.1 413 ")
    assert b"\r\nconnection: close\r\n" in content


async def test_without_free_connections_probes_are_answered_and_others_get_503(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, connections=5) as url:
        silent = [await connect(url) for _ in range(60)]
        with captured_logs() as logged:
            probes = [await exchange(url, ALIVE) for _ in range(3)]
            ready, _ = await exchange(url, ALIVE.replace(b"/livez", b"/readyz"))
            refused, why = await exchange(url, *modern_request(url, "tools/list"))
        for stream in silent:
            await stream.aclose()
        with anyio.fail_after(PATIENCE_S):
            while (await exchange(url, *modern_request(url, "tools/list")))[0] != 200:
                pass

    assert [status for status, _ in probes] == [200] * 3
    assert (ready, refused) == (200, 503)
    assert why == b"too many connections are open; try again\n"
    # Told of when it began, and not again within the minute.
    assert [line for line in logged.all if line["event"] == "connections.exhausted"] == []


async def test_connection_burst_takes_no_more_descriptors_than_places(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with serving(tmp_path, connections=5) as url:
        host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
        with contextlib.ExitStack() as stack, captured_logs() as logged:
            # All come in one turn of the loop, and there are descriptors for some of them only.
            clients = [stack.enter_context(socket.socket()) for _ in range(200)]
            stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
            resource.setrlimit(resource.RLIMIT_NOFILE, (clients[-1].fileno() + 101, hard))
            for client in clients:
                client.connect((host, int(port)))
            probed, _ = await exchange(url, ALIVE)

    assert probed == 200
    assert [line for line in logged.all if line["event"] == "accept.failed"] == []


async def test_probe_in_a_reserved_place_closes_its_connection(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, connections=1) as url,
        await connect(url),
        await connect(url) as one,
    ):
        await one.send(ALIVE)
        content = await rest(one)

    assert content.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nconnection: close\r\n" in content


async def test_without_descriptors_one_line_is_logged_and_waiting_clients_are_answered_later(
    tmp_path: Path,
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with serving(tmp_path) as url:
        host, port = url.removeprefix("http://").removesuffix("/mcp").split(":")
        with (
            socket.socket() as late,
            captured_logs() as logged,
            contextlib.ExitStack() as descriptors,
        ):
            descriptors.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
            resource.setrlimit(resource.RLIMIT_NOFILE, (late.fileno() + 1, hard))
            with contextlib.suppress(OSError):
                while True:
                    descriptors.callback(os.close, os.dup(late.fileno()))
            late.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                late.connect((host, int(port)))
            with anyio.fail_after(PATIENCE_S):
                while not any(line["event"] == "accept.failed" for line in logged.all):  # noqa: ASYNC110 - a log is not awaited
                    await anyio.sleep(0.01)
            descriptors.close()
            with anyio.fail_after(PATIENCE_S):
                await anyio.wait_writable(late)
                late.send(ALIVE)
                await anyio.wait_readable(late)
            content = late.recv(4096)

    failures = [line for line in logged.all if line["event"] == "accept.failed"]
    assert content.startswith(b"HTTP/1.1 200 OK\r\n")
    assert len(failures) == 1
    assert failures[0]["problem"].startswith("[Errno 24]")


def test_there_are_fewer_places_than_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        for descriptors in (64, 256, 1024):
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
            assert 0 < most_connections() <= descriptors - 32
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("size", [1, 100, 1_000_000])
async def test_header_is_read_before_its_body_arrives(size: int) -> None:
    header_read = anyio.Event()

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        length = [(b"content-length", b"%d" % size)]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        await header_read.wait()
        await send({"type": "http.response.body", "body": b"x" * size})

    server = HttpServer(Starlette(routes=[Mount("/", app)]), limits=HttpLimits(), probes=())
    listener = bind("127.0.0.1", 0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(server.serve, sockets=[listener]))
        async with await connect(url_of(listener)) as stream:
            await stream.send(ALIVE.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
            header = b""
            with anyio.fail_after(PATIENCE_S):
                while not header.endswith(b"\r\n\r\n"):
                    header += await stream.receive()
            header_read.set()
            body = await rest(stream)
        server.end()

    assert header.startswith(b"HTTP/1.1 200 OK\r\n")
    assert body == b"x" * size
