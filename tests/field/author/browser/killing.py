"""Ends the browsers that a test started, as a machine without memory does."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def kill_browsers() -> None:
    """Kill them."""
    for pid in _running(b"--remote-debugging"):
        os.kill(pid, signal.SIGKILL)


def kill_drivers() -> None:
    """Kill the programs through which Playwright drives them."""
    for pid in _running(b"playwright/driver"):
        os.kill(pid, signal.SIGKILL)


def niceness_of_drivers() -> set[int]:
    """Niceness of the process that drives the browsers; root's browsers set their own."""
    return {os.getpriority(os.PRIO_PROCESS, pid) for pid in _running(b"playwright/driver")}


def _running(what: bytes) -> list[int]:
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [pid for child in children for pid in descendants(child.read_text().split())]
    return [pid for pid in pids if what in Path(f"/proc/{pid}/cmdline").read_bytes()]


def descendants(pids: list[str]) -> list[int]:
    """Return these processes and their descendants."""
    found: list[int] = []
    for pid in pids:
        found.append(int(pid))
        for child in Path(f"/proc/{pid}/task").glob("*/children"):
            found += descendants(child.read_text().split())
    return found
