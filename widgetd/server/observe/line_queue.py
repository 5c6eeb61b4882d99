"""A bounded queue of lines with a writer thread: the audit file and the log.

    add -> queue -> writer thread -> file or pipe

A full disk or an unread pipe delays no call. A full queue loses lines. Losses are counted, and
recorded by a line of their own once there is room.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, RLock, Thread

from widgetd.base.system import SYSTEM, System
from widgetd.server.observe.limits import LIMITS

WriteLines = Callable[[Sequence[bytes]], int]
"""Writes lines and returns how many were written."""


class LineQueue:
    """Lines waiting for their writer thread.

    Args:
        write: Writes lines. It may block.
        describe_loss: Returns the line about a number of lost lines.
        most_bytes: Size of the waiting lines.
        gather_s: Lines within this time are written together.
        system: Starts the thread.

    Attributes:
        lost: Lines without room in the queue or in the file.
    """

    def __init__(
        self,
        write: WriteLines,
        describe_loss: Callable[[int], bytes],
        *,
        most_bytes: int,
        gather_s: float = 0.0,
        system: System = SYSTEM,
    ) -> None:
        self._write = write
        self._describe_loss = describe_loss
        self._most_bytes = most_bytes
        self._gather_s = gather_s
        self._system = system
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        # Reentrant, because a finalizer may log at any allocation.
        self._lock = RLock()
        self._added, self._ended = Event(), Event()
        self._thread: Thread | None = None
        self._unrecorded = 0
        self.lost = 0

    @property
    def is_running(self) -> bool:
        """Return whether a thread writes the lines, even if it is blocked."""
        return self._thread is not None and self._thread.is_alive()

    def add(self, line: bytes) -> None:
        with self._lock:
            if self._bytes + len(line) > self._most_bytes:
                self._lose(1)
                return
            self._lines.append(line)
            self._bytes += len(line)
        self._added.set()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Write from a thread while the block runs, then the rest, unless writing blocks."""
        self._ended.clear()
        self._thread = self._system.threads.start(self._write_until_end)
        try:
            yield
        finally:
            self._ended.set()
            self._added.set()
            self._thread.join(LIMITS.drain_s)

    def flush(self) -> None:
        with self._lock:
            lines, unrecorded = list(self._lines), self._unrecorded
            self._lines.clear()
            self._bytes = 0
        loss = [self._describe_loss(unrecorded)] if unrecorded else []
        if not (lines or loss):
            return
        written = self._write(lines + loss)
        with self._lock:
            if written > len(lines):
                self._unrecorded -= unrecorded
            self._lose(max(0, len(lines) - written))

    def _write_until_end(self) -> None:
        while not self._ended.is_set():
            # A loss is recorded when there is room, even without further lines.
            self._added.wait(LIMITS.retry_s if self._unrecorded else None)
            self._added.clear()
            self._ended.wait(self._gather_s)
            self.flush()
        self.flush()

    def _lose(self, lines: int) -> None:
        self.lost += lines
        self._unrecorded += lines
