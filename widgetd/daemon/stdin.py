"""Standard input that ends when the daemon does, and not only when the client hangs up.

A thread that waits for a client's next line cannot be cancelled, and the daemon
would wait with it. Here it waits for the line or for the end, whichever comes first.
"""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Endable(io.RawIOBase):
    """What a descriptor has to read, until `end` is called."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._ended, self._end = os.pipe()
        self._either = select.poll()
        for each in (descriptor, self._ended):
            self._either.register(each, select.POLLIN)

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as it is called here
        """Wait for something to read; nothing at all is the end."""
        if self._ended in {ready for ready, _ in self._either.poll()}:
            return 0
        return os.readv(self._descriptor, [buffer])

    def close(self) -> None:
        """Leave the descriptor itself to whoever opened it."""
        if not self.closed:
            os.close(self._ended)
            os.close(self._end)
        super().close()

    def end(self) -> None:
        """Let whoever reads, now or later, find the end."""
        os.write(self._end, b"\n")


@contextmanager
def endable_stdin() -> Iterator[Callable[[], None]]:
    """Stand in for `sys.stdin` as long as the block runs; call what it gives to end the input."""
    before = sys.stdin
    source = _Endable(before.fileno())
    with io.TextIOWrapper(io.BufferedReader(source), encoding="utf-8") as endable:
        sys.stdin = endable
        try:
            yield source.end
        finally:
            sys.stdin = before
