"""Serve many widgets that nobody changes or calls, and count the processor time."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.children import widgetd
from benchmarks.folders import real
from storms.processes import cpu_s
from storms.table import Row, at_most

_WARM_UP_S = 5.0
_LIMIT = 0.5


def share(folder: Path, *, widgets: int, stretch_s: float) -> float:
    """How much of one processor an idle daemon takes, in percent.

    Args:
        folder: An empty folder.
        widgets: How many it serves.
        stretch_s: How long it is looked at.
    """
    real(folder, widgets)
    with widgetd(folder, "--log-level", "error") as server:
        pid = server.child.process.pid
        time.sleep(_WARM_UP_S)
        used_s = cpu_s(pid)
        time.sleep(stretch_s)
        return (cpu_s(pid) - used_s) / stretch_s * 100


def rows(folder: Path, *, widgets: int, stretch_s: float) -> list[Row]:
    """The row of an idle daemon."""
    seen = share(folder, widgets=widgets, stretch_s=stretch_s)
    what = f"idle with {widgets:,} widgets for {stretch_s:.0f} s"
    return [at_most(what, seen, _LIMIT, "% of a processor")]
