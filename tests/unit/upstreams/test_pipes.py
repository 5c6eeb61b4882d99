"""A program's lines are bounded and reduced before they are parsed, and the program ends."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from fastmcp.client.transports.base import TransportOptions
from mcp.shared.message import SessionMessage

from tests.support.patience import PATIENCE_S
from widgetd.upstreams import clients
from widgetd.upstreams.clients import PipeTransport
from widgetd.upstreams.limits import LIMITS
from widgetd.upstreams.listing import ToolListing
from widgetd.upstreams.transport import TOO_LARGE, RecordingTransport

STUBBORN = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
waiting = [sys.executable, "-c", "import sys; sys.stdin.read()"]
child = subprocess.Popen(waiting, stdin=subprocess.PIPE)
pids = [os.getpid(), child.pid]
print('{"jsonrpc": "2.0", "id": 1, "result": {"pids": %s}}' % pids, flush=True)
while True:
    signal.pause()
"""
LISTING = """
print('{"jsonrpc": "2.0", "id": 1, "result": {"\\\\u0074ools": [' + "{}," * 200_000 + '{}]}}')
print()
print("no JSON")
print('{"jsonrpc": "2.0", "method": "n"}')
"""
ENDLESS = """
import sys
try:
    while True:
        sys.stdout.write("x" * 65536)
except BrokenPipeError:
    sys.stdout = None
"""


@asynccontextmanager
async def messages(stream: Any, _to_send: Any, **_options: Any) -> AsyncIterator[Any]:
    """Stand in for the SDK's session: give the stream that it would read."""
    yield stream


@asynccontextmanager
async def running(program: str, recorder: RecordingTransport) -> AsyncIterator[Any]:
    """Run a program, and yield the stream that a session would read."""
    transport = PipeTransport((sys.executable, "-c", program), {}, None, recorder)
    options = TransportOptions(session_class=messages)  # type: ignore[arg-type]  # see there
    with anyio.fail_after(PATIENCE_S):
        async with transport.connect_session(transport_options=options) as stream:
            yield stream


async def receive(program: str, recorder: RecordingTransport) -> list[SessionMessage | Exception]:
    """Run a program to the end of its connection, and return what a session would read."""
    async with running(program, recorder) as stream:
        return [one async for one in stream]


def recorder_of(listing: ToolListing) -> RecordingTransport:
    return RecordingTransport(private=True, is_mcp=True, reduce=listing.reduce)


async def test_list_is_reduced_and_an_invalid_line_is_an_error() -> None:
    listing = ToolListing(())
    listed, wrong, notified = await receive(LISTING, recorder_of(listing))

    assert isinstance(listed, SessionMessage)
    assert getattr(listed.message, "result", None) == {"tools": []}
    assert listing.dropped == {"shape": 200_001}
    assert isinstance(wrong, ValueError)
    assert isinstance(notified, SessionMessage)


def test_transport_shows_no_secret_of_its_program() -> None:
    transport = PipeTransport(
        ("program", "MARKER"), {"TOKEN": "MARKER"}, None, recorder_of(ToolListing(()))
    )

    assert "MARKER" not in repr(transport)


async def test_line_without_end_ends_the_connection() -> None:
    recorder = recorder_of(ToolListing(()))

    assert await receive(ENDLESS, recorder) == []
    assert recorder.failure is not None
    assert recorder.failure.reason == TOO_LARGE


async def test_program_ignoring_every_request_to_end_is_killed_with_its_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clients, "LIMITS", replace(LIMITS, exit_s=0.2))
    async with running(STUBBORN, recorder_of(ToolListing(()))) as stream:
        pids = (await stream.receive()).message.result["pids"]
        assert all(is_running(pid) for pid in pids)
    with anyio.fail_after(PATIENCE_S):
        while any(is_running(pid) for pid in pids):
            await anyio.lowlevel.checkpoint()


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "State:\tZ" not in status
