from __future__ import annotations

import os
import time

import pytest

from widgetd.files.stamp import QUIET_MS, Stamp, is_quiet, is_racy

HOUR_MS = 3_600_000


def status(*, ctime_ms_ago: int) -> os.stat_result:
    ctime_ns = time.time_ns() - ctime_ms_ago * 1_000_000
    return os.stat_result((0,) * 10, {"st_ctime_ns": ctime_ns, "st_mtime_ns": 0})


@pytest.mark.parametrize(
    ("ctime_ms_ago", "quiet", "racy"),
    [
        (0, False, True),
        (QUIET_MS + 1, True, True),
        (2_001, True, False),
        (-HOUR_MS, True, False),
    ],
    ids=["now", "a moment ago", "a while ago", "by a clock that is ahead"],
)
def test_how_far_a_ctime_is_believed(ctime_ms_ago: int, quiet: bool, racy: bool) -> None:
    found = status(ctime_ms_ago=ctime_ms_ago)

    assert (is_quiet(found, QUIET_MS), is_racy(found)) == (quiet, racy)


def test_a_stamp_marks_what_it_was_taken_from_and_nothing_written_since() -> None:
    found = status(ctime_ms_ago=5)

    assert Stamp.of(found).marks(found)
    assert not Stamp.of(found).marks(status(ctime_ms_ago=0))
