"""Create more files while the daemon is stopped than the kernel queues events for."""

from __future__ import annotations

import signal
import time
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from benchmarks.folders import small_widget, write
from stress.probing import read_readiness, wait_until
from stress.processes import read_cpu_s
from stress.table import Row, info_row, limit_row
from tests.support.processes import daemon_process

_CONVERGES_S = 3.0
_PATIENCE_S = 180.0


async def measure_convergence(
    folder: Path, *, files: int, one_widget_in: int
) -> tuple[float, float]:
    """Measure how long a stopped daemon takes to serve the files created meanwhile.

    Args:
        folder: An empty folder.
        files: Number of files.
        one_widget_in: Every so many files one is a widget.

    Returns:
        Seconds by the clock, and seconds of processor time.
    """
    async with daemon_process(folder, "--log-level", "error") as served:
        await wait_until(served.url, lambda state: state["watch"] == "native")
        known = (await read_readiness(served.url))["widgets"]
        pid = served.process.pid
        served.send(signal.SIGSTOP)
        wanted = known + await anyio.to_thread.run_sync(
            partial(_make, folder, files, one_widget_in)
        )
        used_s = read_cpu_s(pid)
        started_s = time.monotonic()
        served.send(signal.SIGCONT)
        with anyio.fail_after(_PATIENCE_S):
            await wait_until(served.url, lambda state: state["widgets"] == wanted)
        return time.monotonic() - started_s, read_cpu_s(pid) - used_s


def _make(folder: Path, files: int, one_widget_in: int) -> int:
    for number in range(files):
        if number % one_widget_in:
            (folder / f"{number}.txt").write_bytes(b"something else")
        else:
            write(folder / f"{number}.widget", small_widget(number))
    return len(range(0, files, one_widget_in))


async def measure(folder: Path, *, files: int) -> list[Row]:
    """Measure files that are created while the daemon is stopped."""
    among, every = folder / "among", folder / "every"
    among.mkdir()
    every.mkdir()
    took_s, _ = await measure_convergence(among, files=files, one_widget_in=100)
    what = f"{files:,} files made while stopped, {files // 100:,} of them widgets"
    all_s, used_s = await measure_convergence(every, files=files, one_widget_in=1)
    new = f"{used_s / files * 1000:.2f} ms of processor time each"
    return [
        limit_row(f"{what}: converged", took_s, _CONVERGES_S, "s"),
        info_row(f"{files:,} new widgets made while stopped: converged", f"{all_s:.1f} s ({new})"),
    ]
