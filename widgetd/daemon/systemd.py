"""systemd's notify protocol, and its socket across restarts.

A message is a datagram of `NAME=value` lines. Without a service manager nothing is
sent, and a lost or full socket never fails the daemon.

Source: sd_notify(3), sd_watchdog_enabled(3), sd_listen_fds(3).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import anyio

from widgetd.base.system import SYSTEM
from widgetd.daemon.limits import LIMITS

_FIRST_LISTENER = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """The service manager of the daemon.

    Attributes:
        address: Its datagram socket, or empty.
        watchdog_s: Seconds of silence after which it restarts the daemon, None for never.
    """

    address: bytes = b""
    watchdog_s: float | None = None

    def ready(self, status: str) -> bool:
        """Report the service of clients, after the start or after a reload.

        Returns:
            Whether the message was taken, as for the other messages.
        """
        # A single line, so no part of it is read as another `NAME=value`.
        return self._send("READY=1", f"STATUS={' '.join(status.split())}")

    def reloading(self) -> bool:
        """Report the start of a reload. `ready` ends it."""
        # systemd compares the time with its request's, so the end of an earlier
        # reload is not taken for the end of this reload.
        return self._send("RELOADING=1", f"MONOTONIC_USEC={SYSTEM.clock.steady_ns() // 1000}")

    def stopping(self) -> bool:
        """Report the coming end of the daemon."""
        return self._send("STOPPING=1", "STATUS=finishing the calls in flight")

    async def keep_alive(self, healthy: Callable[[], bool], stop: anyio.Event) -> None:
        """Report the daemon as alive, until `stop` or while `healthy` returns False.

        This runs on the event loop, so a hanging loop falls silent by itself.
        """
        while self.watchdog_s is not None and not stop.is_set():
            if healthy():
                self._send("WATCHDOG=1")
            with anyio.move_on_after(self.watchdog_s / 2):
                await stop.wait()

    def _send(self, *lines: str) -> bool:
        if not self.address:
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.settimeout(LIMITS.notify_s)
            try:
                channel.sendto("\n".join(lines).encode(errors="replace"), self.address)
            except OSError:
                return False
        return True


def supervisor(environ: Mapping[str, str], pid: int) -> Supervisor:
    """Return the service manager of the process `pid`.

    It is named by `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`. A senseless value counts as
    absent.
    """
    name = environ.get("NOTIFY_SOCKET", "")
    address = os.fsencode(name) if name.startswith(("/", "@")) else b""
    if name.startswith("@"):  # the abstract namespace, whose names begin with a zero byte
        address = b"\0" + address[1:]
    usec, watched_pid = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", str(pid))
    is_ours = usec.isdecimal() and int(usec) > 0 and watched_pid == str(pid)
    return Supervisor(address=address, watchdog_s=int(usec) / 1_000_000 if is_ours else None)


def inherited_listener(environ: Mapping[str, str], pid: int) -> socket.socket | None:
    """Return the service manager's listening socket for the process `pid`, or None.

    Connections wait in it while no daemon runs, so a restart refuses none.
    """
    if environ.get("LISTEN_PID") != str(pid) or environ.get("LISTEN_FDS") != "1":
        return None
    os.set_inheritable(_FIRST_LISTENER, False)
    return socket.socket(fileno=_FIRST_LISTENER)
