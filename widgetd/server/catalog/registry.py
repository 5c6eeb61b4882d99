"""The snapshot being served: one writer, any number of readers, no locks.

A reader takes `current` once and uses it for the whole request, so a swap in the middle changes
nothing it has already seen. The registry knows nothing of files, clients or time.
"""

from __future__ import annotations

import anyio

from widgetd.core.widget.theme import Theme
from widgetd.server.catalog.change import Change, difference
from widgetd.server.catalog.snapshot import Snapshot


class Registry:
    """The one mutable cell in widgetd."""

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        self._current = Snapshot.empty() if snapshot is None else snapshot
        self._swapped = anyio.Event()
        self._rethemed = anyio.Event()

    @property
    def current(self) -> Snapshot:
        """Return the snapshot being served. Take it once per request."""
        return self._current

    def swap(self, snapshot: Snapshot) -> Change:
        """Serve `snapshot` from now on, wake every waiter and return the difference.

        Assignment is atomic, so readers need no lock. An asyncio.Condition would also work, but
        every reader would then have to be a coroutine.
        """
        change = difference(self._current, snapshot)
        self._current = snapshot
        swapped, self._swapped = self._swapped, anyio.Event()
        swapped.set()
        if change.theme:
            rethemed, self._rethemed = self._rethemed, anyio.Event()
            rethemed.set()
        return change

    async def wait_for_newer(self, snapshot: Snapshot) -> Snapshot:
        while self._current is snapshot:
            await self._swapped.wait()
        return self._current

    async def wait_for_theme(self, theme: Theme) -> None:
        """Wait until the widgets have another theme, undisturbed by other swaps."""
        while self._current.theme == theme:
            await self._rethemed.wait()
