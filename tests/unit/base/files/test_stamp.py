from __future__ import annotations

import os
import sys
import time

import pytest

from widgetd.base.files.limits import LIMITS
from widgetd.base.files.stamp import is_racy, stamp_of, time_to_quiet_s, wait_for_tick

HOUR_MS = 3_600_000


def status(*, ctime_ms_ago: int) -> os.stat_result:
    return make_status(time.time_ns() - ctime_ms_ago * 1_000_000)


def make_status(ctime_ns: int) -> os.stat_result:
    return os.stat_result((0,) * 10, {"st_ctime_ns": ctime_ns, "st_mtime_ns": 0})


@pytest.mark.parametrize(
    ("ctime_ms_ago", "quiet", "racy"),
    [
        (0, False, True),
        (LIMITS.quiet_ms + 1, True, True),
        (2_001, True, False),
        (-HOUR_MS, True, False),
    ],
    ids=["now", "a moment ago", "a while ago", "by a clock that is ahead"],
)
def test_how_far_a_ctime_is_believed(ctime_ms_ago: int, quiet: bool, racy: bool) -> None:
    status_result = status(ctime_ms_ago=ctime_ms_ago)

    assert (not time_to_quiet_s(status_result, LIMITS.quiet_ms), is_racy(status_result)) == (
        quiet,
        racy,
    )


def test_stamp_matches_its_own_file_and_no_later_write() -> None:
    status_result = status(ctime_ms_ago=5)

    assert stamp_of(status_result) == stamp_of(make_status(status_result.st_ctime_ns))
    assert stamp_of(status_result) != stamp_of(status(ctime_ms_ago=0))


@pytest.mark.skipif(sys.platform != "linux", reason="needs the clock by which Linux dates writes")
def test_write_is_outlasted_after_the_next_clock_tick() -> None:
    ticking = 5  # CLOCK_REALTIME_COARSE, see clock_gettime(2)
    now_ns = time.clock_gettime_ns(ticking)

    assert wait_for_tick(make_status(now_ns))
    assert time.clock_gettime_ns(ticking) > now_ns


@pytest.mark.parametrize("step_ns", [10_000_000, 1_000_000_000, 2_000_000_000])
def test_write_with_a_coarse_timestamp_is_not_outlasted(step_ns: int) -> None:
    assert not wait_for_tick(make_status(time.time_ns() // step_ns * step_ns))
