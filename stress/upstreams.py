"""Kill upstreams again and again, and then the daemon; count reconnects and orphans."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import anyio

from stress.processes import find_processes
from stress.table import Row, limit_row, zero_row
from tests.field.deploy.balancing import free_port
from tests.support.clients import Connection, connect_client
from tests.support.processes import Served, daemon_process
from tests.support.sockets import connect
from tests.system.upstreams.servers import FASTMCP, STDIO, child, toml
from tests.system.upstreams.test_feeds import write
from widgetd.upstreams.limits import LIMITS

_MARK = "# a child that the stress test looks for"
_HTTP = "import sys" + FASTMCP.replace("run(", 'run(transport="http", port=int(sys.argv[1]), ')
_PATIENCE_S = 2 * LIMITS.pauses_s[-1]
"""An upstream that fails often is tried again after the longest pause."""

_BEAT_S = 0.02
_PROBE_S = 0.2
_TRY_S = 1.0
"""Limit of one try to connect, without the pause before it."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The outcome of repeated kills.

    Attributes:
        late_s: Time until each server that was back was connected to, without the pause.
        unfilled: Number of returns after which a widget was not filled.
        left: Number of child processes left after the daemon ended or was killed.
    """

    late_s: list[float] = field(default_factory=list)
    unfilled: int = 0
    left: int = 0


async def kill_repeatedly(
    folder: Path, *, kills: int, ends: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGKILL)
) -> Outcome:
    """Kill a server and a child of the daemon repeatedly, and the daemon at the end.

    Args:
        folder: An empty folder.
        kills: Number of kills with the first daemon; one with each other.
        ends: Signals that end the daemons, one after the other.
    """
    outcome, port = Outcome(), free_port()
    file, widgets = folder / "upstreams.toml", write(folder)
    url, patient = f"http://127.0.0.1:{port}/mcp", {"connect_s": 60.0, "idle_probe_s": _PROBE_S}
    local = toml("local", **patient, **child(f"{STDIO}\n{_MARK}\n"))
    file.write_text(toml("flights", url=url, idle_probe_s=_PROBE_S) + local)
    flags = ("--upstreams", str(file), "--toolset", "upstreams", "--log-level", "error")
    for turn, end in enumerate(ends):
        async with daemon_process(widgets, *flags) as served:
            async with connect_client(served.url, "modern") as client:
                for number in range(1 if turn else kills):
                    await _kill_both(client, port, number, outcome)
            await _end(served, end, outcome)
    return outcome


async def _kill_both(client: Connection, port: int, number: int, outcome: Outcome) -> None:
    async with _server(port):
        pause_s, started_s = (
            (await _status(client, "flights")).get("retryInS", 0.0),
            time.monotonic(),
        )
        await _until(client, "flights", "ready")
        outcome.late_s.append(time.monotonic() - started_s - pause_s)
        filled = await client.client.call_tool("flight", {"number": f"UA{number}"})
        outcome.unfilled += bool(filled.is_error)
        await _until(client, "local", "ready")
        [first] = find_processes(_MARK)
        os.kill(first, signal.SIGKILL)
        with anyio.fail_after(_PATIENCE_S):
            while find_processes(_MARK) in ([], [first]):  # noqa: ASYNC110 - another process is asked
                await anyio.sleep(_BEAT_S)
        await _until(client, "local", "ready")
    await _until(client, "flights", "failed")


async def _end(served: Served, how: signal.Signals, outcome: Outcome) -> None:
    served.send(how)
    await served.wait_for_end(within_s=_PATIENCE_S)
    with anyio.move_on_after(10.0 if how == signal.SIGKILL else 0.0):
        while find_processes(_MARK):  # noqa: ASYNC110 - another process is asked
            await anyio.sleep(_BEAT_S)
    outcome.left += len(find_processes(_MARK))


@asynccontextmanager
async def _server(port: int) -> AsyncIterator[None]:
    """Run an MCP server, wait until it listens, and kill it at the end."""
    command = [sys.executable, "-c", _HTTP, str(port)]
    process = await anyio.open_process(command, stdout=DEVNULL, stderr=DEVNULL)
    try:
        with anyio.fail_after(_PATIENCE_S):
            while True:
                try:
                    async with await connect(f"http://127.0.0.1:{port}/"):
                        break
                except OSError:
                    await anyio.sleep(_BEAT_S)
        yield
    finally:
        process.kill()
        await process.aclose()


async def _status(client: Connection, name: str) -> dict[str, Any]:
    result = await client.client.call_tool("get_upstreams", {"names": [name]})
    assert result.structured_content is not None
    [one] = result.structured_content["items"]
    return dict(one)


async def _until(client: Connection, name: str, state: str) -> None:
    with anyio.fail_after(_PATIENCE_S):
        while (await _status(client, name))["state"] != state:  # noqa: ASYNC110 - as above
            await anyio.sleep(_BEAT_S)


async def measure(folder: Path, *, kills: int) -> list[Row]:
    """Measure kills of upstreams, and of the daemon beside them."""
    outcome = await kill_repeatedly(folder, kills=kills)
    trial = f"kill -9 {kills:,} times what fills widgets"
    times = f"{len(outcome.late_s):,} returns"
    return [
        limit_row(f"{trial}: a try after the pause", max(outcome.late_s), _TRY_S, "s", times),
        zero_row("  widgets not filled then", outcome.unfilled, times),
        zero_row("  children left by a daemon that ended, or was killed", outcome.left),
    ]
