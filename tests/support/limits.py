"""Hostile input in a child process with limits on processor time and memory."""

from __future__ import annotations

import gc
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

BAR_S: Final = 0.25
BAR_BYTES: Final = 64 * 2**20
"""Maximum cost of one input on a quiet machine."""


def run_attacks(module: str, *arguments: str) -> list[str]:
    """Run `module` in a child process and return its lines; the last must be "done"."""
    child = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    lines = child.stdout.splitlines()
    assert (lines[-1:], child.returncode) == (["done"], 0), (lines[-1:], child.stderr[-2000:])
    return lines


@contextmanager
def limit_memory(more_bytes: int) -> Iterator[None]:
    """Let allocations in the block fail beyond so much more memory than this process has.

    Unlike `tracemalloc`, which makes a block of many small objects five times as slow, this does
    not see memory that is free already.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + more_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - a file of the kernel
        return int(statm.read().split()[0]) * resource.getpagesize()


def try_each(cases: Iterable[tuple[object, Callable[[], object]]]) -> int:
    """Run each case within ten times the bar, print its name first, and return their number.

    A kernel timer ends the process if a case takes too long, even while native code holds the
    interpreter; an allocation beyond the limit fails. Do one-time work before the call.
    """
    gc.collect()
    most = _address_space() + 10 * BAR_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    count = 0
    for name, attempt in cases:
        count += 1
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
        signal.setitimer(signal.ITIMER_VIRTUAL, 10 * BAR_S)
        attempt()
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return count
