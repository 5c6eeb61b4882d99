"""Memory of a daemon that is ready, and the share of it that is not FastMCP's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from itertools import accumulate, pairwise

from benchmarks.children import ROOT, Child
from benchmarks.folders import BUNDLED
from benchmarks.ratios import alternate, difference, median
from benchmarks.starts import start_daemon, start_plain
from benchmarks.table import Row, at_most, format_number

_STEPS = (
    ("Python itself", "pass"),
    ("FastMCP, with pydantic, mcp, starlette and uvicorn", "import fastmcp.server.server, uvicorn"),
    ("cyclopts and structlog", "import cyclopts, structlog"),
    ("jinja2, jsonschema-rs, orjson", "import jinja2, jsonschema_rs, orjson"),
    ("prometheus-client, httptools", "import prometheus_client, httptools"),
    ("widgetd's own modules", "import widgetd.cli, widgetd.daemon.serve"),
)
"""What is imported, one after the other; each holds what those before it do not hold already."""

_PRINT_RSS = "print(open('/proc/self/status').read().split('VmRSS:')[1].split()[0])"


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the row of this family.

    Args:
        most: The maximum number of pairs.
    """
    ours = partial(_held_mb, partial(start_daemon, BUNDLED))
    timings = alternate(ours, partial(_held_mb, start_plain), pairs=min(most, 6), warm_up=0)
    parts = list(_parts())
    rest = median(timings.ours) - sum(held_mb for _, held_mb in parts)
    parts.append(("27 widgets, and what serves them", rest))
    made_of = ", ".join(f"{what} {held_mb:.1f} MB" for what, held_mb in parts)
    yield Row(
        what="memory at the start, 27 widgets, MB beyond FastMCP",
        bar=at_most(25),
        ratio=difference(timings),
        ours=f"{format_number(median(timings.ours))} MB",
        theirs=f"{format_number(median(timings.theirs))} MB",
        pairs=len(timings),
        remark=f"Resident when ready, less that of a FastMCP server of one tool. It is: {made_of}.",
    )


def _held_mb(started: Callable[[], AbstractContextManager[tuple[Child, float]]]) -> float:
    with started() as (running, _):
        return running.rss_bytes / 1e6


def _parts() -> Iterator[tuple[str, float]]:
    """Yield each step's name and the memory that it adds, in MB."""
    programs = accumulate((imports for _, imports in _STEPS), "{}\n{}".format)
    held_mb = [0.0, *(_after(program) for program in programs)]
    for (what, _), (before, after) in zip(_STEPS, pairwise(held_mb), strict=True):
        yield what, after - before


def _after(program: str) -> float:
    command = (sys.executable, "-c", f"{program}\n{_PRINT_RSS}")
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return int(output) * 1024 / 1e6
