"""Kill the process that parses JSX, before and during saves, and check what is served."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import anyio

from stress.table import Row, limit_row, zero_row
from tests.support.clients import connect_client
from tests.support.processes import daemon_process

_SERVED_S = 3.0
"""Two starts of the process on a busy machine, and a save."""

_PATIENCE_S = 30.0


async def measure(folder: Path, *, kills: int) -> list[Row]:
    """Measure saves of JSX while the process is killed, before and just after saves alternately."""
    slowest_s, unserved, pids = 0.0, 0, set()
    async with (
        daemon_process(folder, "--log-level", "error") as served,
        connect_client(served.url, "modern") as client,
    ):
        for number in range(kills):
            known = _children(served.process.pid)
            pids |= known
            if number % 2:
                _kill(known)
            started_s = time.monotonic()
            path = folder / f"widget {number}.widget.jsx"
            path.write_text(f'<Card><Text value="{number}"/></Card>')
            if not number % 2:
                _kill(known)
            with anyio.move_on_after(_PATIENCE_S) as scope:
                await client.lists(f"widget_{number}")
            unserved += scope.cancelled_caught
            slowest_s = max(slowest_s, time.monotonic() - started_s)
    trial = f"kill the parser process {kills:,} times while JSX is saved"
    return [
        limit_row(f"{trial}: served", slowest_s, _SERVED_S, "s", f"{len(pids):,} processes"),
        zero_row("  saved widgets that were not served", unserved, f"{kills:,}"),
    ]


def _children(pid: int) -> set[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {int(child) for task in tasks for child in (task / "children").read_text().split()}


def _kill(pids: set[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
