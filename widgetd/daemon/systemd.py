"""Tell the service manager how the daemon is: ready, reloading, alive, stopping.

This is systemd's notify protocol: one datagram of `NAME=value` lines per word.
Where nobody listens, every word goes nowhere, and a socket that is gone or full
never fails the daemon. It refuses to know what is being served.

Source: sd_notify(3), sd_watchdog_enabled(3).
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import anyio

SEND_S = 0.1
"""How long a word may wait for a place in the service manager's queue; the loop waits with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """Whoever started the daemon and wants to hear of it.

    Attributes:
        address: Its datagram socket; empty if nobody listens.
        watchdog_s: It kills a daemon that was silent for so many seconds; None if it never does.
    """

    address: bytes = b""
    watchdog_s: float | None = None

    def ready(self, status: str) -> bool:
        """Say that clients can come, after the start or after a reload.

        Returns:
            Whether the word was taken, as for each of the words below.
        """
        return self._say("READY=1", f"STATUS={_line(status)}")

    def reloading(self) -> bool:
        """Say that a reload began; `ready` ends it."""
        # systemd holds the time against its request, so that the end of an
        # earlier reload is not taken for the end of this one.
        return self._say("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> bool:
        """Say that the daemon is about to end."""
        return self._say("STOPPING=1", "STATUS=finishing the calls in flight")

    def status(self, text: str) -> bool:
        """Say in one line how things are, for `systemctl status`."""
        return self._say(f"STATUS={_line(text)}")

    async def keep_alive(self, healthy: Callable[[], bool], stop: anyio.Event) -> None:
        """Say that the daemon lives, until `stop`; in silence the service manager restarts it.

        It runs on the event loop, so a loop that hangs falls silent by itself; so it is while
        scans make no progress, as `healthy` says.
        """
        while self.watchdog_s is not None and not stop.is_set():
            if healthy():
                self._say("WATCHDOG=1")
            with anyio.move_on_after(self.watchdog_s / 2):
                await stop.wait()

    def _say(self, *lines: str) -> bool:
        if not self.address:
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.settimeout(SEND_S)
            try:
                channel.sendto("\n".join(lines).encode(errors="replace"), self.address)
            except OSError:
                return False
        return True


def supervisor(environ: Mapping[str, str], pid: int) -> Supervisor:
    """Find who wants to hear of the process `pid`, the daemon's own.

    `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` are read; a value that makes no sense
    counts as absent.
    """
    name = environ.get("NOTIFY_SOCKET", "")
    address = os.fsencode(name) if name.startswith(("/", "@")) else b""
    if name.startswith("@"):  # a name in the abstract namespace, which begins with a zero byte
        address = b"\0" + address[1:]
    usec, whose = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", str(pid))
    is_ours = usec.isdecimal() and int(usec) > 0 and whose == str(pid)
    return Supervisor(address=address, watchdog_s=int(usec) / 1_000_000 if is_ours else None)


def _line(text: str) -> str:
    """The text in one line, so that no part of it can pass for another word."""
    return " ".join(text.split())
