"""Hold the snapshot being served: one writer, any number of readers, no locks.

A reader takes `current` once and uses that value to the end of its request, so
a swap in the middle changes nothing it has already seen. The registry knows
nothing of files, clients or time.
"""

from __future__ import annotations

import anyio

from widgetd.catalog.change import Change, difference
from widgetd.catalog.snapshot import Snapshot


class Registry:
    """The one mutable cell in widgetd."""

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        self._current = Snapshot.empty() if snapshot is None else snapshot
        self._swapped = anyio.Event()

    @property
    def current(self) -> Snapshot:
        """The snapshot being served; take it once per request."""
        return self._current

    def swap(self, snapshot: Snapshot) -> Change:
        """Serve `snapshot` from now on, wake every waiter, and say what changed."""
        change = difference(self._current, snapshot)
        self._current = snapshot
        swapped, self._swapped = self._swapped, anyio.Event()
        swapped.set()
        return change

    async def newer_than(self, snapshot: Snapshot) -> Snapshot:
        """Wait until another snapshot than `snapshot` is served, and answer that one."""
        while self._current is snapshot:
            await self._swapped.wait()
        return self._current
