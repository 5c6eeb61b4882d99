"""Try what widgetd is made to withstand: `python -m stress FAMILY [--scale X] [TRIAL …]`.

A family is storm, chaos, soak, fuzz or stage. Prints one table, and exits with 1 if a bar was
missed.
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

from benchmarks.__main__ import machine
from benchmarks.folders import folder
from stress import (
    attacks,
    configmap,
    deaf,
    drafts,
    endings,
    faults,
    flapping,
    fuzz,
    idle,
    kills,
    mutants,
    overflow,
    parsing,
    saves,
    sessions,
    swaps,
    upstreams,
)
from stress.table import Row, heading, written
from widgetd.daemon.telemetry import configure

Scaled = Callable[[int], int]
Trial = Callable[[Path, Scaled], Awaitable[list[Row]]]
"""Told an empty folder, and how to scale its repetitions; answers its rows."""

FAMILIES: Mapping[str, Mapping[str, Trial]] = {
    "storm": {
        "saves": lambda at, some: saves.rows(at, mutations=some(10_000), clients=64),
        "overflow": lambda at, some: overflow.rows(at, files=some(20_000)),
        "configmap": lambda at, some: configmap.rows(at, swaps=some(200)),
    },
    "chaos": {
        "kills": lambda at, some: kills.rows(at, kills=some(50)),
        "endings": lambda at, some: endings.rows(at, endings=some(10)),
        "deaf": lambda _, some: to_thread.run_sync(partial(deaf.rows, pairs=some(3_000))),
        # One for each kind of child process: what fills widgets, draws them, parses them.
        "upstreams": lambda at, some: upstreams.rows(at, kills=some(20)),
        "browser": lambda at, some: sessions.child_rows(at, kills=some(10)),
        "parser": lambda at, some: parsing.rows(at, kills=some(20)),
        "faults": lambda at, some: to_thread.run_sync(partial(faults.rows, at, pairs=some(3_000))),
        "attacks": lambda _, some: to_thread.run_sync(partial(attacks.rows, slices=some(20))),
    },
    "soak": {
        "swaps": lambda at, some: swaps.near_rows(at, swaps=some(50_000)),
        "folder": lambda at, some: swaps.far_rows(at, swaps=some(2_500)),
        "drafts": lambda _, some: to_thread.run_sync(partial(drafts.rows, drafts=some(10_000))),
        "filled": lambda at, some: flapping.filled_rows(at, fills=some(10_000)),
        "flapping": lambda at, some: to_thread.run_sync(
            partial(flapping.flapping_rows, at, hours=some(60) / 60)
        ),
        "updates": lambda _, some: flapping.updated_rows(updates=some(10_000)),
        "idle": lambda at, some: to_thread.run_sync(
            partial(idle.rows, at, widgets=1_000, stretch_s=some(60))
        ),
    },
    "fuzz": {
        "files": lambda _, some: to_thread.run_sync(partial(fuzz.rows, seconds=some(60))),
    },
    "stage": {
        "mutants": lambda at, some: to_thread.run_sync(
            partial(mutants.rows, at, mutants=some(len(mutants.MUTANTS)))
        ),
        "heard": lambda _, some: sessions.heard_rows(widgets=some(27)),
        "ended": lambda at, some: sessions.ended_rows(at, sessions=some(300)),
        "crowd": lambda at, some: sessions.crowd_rows(at, seconds=some(60)),
        "saved": lambda at, some: sessions.saved_rows(at, saves=some(200)),
    },
}


async def main() -> int:
    """Run the trials that were asked for, and print each row as it is known."""
    parser = argparse.ArgumentParser(prog="python -m stress", description=__doc__)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("trials", nargs="*", metavar="TRIAL")
    parser.add_argument("--scale", type=float, default=1.0, help="of every number of repetitions")
    asked = parser.parse_args()
    trials = FAMILIES[asked.family]
    unknown = set(asked.trials) - set(trials)
    if unknown:
        parser.error(f"no such trial: {', '.join(sorted(unknown))}; there are {', '.join(trials)}")
    configure("error")
    print(machine())
    print(heading())
    missed = 0
    for name in asked.trials or trials:
        for row in await _tried(name, trials[name], asked.scale):
            print(written(row), flush=True)
            missed += not row.held
    return 1 if missed else 0


async def _tried(name: str, trial: Trial, scale: float) -> list[Row]:
    try:
        with folder() as empty:
            return await trial(empty, lambda count: max(1, int(count * scale)))
    except Exception as error:  # noqa: BLE001 - a trial that fails is missed, and the others go on
        traceback.print_exc()
        return [Row(what=name, measured=f"no outcome: {error!r}"[:60], bar="one", held=False)]


if __name__ == "__main__":
    sys.exit(anyio.run(main))
