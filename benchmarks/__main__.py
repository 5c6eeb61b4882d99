"""Print one table of ratios: `python -m benchmarks [--pairs N] [FAMILY …]`."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Iterator, Mapping
from os import cpu_count, getloadavg

from benchmarks import (
    authoring,
    calling,
    commanding,
    comparing,
    filling,
    listing,
    memory,
    picturing,
    rendering,
    saving,
    staging,
    starting,
)
from benchmarks.table import Row, heading, written

FAMILIES: Mapping[str, Callable[[int], Iterator[Row]]] = {
    "save": saving.rows,
    "call": calling.rows,
    "fill": filling.rows,
    "list": listing.rows,
    "author": authoring.rows,
    "peer": comparing.rows,
    "render": rendering.rows,
    "start": starting.rows,
    "memory": memory.rows,
    "command": commanding.rows,
    "stage": staging.rows,
    "picture": picturing.rows,
}


def main() -> None:
    """Measure what was asked for, and print each row as it is done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--pairs", type=int, default=1_000_000, help="at most so many pairs a row")
    asked = parser.parse_args()
    unknown = set(asked.families) - set(FAMILIES)
    if unknown:
        parser.error(
            f"no such family: {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}"
        )
    print(machine())
    print(heading())
    for family in asked.families or FAMILIES:
        for row in FAMILIES[family](asked.pairs):
            print(written(row), flush=True)


def machine() -> str:
    """Describe the interpreter, the machine and its load."""
    load = ", ".join(f"{load:.1f}" for load in getloadavg())
    return (
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{cpu_count()} processors, load {load} at the start"
    )


if __name__ == "__main__":
    main()
