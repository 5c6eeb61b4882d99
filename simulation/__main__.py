"""Run seeds, replay a seed, or find mutants.

python -m simulation 1-10000
python -m simulation 4711
python -m simulation mutants [NAME ...]
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from simulation.mutants import MUTANTS, find, read_table, write_table
from simulation.shrink import replay
from simulation.simulate import Outcome, simulate

REGRESSIONS = Path(__file__).with_name("seeds.txt")
SEARCHED = 1_000
"""Seeds within which each mutant must be found."""

say = partial(print, flush=True)


def read_regressions() -> list[int]:
    """Return the seeds of past defects: the first word of each line."""
    lines = REGRESSIONS.read_text(encoding="utf-8").splitlines()
    return [int(line.split()[0]) for line in lines if line and not line.startswith("#")]


def run_seeds(first: int, last: int, jobs: int) -> bool:
    """Run seeds, regressions first. Print the tables and return whether all laws hold."""
    began_s = time.process_time()
    seeds = [*dict.fromkeys([*read_regressions(), *range(first, last + 1)])]
    counts, laws, failed = Counter[str](), Counter[str](), Counter[tuple[str, str, str]]()
    seen: set[tuple[str, str, str]] = set()
    days, failing = 0.0, list[Outcome]()
    with ProcessPoolExecutor(jobs, get_context("fork")) as pool:
        outcomes = map(simulate, seeds) if jobs == 1 else pool.map(simulate, seeds, chunksize=8)
        for outcome in outcomes:
            counts += outcome.counts
            laws += outcome.violations
            failed += outcome.failed
            seen |= outcome.seen
            days += outcome.days
            if outcome.violations:
                failing.append(outcome)
                if len(failing) <= 5:
                    say(f"seed {outcome.seed}: {outcome.first}")
    steps = counts["disk calls"] + counts["store calls"] + counts["writes"] + counts["presses"]
    spent_s = time.process_time() - began_s
    say(f"{len(seeds):,} seeds, {steps + counts['lists']:,} steps, {days:.2f} virtual days")
    if jobs == 1:
        say(f"{spent_s:.0f} s of processor time: {days / spent_s * 60:.2f} virtual days a minute")
    for name, count in sorted(counts.items()):
        say(f"  {name:<24} {count:>10,}")
    say(f"fault points: {len(seen & failed.keys())} of {len(seen)} failed")
    for point in sorted(seen - failed.keys()):
        say(f"  never failed: {' '.join(point)}")
    for law, count in laws.most_common():
        say(f"violated {count:,} times: {law}")
    say(f"seeds that fail: {len(failing)}, first {[outcome.seed for outcome in failing[:10]]}")
    return not failing


def find_mutants(names: list[str]) -> bool:
    """Print a row for each mutant and return whether all were found."""
    missed, seeds = 0, read_table()
    for mutant in MUTANTS:
        if names and mutant.name not in names:
            continue
        outcome = find(mutant, SEARCHED)
        missed += outcome is None
        if outcome is not None:
            seeds[mutant.name] = outcome.seed
        seed = "missed" if outcome is None else f"seed {outcome.seed}"
        law = "" if outcome is None else outcome.first.partition(":")[0]
        say(f"| {mutant.name} | {mutant.guards} | {law} | {seed} |")
    say(f"{len(MUTANTS) - missed} of {len(MUTANTS)} mutants found" if not names else "")
    if not names:
        write_table(seeds)
    return not missed


def main() -> int:
    """Run the command line."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets of texts is a part of the history.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        os.execve(sys.executable, [sys.executable, "-m", "simulation", *sys.argv[1:]], environment)
    # Seeds leave few cycles. The default would collect 20 times during each seed.
    gc.set_threshold(200_000, 50, 1_000)
    what, *names = sys.argv[1:] or ["1-200"]
    if what == "mutants":
        return not find_mutants(names)
    first, _, last = what.partition("-")
    if not last:
        return bool(replay(int(first), say).violations)
    return not run_seeds(int(first), int(last), int(names[0]) if names else 1)


if __name__ == "__main__":
    sys.exit(main())
