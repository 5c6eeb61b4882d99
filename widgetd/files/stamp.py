"""What the file system says of a file's last write, and how far to believe it.

Only ctime is believed: `cp -p`, `rsync -a`, tar and `touch -d` set mtime at will,
but nothing sets ctime. A ctime that lies far ahead of our clock (a file server
with a clock of its own) says nothing about now, so it neither delays a read nor
casts doubt on one.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

QUIET_MS = 20
"""A file is read when its last write lies this far back; writers pause for less than that.

One that is known to be finished is read at once."""

RACY_NS = 2_000_000_000
"""Two writes this close may bear one ctime: the coarsest file systems count in 2 s (FAT).

Source: Documentation/technical/racy-git.txt in git.
"""

_COARSE_NS = 10_000_000
"""File systems that count in 10 ms, in seconds or in two bear only multiples of this."""

_FINE_NS = 1_000
"""The others count in steps no longer than this."""

# CLOCK_REALTIME_COARSE, which `time` does not name; it ticks every 1 to 10 ms.
_TICKING = 5
_NAP_S = 0.0005


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Which file it was and how it stood: equal stamps, no write that the kernel knows of."""

    dev: int
    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """The stamp that `status` bears."""
        return cls(
            dev=status.st_dev,
            ino=status.st_ino,
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            ctime_ns=status.st_ctime_ns,
        )

    def marks(self, status: os.stat_result) -> bool:
        """Whether `status` bears this stamp; cheaper than making another one."""
        return (
            self.ctime_ns == status.st_ctime_ns
            and self.ino == status.st_ino
            and self.size == status.st_size
            and self.mtime_ns == status.st_mtime_ns
            and self.dev == status.st_dev
        )


def is_quiet(status: os.stat_result, quiet_ms: int) -> bool:
    """Whether the last write lies at least `quiet_ms` back, so that its writer is probably done."""
    return not quiet_in_s(status, quiet_ms)


def quiet_in_s(status: os.stat_result, quiet_ms: int) -> float:
    """How long until `is_quiet`, if nobody writes meanwhile; 0 where it is."""
    written_ns = abs(time.time_ns() - status.st_ctime_ns)
    return max(quiet_ms * 1_000_000 - written_ns, 0) / 1e9


def is_racy(status: os.stat_result) -> bool:
    """Whether the file might be written once more without the stamp showing it."""
    return abs(time.time_ns() - status.st_ctime_ns) < RACY_NS


def outlast(status: os.stat_result) -> bool:
    """Wait, 10 ms at most, until a further write would bear another ctime; whether it would.

    Linux dates a write by the last tick of a clock, so that a second one may bear the same date
    until the next tick. From 6.13 on, many file systems date a write more finely if somebody has
    asked for the date of the one before. Only for Linux.
    """
    if status.st_ctime_ns % _COARSE_NS == 0:
        return False
    while 0 <= time.clock_gettime_ns(_TICKING) - status.st_ctime_ns < _FINE_NS:
        time.sleep(_NAP_S)
    return True
