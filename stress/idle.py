"""Serve many widgets that nobody changes or calls, and count the processor time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.children import widgetd
from benchmarks.folders import real, small
from stress.processes import cpu_s
from stress.table import Row, at_most

_WARM_UP_S = 5.0
_LIMIT = 0.5
_LARGE = 10_000
_LIMIT_OF_LARGE = 1.0


def share(
    folder: Path, fill: Callable[[Path, int], Path], *, widgets: int, stretch_s: float
) -> float:
    """How much of one processor an idle daemon takes, in percent.

    Args:
        folder: Made here.
        fill: Makes the widgets.
        widgets: How many it serves.
        stretch_s: How long it is looked at.
    """
    folder.mkdir()
    fill(folder, widgets)
    with widgetd(folder, "--log-level", "error") as server:
        pid = server.child.process.pid
        time.sleep(_WARM_UP_S)
        used_s = cpu_s(pid)
        time.sleep(stretch_s)
        return (cpu_s(pid) - used_s) / stretch_s * 100


def rows(folder: Path, *, widgets: int, stretch_s: float) -> list[Row]:
    """The rows of an idle daemon, with so many real widgets and with very many small ones."""
    told = []
    for count, fill, limit in ((widgets, real, _LIMIT), (_LARGE, small, _LIMIT_OF_LARGE)):
        seen = share(folder / str(count), fill, widgets=count, stretch_s=stretch_s)
        what = f"idle with {count:,} widgets for {stretch_s:.0f} s"
        told.append(at_most(what, seen, limit, "% of a processor"))
    return told
