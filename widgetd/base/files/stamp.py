"""Metadata of a file's last write, and how far to trust it.

Only ctime is trusted: `cp -p`, `rsync -a`, tar and `touch -d` set mtime at will, but nothing sets
ctime. A ctime far ahead of our clock, as from a file server with its own clock, says nothing about
the present, so it neither delays a read nor casts doubt on one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from operator import attrgetter

from widgetd.base.files.limits import LIMITS
from widgetd.base.system import SYSTEM, Clock

_COARSE_NS = 10_000_000
"""File systems that count in 10 ms, in 1 s or in 2 s have only multiples of this."""

_FINE_NS = 1_000
"""Other file systems count in steps of at most this."""

Stamp = tuple[int, ...]
"""Identity and state of a file: with equal stamps, the kernel knows of no write in between."""

stamp_of: Callable[[os.stat_result], Stamp] = attrgetter(
    "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"
)


def time_to_quiet_s(status: os.stat_result, quiet_ms: int, clock: Clock = SYSTEM.clock) -> float:
    """Return the seconds until the file is quiet without further writes; 0 if it is."""
    written_ns = abs(clock.wall_ns() - status.st_ctime_ns)
    return max(quiet_ms * 1_000_000 - written_ns, 0) / 1e9


def is_racy(status: os.stat_result, clock: Clock = SYSTEM.clock) -> bool:
    """Return whether a further write might leave the stamp as it is."""
    return abs(clock.wall_ns() - status.st_ctime_ns) < LIMITS.racy_ns


def wait_for_tick(status: os.stat_result, clock: Clock = SYSTEM.clock) -> bool:
    """Wait, at most 10 ms, until a further write would have another ctime; return whether it would.

    Linux dates a write by the last tick of a clock, so a second write may have the same date until
    the next tick. From 6.13 on, many file systems date a write more finely if the date of the one
    before has been queried. Only for Linux.
    """
    if status.st_ctime_ns % _COARSE_NS == 0:
        return False
    while 0 <= clock.dates_ns() - status.st_ctime_ns < _FINE_NS:
        clock.sleep(LIMITS.tick_pause_s)
    return True
