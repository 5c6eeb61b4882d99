"""Small servers that fill widgets, or that fail in one way each."""

from __future__ import annotations

import asyncio
import itertools
import json
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import orjson
import uvicorn
from fastmcp import FastMCP

from widgetd.upstreams.connection import Upstream
from widgetd.upstreams.upstreams import Upstreams

FLIGHT = {
    "carrier": {"name": "United", "logo_url": "https://img.example/ua.png"},
    "number": "UA 123",
    "segments": [{"origin": {"code": "SFO"}, "destination": {"code": "JFK"}}],
}

READ_ONLY = {"readOnlyHint": True}

FASTMCP = f"""
from fastmcp import FastMCP
mcp = FastMCP("flights")
@mcp.tool(annotations={{"readOnlyHint": True}})
def get_flight(flight_no: str) -> dict:
    return {FLIGHT!r} | {{"asked": flight_no}}
mcp.run(show_banner=False)
"""
"""A server over standard input and output. It takes a second of processor time to start."""

STDIO = f"""
import json, sys

def get_flight(flight_no):
    return {FLIGHT!r} | {{"asked": flight_no}}

def answer(method, params):
    if method == "initialize":
        version, name = params["protocolVersion"], {{"name": "flights", "version": "1"}}
        return {{"protocolVersion": version, "capabilities": {{"tools": {{}}}}, "serverInfo": name}}
    if method == "tools/list":
        schema = {{"type": "object", "properties": {{"flight_no": {{"type": "string"}}}}}}
        tool = {{"name": "get_flight", "inputSchema": schema, "annotations": {READ_ONLY!r}}}
        return {{"tools": [tool]}}
    if method == "tools/call":
        return {{"content": [], "structuredContent": get_flight(**params["arguments"])}}

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params"))
        outcome = {{"result": result}} if result else {{"error": {{"code": -32601, "message": ""}}}}
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], **outcome}}), flush=True)
"""
"""The same server in as few lines as MCP takes, for tests that start it several times."""


class Flights:
    """A FastMCP server that counts its calls.

    Attributes:
        mcp: The server.
        calls: What it was asked for.
        failing: Whether its tool raises.
        hold: Where set, answers wait for it.
    """

    def __init__(self) -> None:
        self.mcp = FastMCP("flights")
        self.calls: list[str] = []
        self.failing = False
        self.hold: anyio.Event | None = None

        @self.mcp.tool(annotations=READ_ONLY)
        async def get_flight(flight_no: str) -> dict[str, Any]:
            self.calls.append(flight_no)
            if self.hold is not None:
                await self.hold.wait()
            if self.failing:
                raise ValueError("no-word-of-this-goes-out")
            return {**FLIGHT, "asked": flight_no}

        @self.mcp.tool
        def book_flight(flight_no: str) -> str:
            return f"booked {flight_no}"


@asynccontextmanager
async def serve(app: Any, port: int = 0, *, patience_s: float = 30) -> AsyncIterator[str]:
    """Serve an ASGI app on its own port during the block, and yield its URL."""
    config = uvicorn.Config(
        app, port=port, log_level="critical", lifespan="on", timeout_graceful_shutdown=0
    )
    server = uvicorn.Server(config)
    server.capture_signals = _nothing  # type: ignore[method-assign]  # the test's own process
    running = asyncio.create_task(server.serve())
    with anyio.fail_after(patience_s):
        while not server.started:
            await asyncio.wait({running}, timeout=0.01)
    on = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{on}"
    finally:
        server.should_exit = True
        with anyio.fail_after(patience_s):
            await running


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@asynccontextmanager
async def serve_mcp(mcp: FastMCP, *, port: int = 0, patience_s: float = 30) -> AsyncIterator[str]:
    """Serve an MCP server over HTTP during the block, and yield its endpoint."""
    async with serve(mcp.http_app(), port, patience_s=patience_s) as url:
        yield f"{url}/mcp"


