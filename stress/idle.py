"""Serve many widgets without saves or calls, and measure the processor time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.children import widgetd
from benchmarks.folders import real, small
from stress.processes import read_cpu_s
from stress.table import Row, limit_row

_WARM_UP_S = 5.0
_LIMIT = 0.5
_LARGE = 10_000
_LIMIT_OF_LARGE = 1.0


def measure_share(
    folder: Path, fill: Callable[[Path, int], Path], *, widgets: int, stretch_s: float
) -> float:
    """Return the share of one processor that an idle daemon takes, in percent.

    Args:
        folder: To create.
        fill: Writes the widgets.
        widgets: Their number.
        stretch_s: Duration of the measurement.
    """
    folder.mkdir()
    fill(folder, widgets)
    with widgetd(folder, "--log-level", "error") as server:
        pid = server.child.process.pid
        time.sleep(_WARM_UP_S)
        used_s = read_cpu_s(pid)
        time.sleep(stretch_s)
        return (read_cpu_s(pid) - used_s) / stretch_s * 100


def measure(folder: Path, *, widgets: int, stretch_s: float) -> list[Row]:
    """Measure an idle daemon, with real widgets and with very many small ones."""
    rows = []
    for count, fill, limit in ((widgets, real, _LIMIT), (_LARGE, small, _LIMIT_OF_LARGE)):
        percent = measure_share(folder / str(count), fill, widgets=count, stretch_s=stretch_s)
        what = f"idle with {count:,} widgets for {stretch_s:.0f} s"
        rows.append(limit_row(what, percent, limit, "% of a processor"))
    return rows
