"""Try hostile input in a process of its own, which may spend so much on each and no more."""

from __future__ import annotations

import gc
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Final

BAR_S: Final = 0.25
BAR_BYTES: Final = 64 * 2**20
"""What one input may cost on a quiet machine."""


def tried(module: str, *arguments: str) -> list[str]:
    """What `module` says that tries each of its cases in a process of its own; "done" ends it."""
    child = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    said = child.stdout.splitlines()
    assert (said[-1:], child.returncode) == (["done"], 0), (said[-1:], child.stderr[-2000:])
    return said


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
