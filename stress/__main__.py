"""Stress widgetd: `python -m stress FAMILY [--scale X] [TRIAL …]`.

A family is chaos or stage. Prints one table, and exits with 1 if a bar was missed.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from benchmarks.__main__ import describe_machine
from benchmarks.folders import folder
from stress import (
    attacks,
    deaf,
    drafts,
    endings,
    idle,
    kills,
    mutants,
    sessions,
)
from stress.table import Row, format_heading, format_row
from widgetd.daemon.telemetry import configure

Scaled = Callable[[int], int]
Trial = Callable[[Path, Scaled], Awaitable[list[Row]]]
"""Takes an empty folder and a function that scales repetitions; returns the rows of its table."""

FAMILIES: Mapping[str, Mapping[str, Trial]] = {
    "chaos": {
        "kills": lambda at, some: kills.measure(at, kills=some(50)),
        "endings": lambda at, some: endings.measure(at, endings=some(10)),
        "deaf": lambda _, some: to_thread.run_sync(partial(deaf.measure, pairs=some(3_000))),
        "attacks": lambda _, some: to_thread.run_sync(partial(attacks.measure, slices=some(20))),
        "drafts": lambda _, some: to_thread.run_sync(partial(drafts.measure, drafts=some(10_000))),
        "idle": lambda at, some: to_thread.run_sync(
            partial(idle.measure, at, widgets=1_000, stretch_s=some(60))
        ),
    },
    "stage": {
        "mutants": lambda at, some: to_thread.run_sync(
            partial(mutants.measure, at, mutants=some(len(mutants.MUTANTS)))
        ),
        "ended": lambda at, some: sessions.measure_endings(at, sessions=some(300)),
    },
}


async def main() -> int:
    """Run the chosen trials, and print each row as soon as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m stress", description=__doc__)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("trials", nargs="*", metavar="TRIAL")
    parser.add_argument("--scale", type=float, default=1.0, help="of every number of repetitions")
    options = parser.parse_args()
    trials = FAMILIES[options.family]
    unknown = set(options.trials) - set(trials)
    if unknown:
        parser.error(f"no such trial: {', '.join(sorted(unknown))}; there are {', '.join(trials)}")
    configure("error")
    print(describe_machine())
    print(format_heading())
    missed = 0
    for name in options.trials or trials:
        for row in await _run_trial(name, trials[name], options.scale):
            print(format_row(row), flush=True)
            missed += not row.held
    return 1 if missed else 0


async def _run_trial(name: str, trial: Trial, scale: float) -> list[Row]:
    try:
        with folder() as empty:
            return await trial(empty, lambda count: max(1, int(count * scale)))
    except Exception as error:  # noqa: BLE001 - a trial that fails is missed, and the others go on
        traceback.print_exc()
        return [Row(what=name, measured=f"no outcome: {error!r}"[:60], bar="one", held=False)]


if __name__ == "__main__":
    sys.exit(anyio.run(main))
