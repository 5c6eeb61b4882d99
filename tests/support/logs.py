"""Log events of a test, as they happen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from typing import Any

import anyio

from widgetd.base.logs import get_logger


class Events:
    """A destination of events that keeps them.

    Attributes:
        all: `{"level", "event", ...}` of each event, in order; `exc_info` with a traceback.
    """

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self._logged = anyio.Event()

    def names(self) -> list[str]:
        """Return the names of all events, in order."""
        return [event["event"] for event in self.all]

    async def wait_for(self, name: str) -> None:
        """Return once the event `name` was logged."""
        while name not in self.names():
            await self.next()

    async def next(self) -> None:
        """Return once another event is logged."""
        await self._logged.wait()

    def _add(self, level: str, event: str, **fields: Any) -> None:
        if level == "exception":
            fields["exc_info"] = sys.exc_info()
        self.all.append({"level": level, "event": event, **fields})
        logged, self._logged = self._logged, anyio.Event()
        logged.set()

    debug: Callable[..., None] = partialmethod(_add, "debug")  # type: ignore[assignment]
    info: Callable[..., None] = partialmethod(_add, "info")  # type: ignore[assignment]
    warning: Callable[..., None] = partialmethod(_add, "warning")  # type: ignore[assignment]
    error: Callable[..., None] = partialmethod(_add, "error")  # type: ignore[assignment]
    exception: Callable[..., None] = partialmethod(_add, "exception")  # type: ignore[assignment]


@contextmanager
def captured_logs() -> Iterator[Events]:
    """Send every event of the block to an `Events`, and nowhere else."""
    log = get_logger()
    before, events = log.destination, Events()
    log.write_to(events)
    try:
        yield events
    finally:
        log.write_to(before)
