"""Kill the daemon again and again while files change, and check what the next one serves.

One file was served once and is broken since; its last good copy is in the state folder.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import anyio
import anyio.to_thread
import httpx2

from benchmarks.ratios import median
from stress.processes import read_cpu_s
from stress.revisions import Writer, read_revision, widget_content
from stress.table import Row, info_row, limit_row, zero_row
from tests.support.clients import connect_client
from tests.support.processes import Served, daemon_process

WIDGETS = 40
_BROKEN = "broken"
_BURST = 150
_PAUSE_S = 0.005
_LIVES_S = (0.05, 0.7)
_PATIENCE_S = 60.0
_READY_S = 1.5
_IMPORTS = 5


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The outcome of repeated kills.

    Attributes:
        ready_s: Duration of each start.
        used_s: Processor time of each start.
        behind: Number of widgets that differed from the disk, over all starts.
        lost: Number of starts after which the broken file was not served.
    """

    ready_s: list[float] = field(default_factory=list)
    used_s: list[float] = field(default_factory=list)
    behind: int = 0
    lost: int = 0


async def kill_repeatedly(folder: Path, *, kills: int, patience_s: float = 1.0) -> Outcome:
    """Start and kill repeatedly; files change from before each kill until after the start.

    Args:
        folder: An empty folder.
        kills: Number of kills.
        patience_s: Time that a started daemon may take to equal an unchanged disk.
    """
    widgets, state = folder / "widgets", folder / "state"
    widgets.mkdir()
    outcome, random = Outcome(), Random(0)
    writer = Writer(widgets, widgets=WIDGETS)
    broken = widgets / f"{_BROKEN}.widget"
    broken.write_bytes(widget_content(_BROKEN, 0))
    start = partial(daemon_process, widgets, "--state-dir", str(state), "--log-level", "error")
    async with start() as served, connect_client(served.url, "modern") as client:
        await client.lists(_BROKEN)
        broken.write_bytes(b"{")
        await _wait_until_stale(served.url)
    rested = anyio.Event()
    rested.set()
    async with anyio.create_task_group() as tasks:
        for _ in range(kills):
            started_s = time.monotonic()
            async with start() as served:
                outcome.ready_s.append(time.monotonic() - started_s)
                outcome.used_s.append(read_cpu_s(served.process.pid))
                await rested.wait()
                await _compare(served, writer, outcome, patience_s)
                rested = anyio.Event()
                tasks.start_soon(_save, writer, rested)
                await anyio.sleep(random.uniform(*_LIVES_S))
                served.send(signal.SIGKILL)
    return outcome


async def _wait_until_stale(url: str) -> None:
    """Wait until the broken file is reported; its last good copy has been written by then."""
    status = f"{url.removesuffix('/mcp')}/status"
    async with httpx2.AsyncClient() as http:
        with anyio.fail_after(_PATIENCE_S):
            while (await http.get(status)).json()["stale"] != 1:  # noqa: ASYNC110 - another process is asked
                await anyio.sleep(_PAUSE_S)


async def _save(writer: Writer, rested: anyio.Event) -> None:
    await anyio.to_thread.run_sync(writer.run, _BURST, _PAUSE_S)
    rested.set()


async def _compare(served: Served, writer: Writer, outcome: Outcome, patience_s: float) -> None:
    async with connect_client(served.url, "modern") as client:
        behind = list(writer.revisions.items())
        with anyio.move_on_after(patience_s):
            while behind:
                behind = [row for row in behind if await read_revision(client, row[0]) != row[1]]
        outcome.behind += len(behind)
        outcome.lost += await read_revision(client, _BROKEN) != 0


def _import_duration_s() -> float:
    """Return the duration of a process that only imports FastMCP, as every such server does."""
    taken_s = []
    for _ in range(_IMPORTS):
        started_s = time.monotonic()
        subprocess.run([sys.executable, "-c", "from fastmcp import FastMCP"], check=True)
        taken_s.append(time.monotonic() - started_s)
    return median(taken_s)


async def measure(folder: Path, *, kills: int) -> list[Row]:
    """Measure repeated kills of a daemon."""
    outcome = await kill_repeatedly(folder, kills=kills)
    trial = f"kill -9 {kills:,} times while files change"
    middle = f"half of them within {median(outcome.ready_s):.2f} s"
    starts = f"{kills:,} starts"
    return [
        limit_row(f"{trial}: ready", max(outcome.ready_s), _READY_S, "s", middle),
        info_row("  processor time of a start", f"{median(outcome.used_s):.2f} s"),
        info_row("  a process that only imports FastMCP", f"{_import_duration_s():.2f} s"),
        zero_row("  widgets unlike the disk", outcome.behind, f"{WIDGETS} after each of {starts}"),
        zero_row("  last good copy of a broken file not served", outcome.lost, starts),
    ]
