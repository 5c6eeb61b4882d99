"""Probe a daemon, each time over a new connection."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio

from tests.support.sockets import connect

State = dict[str, Any]

_BEAT_S = 0.01
_PATIENCE_S = 10.0


def host_of(url: str) -> str:
    """Return host and port of a URL."""
    return url.removeprefix("http://").partition("/")[0]


async def read_readiness(url: str) -> State:
    """Return the answer of `/readyz`.

    Args:
        url: Address of MCP.
    """
    request = f"GET /readyz HTTP/1.1\r\nhost: {host_of(url)}\r\nconnection: close\r\n\r\n"
    received = b""
    async with await connect(url) as stream:
        await stream.send(request.encode())
        async for part in stream:
            received += part
    state: State = json.loads(received.partition(b"\r\n\r\n")[2])
    return state


async def wait_until(url: str, wanted: Callable[[State], bool]) -> State:
    """Wait until the answer of `/readyz` is as wanted; the caller bounds the wait."""
    while not wanted(state := await read_readiness(url)):  # noqa: ASYNC110 - another process is asked
        await anyio.sleep(_BEAT_S)
    return state


async def wait_until_refused(url: str) -> None:
    """Wait until the daemon refuses new connections."""
    with anyio.fail_after(_PATIENCE_S):
        while True:
            try:
                async with await connect(url):
                    await anyio.lowlevel.checkpoint()
            except OSError:
                return
