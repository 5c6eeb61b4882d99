"""MCP over plain sockets, for requests that no well-behaved client sends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio
from anyio.abc import SocketStream

from tests.support.patience import PATIENCE_S

MODERN = "2026-07-28"
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def modern_request(
    url: str,
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    name: str = "",
    headers: Mapping[str, str] | None = None,
) -> tuple[bytes, bytes]:
    """Encode a modern request; return its head and its body.

    Args:
        url: The URL of MCP.
        method: The method, as `tools/call`.
        params: Its parameters, without the envelope.
        name: The `Mcp-Name` header, for methods that name something.
        headers: Instead of, or beside, the regular ones; an empty value leaves one out.
    """
    content = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": {**(params or {}), "_meta": _ENVELOPE},
    }
    body = json.dumps(content).encode()
    host, _, path = url.removeprefix("http://").partition("/")
    fields = {
        "host": host,
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": MODERN,
        "mcp-method": method,
        "mcp-name": name,
        "content-length": str(len(body)),
        **(headers or {}),
    }
    lines = [f"{key}: {value}" for key, value in fields.items() if value]
    head = "\r\n".join((f"POST /{path} HTTP/1.1", *lines, "", ""))
    return head.encode(), body


async def connect(url: str) -> SocketStream:
    """Connect to the server at `url`."""
    host, port = url.removeprefix("http://").partition("/")[0].rsplit(":", 1)
    return await anyio.connect_tcp(host, int(port))


async def exchange(url: str, *parts: bytes) -> tuple[int, bytes]:
    """Send `parts` over a new connection; return the status and the body."""
    with anyio.fail_after(PATIENCE_S):
        async with await connect(url) as stream:
            for part in parts:
                await stream.send(part)
            return await read_response(stream)


async def read_response(stream: SocketStream) -> tuple[int, bytes]:
    """Read one response with a content length; return its status and its body."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive()
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        int(line.partition(b":")[2])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    )
    while len(body) < length:
        body += await stream.receive()
    return int(head.split(b" ")[1]), body
