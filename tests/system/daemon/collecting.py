"""A collector of traces: plain HTTP on this machine, which records its requests."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec

import anyio
from anyio.abc import SocketAttribute, SocketStream

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
HAS_SDK = find_spec("opentelemetry.sdk") is not None


@asynccontextmanager
async def collecting() -> AsyncIterator[bytearray]:
    """Collect the traces of processes started in the block; nothing without the SDK."""
    received = bytearray()

    async def collect(stream: SocketStream) -> None:
        async with stream:
            request = b""
            while b"\r\n\r\n" not in request:
                request += await stream.receive()
            length = int(request.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            while len(request.partition(b"\r\n\r\n")[2]) < length:
                request += await stream.receive()
            received.extend(request)
            await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")

    if not HAS_SDK:
        yield received
        return
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, collect)
        port = listener.extra(SocketAttribute.local_port)
        os.environ[ENDPOINT] = f"http://127.0.0.1:{port}"
        os.environ["OTEL_EXPORTER_OTLP_COMPRESSION"] = "none"
        try:
            yield received
        finally:
            del os.environ[ENDPOINT], os.environ["OTEL_EXPORTER_OTLP_COMPRESSION"]
            tasks.cancel_scope.cancel()
