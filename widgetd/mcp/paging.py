"""Lists on the wire: made once per generation, in pages that survive a swap.

The cursor is the last key of the page before, so that pages go on where they
stopped, whatever was swapped in between and whichever replica answers. Knows
nothing of what is listed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import orjson

from widgetd.catalog.snapshot import Snapshot

T = TypeVar("T")

MOST_KEPT = 16
"""More audiences than these have their lists made anew, each time another one asks."""


class Pages:
    """One list, in the order of its keys.

    Args:
        name: What is listed, as the protocol calls it: `tools`, `resources`.
        keys: Of the entries; each is a cursor.
        entry: The entry of a key, as JSON.
        page_size: How many stand on one page; 0 for all.
    """

    def __init__(
        self,
        name: str,
        keys: Iterable[str],
        entry: Callable[[str], bytes],
        page_size: int,
    ) -> None:
        self._name = name
        self._keys = sorted(keys)
        self._entry = entry
        self._page_size = page_size or max(len(self._keys), 1)
        self._pages: dict[int, dict[str, Any]] = {}
        self._ready: dict[int, bytes] = {}

    def page(self, after: str = "") -> dict[str, Any]:
        """One page: `{"tools": [...], "nextCursor": "..."}`, the cursor only where more follows.

        Args:
            after: The cursor, a key; empty for the first page.
        """
        start = bisect_right(self._keys, after)
        page = self._pages.get(start)
        if page is None:
            page = self._page(start, orjson.loads)
            if self._is_regular(start):
                self._pages[start] = page
        return page

    def ready(self, after: str, envelope: Mapping[str, Any]) -> bytes:
        """One page for a modern client, with `envelope` around it, as JSON."""
        start = bisect_right(self._keys, after)
        ready = self._ready.get(start)
        if ready is None:
            ready = orjson.dumps({**self._page(start, orjson.Fragment), **envelope})
            if self._is_regular(start):
                self._ready[start] = ready
        return ready

    def _is_regular(self, start: int) -> bool:
        """Whether to keep the page from `start` on: a caller may send any cursor, and as many."""
        return start % self._page_size == 0

    def _page(self, start: int, read: Callable[[bytes], Any]) -> dict[str, Any]:
        keys = self._keys[start : start + self._page_size]
        page: dict[str, Any] = {self._name: [read(self._entry(key)) for key in keys]}
        if keys and start + len(keys) < len(self._keys):
            page["nextCursor"] = keys[-1]
        return page


class Kept(Generic[T]):
    """What was made of the snapshots of one generation, one for each audience."""

    def __init__(self) -> None:
        self._generation = ""
        self._made: OrderedDict[int, tuple[Snapshot, T]] = OrderedDict()

    def of(self, snapshot: Snapshot) -> T | None:
        """What was made of `snapshot`; None if nothing was, or not of late."""
        if self._generation != snapshot.generation:
            self._generation = snapshot.generation
            self._made.clear()
        _, made = self._made.get(id(snapshot), (None, None))
        return made

    def keep(self, snapshot: Snapshot, made: T) -> T:
        """Keep what was made of `snapshot`, and answer it."""
        self._made[id(snapshot)] = snapshot, made
        if len(self._made) > MOST_KEPT:
            self._made.popitem(last=False)
        return made
