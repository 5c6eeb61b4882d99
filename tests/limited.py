"""Try hostile input in a process of its own, which may spend so much on each and no more."""

from __future__ import annotations

import gc
import resource
import signal
import sys
from collections.abc import Callable, Iterable
from typing import Final

BAR_S: Final = 0.25
BAR_BYTES: Final = 64 * 2**20
"""What one input may cost on a quiet machine."""


def try_each(cases: Iterable[tuple[object, Callable[[], object]]]) -> int:
    """Try each case within ten times the bar, say its name before it begins, and count them.

    A timer of the kernel ends the process where one takes too long, whatever holds the
    interpreter then; whatever asks for more memory fails. Whoever calls this has done before
    what is done only once.
    """
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - a file of the kernel
        size = int(statm.read().split()[0]) * resource.getpagesize()
    most = size + 10 * BAR_BYTES
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
