"""The gate in front of child processes: for each kind a number, shares and limits.

A machine's processes are counted where its kernel counts them, so a process of widgetd has one
gate, `PROCESSES`. Our own Python children have limits of the kernel. A browser reserves terabytes
of addresses and runs for days, as programs of upstreams do: the gate looks at the resident memory
of their trees instead, where the system has /proc.
"""

from __future__ import annotations

import errno
import math
import os
import resource
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Kind = Literal["parser", "tests", "browser", "program"]

LOOK_S: Final = 1.0
"""Pause between two looks at the resident memory of a tree of processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindLimits:
    """The limits of one kind of process.

    Attributes:
        most: Processes at once, without those that they start.
        share: Processes of one principal at once; None where no caller starts one.
        cpu_s: Processor time, by the kernel; it counts whole seconds, so one more may pass. 0: no
            limit, as for the others below.
        memory_bytes: Memory above what the process takes before it is limited, by the kernel
            (macOS accepts such a limit and ignores it).
        resident_bytes: Private resident memory of the process and all that it started.
    """

    most: int
    share: int | None = None
    cpu_s: int = 0
    memory_bytes: int = 0
    resident_bytes: int = 0


LIMITS: Final[Mapping[Kind, KindLimits]] = {
    # A daemon has one parser and one browser; a program of others may hold several daemons. The
    # parser's limits hold for each drawing.
    "parser": KindLimits(most=16, cpu_s=2, memory_bytes=64 * 2**20),
    "browser": KindLimits(most=16, resident_bytes=2 * 2**30),
    "tests": KindLimits(
        most=4, share=1, cpu_s=60, memory_bytes=2 * 2**30, resident_bytes=2 * 2**30
    ),
    "program": KindLimits(most=64, resident_bytes=4 * 2**30),
}
"""Every way to start a process, but for the forks of a start: they have the parser's limits, and
their number is one of the daemon's."""


class ProcessGate:
    """Places of child processes, by kind and principal."""

    def __init__(self, limits: Mapping[Kind, KindLimits] = LIMITS) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._held: Counter[tuple[Kind, str | None]] = Counter()

    @contextmanager
    def hold(self, kind: Kind, owner: str | None = None) -> Iterator[None]:
        """Hold the place of a process while the block runs.

        Args:
            kind: The kind.
            owner: The principal that has it started; None for the daemon itself.

        Raises:
            BlockingIOError: All places, or those of the principal, are taken.
        """
        limits = self.limits[kind]
        with self._lock:
            count = sum(held for (held_kind, _), held in self._held.items() if held_kind == kind)
            share = limits.most if owner is None or limits.share is None else limits.share
            if count >= limits.most or self._held[kind, owner] >= share:
                raise BlockingIOError(errno.EAGAIN, f"no place for another process ({kind})")
            self._held[kind, owner] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held[kind, owner] -= 1

    async def watch(self, kind: Kind, pid: int) -> None:
        """End a process and all that it started once they take too much memory.

        Returns when they do, or runs until cancelled.
        """
        import anyio  # noqa: PLC0415 - the parser process does without

        while not self.is_above(kind, pid):  # noqa: ASYNC110 - no event tells of it
            await anyio.sleep(LOOK_S)
        end_tree(pid)

    def is_above(self, kind: Kind, pid: int) -> bool:
        """Return whether a tree of processes takes more resident memory than its kind may."""
        most = self.limits[kind].resident_bytes
        return 0 < most < resident_bytes(pid)


PROCESSES: Final = ProcessGate()
"""The gate of this process."""


def find_tree(pid: int) -> Iterator[int]:
    """Yield a process and all that it started; itself alone where there is no /proc."""
    yield pid
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in file.read_text().split():
                yield from find_tree(int(child))


def resident_bytes(pid: int) -> int:
    """Return the private resident memory of a process and all that it started.

    Shared memory counts for none, because a browser's processes share most of theirs.
    """
    total_kb = 0
    for member in find_tree(pid):
        with suppress(OSError):
            for line in Path(f"/proc/{member}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    total_kb += int(line.split()[1])
    return total_kb * 1024


def end_tree(pid: int) -> None:
    """Kill a process and all that it started."""
    for member in list(find_tree(pid)):
        with suppress(OSError):
            os.kill(member, signal.SIGKILL)


def limit_resources(limits: KindLimits) -> None:
    """Limit what this process may use from now on, until it is called again."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime) + limits.cpu_s)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + limits.memory_bytes)


def _limit(what: int, most: int) -> None:
    hard = resource.getrlimit(what)[1]
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (soft, hard))


@contextmanager
def lifted_limits() -> Iterator[None]:
    """Start processes in the block without the limits of this one."""
    limits = {what: resource.getrlimit(what) for what in (resource.RLIMIT_CPU, resource.RLIMIT_AS)}
    for what, (_, hard) in limits.items():
        resource.setrlimit(what, (hard, hard))
    try:
        yield
    finally:
        for what, before in limits.items():
            resource.setrlimit(what, before)


if __name__ == "__main__":
    # `python -m widgetd.base.processes KIND …` runs `widgetd …` with the limits of the kind.
    import runpy

    limit_resources(LIMITS[sys.argv.pop(1)])  # type: ignore[index]  # of our own command line
    runpy.run_module("widgetd", run_name="__main__")
