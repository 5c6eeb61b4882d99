"""A watchdog for a process with a stuck event loop, without the interpreter.

A timer of the kernel counts the process's CPU time, and the event loop renews it. If it
runs out, the kernel calls libc's `_exit` as the signal handler, with the signal's number
as the status: it takes no lock and runs no Python, and it ends process 1 of a container
too, for which a signal's default action is ignored. A machine that sleeps, is overloaded
or is held in a debugger uses no CPU time, so nothing ends there.

Source: setitimer(2), signal-safety(7), pid_namespaces(7).
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from widgetd.daemon.limits import LIMITS


@contextmanager
def arm() -> Iterator[None]:
    """End the process with status 26 if its loop stands still while the block runs."""
    libc = ctypes.CDLL(None)
    libc.signal.restype = ctypes.c_void_p
    # The signal module would call its handlers only once the interpreter is free.
    libc.signal(signal.SIGVTALRM, ctypes.cast(libc["_exit"], ctypes.c_void_p))
    renew()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def renew() -> None:
    """Restart the timer. The fork of an armed process has none until it calls this."""
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMITS.watchdog_cpu_s)


async def beat() -> None:
    """Renew the timer for as long as the loop runs, until cancelled."""
    while True:
        renew()
        await anyio.sleep(LIMITS.watchdog_beat_s)
