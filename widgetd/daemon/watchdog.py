"""End a process that keeps its interpreter to itself, without needing the interpreter.

A timer of the kernel counts the processor time that the process takes. The running loop
sets it anew; where nothing does, the kernel calls libc's own `_exit`, with the signal's
number: no lock is asked for, no Python runs, and process 1 of a container ends too, which
a signal's default action would spare. A machine that sleeps, starves or is held in a
debugger takes no processor time, so nothing ends there.

Source: setitimer(2), signal-safety(7), pid_namespaces(7).
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

MOST_S = 5.0
"""Processor time, of all threads, between two beats of the loop."""

BEAT_S = 1.0
"""How often the loop sets the timer anew; MOST_S in so short a time takes five busy processors."""


@contextmanager
def armed() -> Iterator[None]:
    """Within the block, which beats, end the process when it does not; exit status 26."""
    libc = ctypes.CDLL(None)
    libc.signal.restype = ctypes.c_void_p
    # Not by the signal module, whose handlers are called once the interpreter is free.
    libc.signal(signal.SIGVTALRM, ctypes.cast(libc["_exit"], ctypes.c_void_p))
    renew()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def renew() -> None:
    """Give the process its time anew; a fork of an armed one has no timer until it does so."""
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_S)


async def beat() -> None:
    """Renew it for as long as the loop runs; until cancelled."""
    while True:
        renew()
        await anyio.sleep(BEAT_S)
