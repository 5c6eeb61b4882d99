"""A daemon that swapped often holds on to nothing, and files spoilt at random are judged.

Short versions of `make soak` and `make fuzz`, without their clock.
"""

from __future__ import annotations

from pathlib import Path

from storms.fuzz import rows
from storms.swaps import WIDGETS, in_process

# A snapshot is kept by whoever lists it, and by whoever tells of the next one.
MOST_AT_ONCE = 6 * WIDGETS


async def test_swaps_leave_no_widget_descriptor_or_thread_behind(tmp_path: Path) -> None:
    outcome = await in_process(tmp_path, swaps=300)

    before, after = outcome.before, outcome.after
    assert (after.descriptors, after.threads) == (before.descriptors, before.threads)
    assert outcome.widgets is not None
    assert outcome.widgets <= MOST_AT_ONCE


def test_a_fuzzer_finds_nothing_in_a_moment() -> None:
    assert [row.what for row in rows(seconds=3, seed=0) if not row.held] == []
