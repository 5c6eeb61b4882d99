"""The log of a machine: a pipe with a reader that stops at times."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from greenlet import greenlet

from simulation.world import World
from widgetd.server.observe.line_queue import LineQueue

STOPS_S = (0, 0, 0.01, 30)
PIPE_BYTES = 200


class LogPipe:
    """The destination of log events, with a writer beside the event loop."""

    def __init__(self, world: World, random: Random) -> None:
        self._world, self._random = world, random
        self._is_draining = False
        self.lines = LineQueue(self._write, lambda lost: b"%d lost" % lost, most_bytes=PIPE_BYTES)

    def log(self, event: str, **_fields: object) -> None:
        """Queue an event."""
        self.lines.add(event.encode())
        self._world.counts["log lines"] += 1
        if not self._is_draining:
            self._is_draining = True
            self._world.loop.call_soon(greenlet(self._drain).switch)

    debug = info = warning = error = exception = log

    def _drain(self) -> None:
        self.lines.flush()
        self._is_draining = False

    def _write(self, lines: Sequence[bytes]) -> int:
        self._world.pause(self._random.choice(STOPS_S))
        return len(lines)
