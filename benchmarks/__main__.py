"""Print one table of ratios: `python -m benchmarks [--pairs N] [FAMILY …]`."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Iterator, Mapping
from os import cpu_count, getloadavg

from benchmarks import (
    author_tools,
    calls,
    commands,
    feeds,
    memory,
    peer_calls,
    pictures,
    renders,
    saves,
    sessions,
    starts,
    tool_lists,
)
from benchmarks.table import Row, format_row, heading

FAMILIES: Mapping[str, Callable[[int], Iterator[Row]]] = {
    "save": saves.measure_rows,
    "call": calls.measure_rows,
    "fill": feeds.measure_rows,
    "list": tool_lists.measure_rows,
    "author": author_tools.measure_rows,
    "peer": peer_calls.measure_rows,
    "render": renders.measure_rows,
    "start": starts.measure_rows,
    "memory": memory.measure_rows,
    "command": commands.measure_rows,
    "stage": sessions.measure_rows,
    "picture": pictures.measure_rows,
}
"""Functions that measure the rows of a family, each with at most so many pairs."""


def main() -> None:
    """Measure the selected families and print each row when it is done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--pairs", type=int, default=1_000_000, help="at most so many pairs a row")
    options = parser.parse_args()
    unknown = set(options.families) - set(FAMILIES)
    if unknown:
        parser.error(
            f"no such family: {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}"
        )
    print(describe_machine())
    print(heading())
    for family in options.families or FAMILIES:
        for row in FAMILIES[family](options.pairs):
            print(format_row(row), flush=True)


def describe_machine() -> str:
    """Describe the interpreter, the machine and its load."""
    load = ", ".join(f"{load:.1f}" for load in getloadavg())
    return (
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{cpu_count()} processors, load {load} at the start"
    )


if __name__ == "__main__":
    main()
