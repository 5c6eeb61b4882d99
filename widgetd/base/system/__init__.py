"""Time, threads, the disk and random numbers: the one door to each.

Whatever depends on them takes a `System` as an argument, so a simulation decides what the clock
says, which call of the disk fails and which thread goes on. `SYSTEM` is the real one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from widgetd.base.system.clock import Clock
from widgetd.base.system.disk import Disk
from widgetd.base.system.numbers import Numbers
from widgetd.base.system.threads import FairThreads, WorkerThreads

__all__ = ["SYSTEM", "Clock", "Disk", "FairThreads", "Numbers", "System", "WorkerThreads"]


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """The services of the operating system."""

    clock: Clock = field(default_factory=Clock)
    threads: WorkerThreads = field(default_factory=WorkerThreads)
    disk: Disk = field(default_factory=Disk)
    numbers: Numbers = field(default_factory=Numbers)


SYSTEM = System()
