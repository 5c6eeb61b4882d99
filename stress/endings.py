"""End the daemon with SIGTERM while streams are open and calls are on their way."""

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
from stress.calling import ERAS
from stress.churn import WHO, content, revision_of
from stress.probing import readiness, until_refused
from stress.table import Row, at_most, none_of
from tests.process import daemon_process
from tests.raw import answer, connect, modern_request

_NAME = "w0"
_ENDS_S = 2.0
_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one ending came to.

    Attributes:
        code: The exit code.
        took_s: From the signal to the exit.
        unfinished: How many calls in flight got no good answer.
    """

    code: int
    took_s: float
    unfinished: int


async def ended(folder: Path, *, streams: int, calls: int) -> Outcome:
    """End a daemon that has so many open streams, and so many calls half received.

    Args:
        folder: Where the widget is written.
        streams: How many clients listen, of either era in turn.
        calls: How many calls are in flight.
    """
    (folder / f"{_NAME}.widget").write_bytes(content(_NAME, 1))
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
        await readiness(served.url)  # so the daemon has read what came before
        started_s = time.monotonic()
        served.send(signal.SIGTERM)
        await until_refused(served.url)
        unfinished = calls - sum([await _finished(stream, body[10:]) for stream in begun])
        code = await served.ended(within_s=_PATIENCE_S)
        return Outcome(code=code, took_s=time.monotonic() - started_s, unfinished=unfinished)


async def open_streams(url: str, streams: int, stack: AsyncExitStack) -> None:
    """Have so many clients listen, of either era in turn, who need no time of this process.

    Args:
        url: Where MCP is served.
        streams: How many.
        stack: Hangs up on the server when it is left.
    """
    for number in range(streams):
        wire = await anyio.to_thread.run_sync(listen, url, ERAS[number % 2])
        stack.callback(wire.close)


async def _finished(stream: SocketStream, rest: bytes) -> bool:
    try:
        await stream.send(rest)
        with anyio.fail_after(_PATIENCE_S):
            status, content = await answer(stream)
    except (anyio.EndOfStream, anyio.BrokenResourceError, TimeoutError):
        return False
    return status == 200 and revision_of(json.loads(content)["result"]["structuredContent"]) == 1


async def rows(folder: Path, *, endings: int) -> list[Row]:
    """The rows of ending a daemon so often."""
    outcomes = [await ended(folder, streams=64, calls=16) for _ in range(endings)]
    trial = f"SIGTERM {endings:,} times, 64 open streams, 16 calls in flight"
    unfinished = sum(outcome.unfinished for outcome in outcomes)
    return [
        at_most(f"{trial}: ended", max(one.took_s for one in outcomes), _ENDS_S, "s"),
        none_of("  exit codes other than 0", sum(one.code != 0 for one in outcomes)),
        none_of("  calls in flight not finished", unfinished, f"{endings * 16:,}"),
    ]
