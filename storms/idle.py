"""Serve many widgets that nobody changes or calls, and count the processor time."""

from __future__ import annotations

from pathlib import Path

import anyio

from benchmarks.folders import real
from storms.probing import until
from storms.processes import cpu_s
from storms.table import Row, at_most
from tests.process import daemon_process

_WARM_UP_S = 5.0
_LIMIT = 0.5


async def share(folder: Path, *, widgets: int, stretch_s: float) -> float:
    """How much of one processor an idle daemon takes, in percent.

    Args:
        folder: An empty folder.
        widgets: How many it serves.
        stretch_s: How long it is looked at.
    """
    real(folder, widgets)
    async with daemon_process(folder, "--log-level", "error") as served:
        await until(served.url, lambda state: state["watch"] == "native")
        await anyio.sleep(_WARM_UP_S)
        used_s = cpu_s(served.process.pid)
        await anyio.sleep(stretch_s)
        return (cpu_s(served.process.pid) - used_s) / stretch_s * 100


async def rows(folder: Path, *, widgets: int, stretch_s: float) -> list[Row]:
    """The row of an idle daemon."""
    seen = await share(folder, widgets=widgets, stretch_s=stretch_s)
    what = f"idle with {widgets:,} widgets for {stretch_s:.0f} s"
    return [at_most(what, seen, _LIMIT, "% of a processor")]
