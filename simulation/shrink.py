"""The shortest history of a failing seed."""

from __future__ import annotations

from collections.abc import Callable

from simulation.simulate import OPERATIONS, Outcome, simulate


def shrink(seed: int, law: str, report: Callable[[str], None]) -> frozenset[int]:
    """Return the operations to leave out: halves first, then single operations."""
    everything = range(OPERATIONS)
    kept, size = list(everything), OPERATIONS // 2
    while size:
        for start in range(0, len(kept), size):
            fewer = kept[:start] + kept[start + size :]
            if law in simulate(seed, dropped=frozenset(everything) - frozenset(fewer)).violations:
                kept = fewer
                report(f"{len(kept)} operations left")
                break
        else:
            size //= 2
    return frozenset(everything) - frozenset(kept)


def replay(seed: int, report: Callable[[str], None]) -> Outcome:
    """Run a seed. If it fails, print the timeline of its shortest failing history."""
    outcome = simulate(seed)
    report(f"seed {seed}: history {outcome.digest}, {outcome.first or '0 violations'}")
    if outcome.violations:
        law = outcome.first.partition(":")[0]
        dropped = shrink(seed, law, report)
        simulate(seed, dropped=dropped, on_note=report)
    return outcome
