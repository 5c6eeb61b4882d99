"""A standard input with a second end, by the daemon.

A thread waiting for a client's next line cannot be cancelled, and the daemon would
have to wait for it. Here the thread waits for a line or for the daemon's own signal.
"""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Endable(io.RawIOBase):
    """A stream over a descriptor, ended by `end`, or when `output` loses its reader."""

    def __init__(self, descriptor: int, output: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._ended, self._end = os.pipe()
        self._either = select.poll()
        for source in (descriptor, self._ended):
            self._either.register(source, select.POLLIN)
        # The SDK puts another file in the place of standard output. Errors are always reported.
        self._output = os.dup(output)
        self._either.register(self._output, 0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as it is called here
        """Wait for input and return its length, 0 at the end."""
        if {ready for ready, _ in self._either.poll()} != {self._descriptor}:
            return 0
        return os.readv(self._descriptor, [buffer])

    def close(self) -> None:
        """Close the pipe and the copy. The descriptor belongs to `sys.stdin`."""
        if not self.closed:
            for descriptor in (self._ended, self._end, self._output):
                os.close(descriptor)
        super().close()

    def end(self) -> None:
        """End the stream for its reader, now or at its next read."""
        os.write(self._end, b"\n")


class _Lines(io.RawIOBase):
    """The lines of a stream, each replaced by what `read_as` returns for it."""

    def __init__(self, lines: io.BufferedReader, read_as: Callable[[bytes], bytes]) -> None:
        super().__init__()
        self._lines = lines
        self._read_as = read_as
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as it is called here
        """Return the length of the next line's part that fits, 0 at the end."""
        if not self._left and (line := self._lines.readline()):
            self._left = self._read_as(line)
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._lines.close()
        super().close()


@contextmanager
def endable_stdin(read_as: Callable[[bytes], bytes]) -> Iterator[Callable[[], None]]:
    """Replace `sys.stdin` while the block runs, and yield a function to end the input.

    Args:
        read_as: Returns the line to read in place of a line, never empty.
    """
    before = sys.stdin
    source = _Endable(before.fileno(), sys.stdout.fileno())
    lines = _Lines(io.BufferedReader(source), read_as)
    with io.TextIOWrapper(io.BufferedReader(lines), encoding="utf-8") as endable:
        sys.stdin = endable
        try:
            yield source.end
        finally:
            sys.stdin = before
