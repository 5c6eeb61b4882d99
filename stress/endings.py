"""End the daemon with SIGTERM while streams are open and calls are in flight."""

from __future__ import annotations

import json
import signal
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import SocketStream

from benchmarks.wire import listen
from stress.probing import read_readiness, wait_until_refused
from stress.revisions import ERAS, WHO, revision_of, widget_content
from stress.table import Row, limit_row, zero_row
from tests.support.processes import daemon_process
from tests.support.sockets import connect, modern_request, read_response

_NAME = "w0"
_ENDS_S = 2.0
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one ending.

    Attributes:
        code: The exit code.
        took_s: Time from the signal to the exit.
        unfinished: Number of calls in flight without a good answer.
    """

    code: int
    took_s: float
    unfinished: int


async def end_daemon(folder: Path, *, streams: int, calls: int) -> Outcome:
    """End a daemon that has open streams, and calls that are half received.

    Args:
        folder: For the widget.
        streams: Number of clients that listen, of both eras alternately.
        calls: Number of calls in flight.
    """
    (folder / f"{_NAME}.widget").write_bytes(widget_content(_NAME, 1))
    async with (
        daemon_process(folder, "--log-level", "error") as served,
        AsyncExitStack() as stack,
    ):
        await open_streams(served.url, streams, stack)
        call = {"name": _NAME, "arguments": {"who": WHO}}
        head, body = modern_request(served.url, "tools/call", call, name=_NAME)
        begun = [await stack.enter_async_context(await connect(served.url)) for _ in range(calls)]
        for stream in begun:
            await stream.send(head + body[:10])
        await read_readiness(served.url)  # the daemon has read the calls by then
        started_s = time.monotonic()
        served.send(signal.SIGTERM)
        await wait_until_refused(served.url)
        unfinished = calls - sum([await _finish_call(stream, body[10:]) for stream in begun])
        code = await served.wait_for_end(within_s=_PATIENCE_S)
        return Outcome(code=code, took_s=time.monotonic() - started_s, unfinished=unfinished)


async def open_streams(url: str, streams: int, stack: AsyncExitStack) -> None:
    """Open streams, of both eras alternately, that need no time of this process.

    Args:
        url: Address of MCP.
        streams: Their number.
        stack: Closes the streams.
    """
    for number in range(streams):
        wire = await anyio.to_thread.run_sync(listen, url, ERAS[number % 2])
        stack.callback(wire.close)


async def _finish_call(stream: SocketStream, rest: bytes) -> bool:
    try:
        await stream.send(rest)
        with anyio.fail_after(_PATIENCE_S):
            status, content = await read_response(stream)
    except (anyio.EndOfStream, anyio.BrokenResourceError, TimeoutError):
        return False
    return status == 200 and revision_of(json.loads(content)["result"]["structuredContent"]) == 1


async def measure(folder: Path, *, endings: int) -> list[Row]:
    """Measure repeated endings of a daemon."""
    outcomes = [await end_daemon(folder, streams=64, calls=16) for _ in range(endings)]
    trial = f"SIGTERM {endings:,} times, 64 open streams, 16 calls in flight"
    unfinished = sum(outcome.unfinished for outcome in outcomes)
    return [
        limit_row(f"{trial}: ended", max(one.took_s for one in outcomes), _ENDS_S, "s"),
        zero_row("  exit codes other than 0", sum(one.code != 0 for one in outcomes)),
        zero_row("  calls in flight not finished", unfinished, f"{endings * 16:,}"),
    ]
