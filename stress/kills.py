"""Kill the daemon again and again while files change, and look at what the next one serves.

One file was served once and is broken ever since; its last good copy lies in the state folder.
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

from benchmarks.measuring import median
from stress.calling import converged, shown
from stress.churn import Churn, content
from stress.processes import cpu_s
from stress.table import Row, at_most, none_of, told
from tests.process import Served, daemon_process
from tests.serving import connected

WIDGETS = 40
_BROKEN = "broken"
_BURST = 150
_PAUSE_S = 0.005
_LIVES_S = (0.05, 0.7)
_READY_S = 1.5
_IMPORTS = 5


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of killing.

    Attributes:
        ready_s: How long each start took.
        used_s: How much processor time each start took.
        behind: How many widgets showed something else than the disk, over all starts.
        lost: After how many starts the file that is broken was not served.
    """

    ready_s: list[float] = field(default_factory=list)
    used_s: list[float] = field(default_factory=list)
    behind: int = 0
    lost: int = 0


async def killed(folder: Path, *, kills: int, patience_s: float = 1.0) -> Outcome:
    """Start and kill so often, with files changing from before the kill until after the start.

    Args:
        folder: An empty folder.
        kills: How often.
        patience_s: How long a started daemon may take to equal a disk at rest.
    """
    widgets, state = folder / "widgets", folder / "state"
    widgets.mkdir()
    outcome, random = Outcome(), Random(0)
    churn = Churn(widgets, widgets=WIDGETS)
    broken = widgets / f"{_BROKEN}.widget"
    broken.write_bytes(content(_BROKEN, 0))
    start = partial(daemon_process, widgets, "--state-dir", str(state), "--log-level", "error")
    async with start() as served, connected(served.url, "modern") as client:
        await client.lists(_BROKEN)
        broken.write_bytes(b"{")
    rested = anyio.Event()
    rested.set()
    async with anyio.create_task_group() as tasks:
        for _ in range(kills):
            started_s = time.monotonic()
            async with start() as served:
                outcome.ready_s.append(time.monotonic() - started_s)
                outcome.used_s.append(cpu_s(served.process.pid))
                await rested.wait()
                await _compare(served, churn, outcome, patience_s)
                rested = anyio.Event()
                tasks.start_soon(_blow, churn, rested)
                await anyio.sleep(random.uniform(*_LIVES_S))
                served.send(signal.SIGKILL)
    return outcome


async def _blow(churn: Churn, rested: anyio.Event) -> None:
    await anyio.to_thread.run_sync(churn.blow, _BURST, _PAUSE_S)
    rested.set()


async def _compare(served: Served, churn: Churn, outcome: Outcome, patience_s: float) -> None:
    async with connected(served.url, "modern") as client:
        outcome.behind += len(await converged(client, churn, patience_s))
        outcome.lost += await shown(client, _BROKEN) != 0


def _importing_s() -> float:
    """How long a process takes that only imports what every server of its kind imports."""
    taken_s = []
    for _ in range(_IMPORTS):
        started_s = time.monotonic()
        subprocess.run([sys.executable, "-c", "from fastmcp import FastMCP"], check=True)
        taken_s.append(time.monotonic() - started_s)
    return median(taken_s)


async def rows(folder: Path, *, kills: int) -> list[Row]:
    """The rows of killing a daemon."""
    outcome = await killed(folder, kills=kills)
    trial = f"kill -9 {kills:,} times while files change"
    middle = f"half of them within {median(outcome.ready_s):.2f} s"
    starts = f"{kills:,} starts"
    return [
        at_most(f"{trial}: ready", max(outcome.ready_s), _READY_S, "s", middle),
        told("  processor time of a start", f"{median(outcome.used_s):.2f} s"),
        told("  a process that only imports FastMCP", f"{_importing_s():.2f} s"),
        none_of("  widgets unlike the disk", outcome.behind, f"{WIDGETS} after each of {starts}"),
        none_of("  last good copy of a broken file not served", outcome.lost, starts),
    ]
