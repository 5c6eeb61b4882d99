"""A daemon that swapped often holds on to nothing, and files spoilt at random are judged.

Short versions of `make soak` and `make fuzz`, without their clock.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stress.flapping import fill_repeatedly, flap, update_repeatedly
from stress.fuzz import measure
from stress.swaps import WIDGETS, swap_in_process
from widgetd.upstreams.limits import LIMITS

# A snapshot is kept by whoever lists it, and by whoever tells of the next one.
MOST_AT_ONCE = 6 * WIDGETS


async def test_swaps_leave_no_widget_descriptor_or_thread_behind(tmp_path: Path) -> None:
    outcome = await swap_in_process(tmp_path, swaps=300)

    before, after = outcome.before, outcome.after
    assert (after.descriptors, after.threads) == (before.descriptors, before.threads)
    assert outcome.widgets is not None
    assert outcome.widgets <= MOST_AT_ONCE


def test_flapping_upstream_leaves_no_task_descriptor_or_thread_behind(tmp_path: Path) -> None:
    result = flap(tmp_path, hours=0, warm_up=2)

    (before, after), usage = result.tasks, [(one.descriptors, one.threads) for one in result.held]
    assert result.cycles == 3
    assert (before, usage[0]) == (after, usage[1])


async def test_cached_answers_stay_within_their_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(LIMITS, held_bytes=500_000)
    monkeypatch.setattr("widgetd.upstreams.feeds.LIMITS", limits)

    cached_bytes, _ = await fill_repeatedly(tmp_path, fills=50)

    assert 400_000 < cached_bytes <= 500_000


async def test_follower_of_a_render_sees_the_last_of_many_versions() -> None:
    last, version, _ = await update_repeatedly(updates=300)

    assert last == version == 1 + 100 + 300


def test_fuzzer_finds_nothing_in_a_moment() -> None:
    assert [row.what for row in measure(seconds=3, seed=0) if not row.held] == []
