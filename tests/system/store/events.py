"""What was logged, as it happens."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import anyio
import structlog


class Events:
    """The log events of a test."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self._logged = anyio.Event()

    def names(self) -> list[str]:
        """Their names, in order."""
        return [event["event"] for event in self.all]

    async def seen(self, name: str) -> None:
        """Return once the event `name` was logged."""
        while name not in self.names():
            await self.next()

    async def next(self) -> None:
        """Return once anything else was logged."""
        await self._logged.wait()

    def __call__(self, _logger: object, level: str, event: MutableMapping[str, Any]) -> Any:
        """Take an event from structlog, and let no other processor have it."""
        self.all.append({"level": level, **event})
        logged, self._logged = self._logged, anyio.Event()
        logged.set()
        raise structlog.DropEvent


@contextmanager
def logged() -> Iterator[Events]:
    """Hear what is logged in the block."""
    # In place, because loggers that were used before hold on to the list.
    processors = structlog.get_config()["processors"]
    before, events = list(processors), Events()
    processors[:] = [events]
    try:
        yield events
    finally:
        processors[:] = before
