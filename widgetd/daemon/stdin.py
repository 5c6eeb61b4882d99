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


class _Lines(io.RawIOBase):
    """The lines of a stream, each as `read_as` has it."""

    def __init__(self, lines: io.BufferedReader, read_as: Callable[[bytes], bytes]) -> None:
        super().__init__()
        self._lines = lines
        self._read_as = read_as
        self._left = b""

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as it is called here
        """Give of one line what there is room for; nothing at all is the end."""
        if not self._left and (line := self._lines.readline()):
            self._left = self._read_as(line)
        given, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)

    def close(self) -> None:
        """Close the stream, too."""
        self._lines.close()
        super().close()


@contextmanager
def endable_stdin(read_as: Callable[[bytes], bytes]) -> Iterator[Callable[[], None]]:
    """Stand in for `sys.stdin` as long as the block runs; call what it gives to end the input.

    Args:
        read_as: Makes of each line, never empty, the one that is read in its place.
    """
    before = sys.stdin
    source = _Endable(before.fileno())
    lines = _Lines(io.BufferedReader(source), read_as)
    with io.TextIOWrapper(io.BufferedReader(lines), encoding="utf-8") as endable:
        sys.stdin = endable
        try:
            yield source.end
        finally:
            sys.stdin = before