Reply = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw(reply: Reply, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve each connection with `reply` during the block, and yield the port."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reply(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def answering(
    status: int,
    body: bytes = b"{}",
    content_type: str = "application/json",
    *,
    more: str = "",
    length: int | None = None,
) -> Reply:
    """Answer every request with this."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await read_request(reader):
            head = f"HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\n{more}"
            size = len(body) if length is None else length
            writer.write(f"{head}content-length: {size}\r\n\r\n".encode() + body)
            await writer.drain()
            if size != len(body):
                return

    return reply


async def read_request(reader: asyncio.StreamReader) -> bytes:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
    size = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    body = await reader.readexactly(int(size[0].split(b":")[1])) if size else b""
    return head + body


async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Accept all input without answering."""
    while await reader.read(65536):
        pass


async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Begin a response that never ends."""
    await read_request(reader)
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n"
    )
    writer.write(b"[")
    await writer.drain()
    await reader.read()


async def hanging_up(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Closes once a few bytes came, as in the middle of TLS."""
    await reader.read(16)


async def speaking_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer in plain HTTP, whatever arrives."""
    await reader.read(16)
    writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
    await writer.drain()


def toml(name: str, **keys: Any) -> str:
    """Return a table of an upstreams file."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items() if key != "headers"]
    if "headers" in keys:
        pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in keys["headers"].items())
        lines.append(f"headers = {{ {pairs} }}")
    return "\n".join([f"[{name}]", *lines, ""])


def child(code: str) -> dict[str, Any]:
    """Return the keys of an upstream that runs as a child process of this Python."""
    return {"command": sys.executable, "args": ["-c", code]}


@asynccontextmanager
async def upstreams_of(path: Path, text: str, **more: Any) -> AsyncIterator[Upstreams]:
    """Yield the upstreams of a file with this text, connected during the block."""
    path.write_text(text)  # noqa: ASYNC240 - a few bytes
    upstreams = Upstreams(path, **more)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(upstreams.run)
        try:
            yield upstreams
        finally:
            tasks.cancel_scope.cancel()


async def until(holds: Callable[[], bool], *, seconds: float = 30) -> None:
    """Wait until something holds that the event loop brings about."""
    with anyio.fail_after(seconds):
        while not holds():  # noqa: ASYNC110 - what is waited for tells nobody
            await anyio.sleep(0.01)


async def wait_until_settled(upstream: Upstream) -> str:
    """Wait until an upstream's state is known and return it."""
    await until(lambda: upstream.state != "connecting")
    return upstream.state


SHOP = {
    "openapi": "3.1.0",
    "info": {"title": "shop", "version": "1"},
    "paths": {
        "/products/{id}": {
            "get": {
                "operationId": "get_product",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
                ],
                "responses": {"200": {"description": "One product."}},
            }
        },
        "/products": {
            "post": {"operationId": "make_product", "responses": {"200": {"description": "x"}}}
        },
    },
}


def json_reply(value: Any) -> Reply:
    """Answer every request with this value."""
    return answering(200, orjson.dumps(value))


def large_document() -> str:
    """Return an OpenAPI document of Stripe's size: 400 paths, 1,000 schemas in circles."""
    note = "What this attribute means, in as many words as large services write on average. " * 3
    count = itertools.count()

    def reference() -> dict[str, str]:
        return {"$ref": f"#/components/schemas/s{next(count) * 7919 % 1000}"}

    def schema() -> dict[str, Any]:
        words = {f"p{n}": {"type": "string", "description": note} for n in range(24)}
        return {"type": "object", "properties": {**words, "of": reference(), "to": reference()}}

    def operation(name: str) -> dict[str, Any]:
        parameter = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
        answer = {"content": {"application/json": {"schema": reference()}}, "description": note}
        return {"operationId": name, "parameters": [parameter], "responses": {"200": answer}}

    paths = {
        f"/v1/things{n}": {"get": operation(f"get_thing{n}"), "post": operation(f"make_thing{n}")}
        for n in range(400)
    }
    document = {
        "openapi": "3.0.0",
        "info": {"title": "large", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": paths,
        "components": {"schemas": {f"s{n}": schema() for n in range(1000)}},
    }
    return json.dumps(document)
