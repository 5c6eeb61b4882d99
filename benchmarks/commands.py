"""Duration of commands that look at widgets, against the import of the server's libraries."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

from benchmarks.children import AS_INSTALLED, ROOT
from benchmarks.folders import BUNDLED
from benchmarks.ratios import alternate
from benchmarks.table import Row, at_most, compare_arms

IMPORT = (sys.executable, "-c", "from fastmcp import FastMCP")
"""What every one of these commands once began with."""


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    pairs = min(most, 40)
    for arguments, bar, remark in (
        (("render", "flight_tracker", "--dir", str(BUNDLED)), 0.6, ""),
        (("list", "--dir", str(BUNDLED)), 0.6, ""),
        (("check", str(BUNDLED)), 1.4, _CHECK),
    ):
        command = (sys.executable, "-m", "widgetd", *arguments)
        timings = alternate(partial(run_s, command), partial(run_s, IMPORT), pairs=pairs, warm_up=1)
        what = f"{arguments[0]}, 27 widgets, `import FastMCP`"
        yield compare_arms(what, at_most(bar), timings, remark=remark)


_CHECK = "Half of what it was while it built an MCP server to look at files."


def run_s(command: tuple[str, ...]) -> float:
    """Run a process and return its duration."""
    started_s = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=AS_INSTALLED, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started_s
