"""A shelf in this process: it keeps references and copies nothing."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

from widgetd.store.values import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    value: T
    size_bytes: int
    until: float


class LocalShelf(Generic[T]):
    """Values by key, oldest first.

    Attributes:
        most: How many values.
        most_bytes: Their size together; a larger value is not kept at all.
        ttl_s: How long a value is kept.
    """

    def __init__(self, *, most: int, most_bytes: int, ttl_s: float, clock: Clock) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self.ttl_s = ttl_s
        self._clock = clock
        self._kept: OrderedDict[str, _Kept[T]] = OrderedDict()
        self._bytes = 0

    async def put(self, key: str, value: T, *, size_bytes: int, ttl_s: float | None = None) -> T:
        """Keep `value` under `key` unless one stands there, and give the one that stands.

        Args:
            key: Any text.
            value: Kept as it is.
            size_bytes: What it counts for.
            ttl_s: Where the value has lived before; the shelf's own by default.
        """
        standing = self._live(key)
        if standing is not None:
            return standing.value
        until = self._clock() + (self.ttl_s if ttl_s is None else ttl_s)
        self._kept[key] = _Kept(value, size_bytes, until)
        self._bytes += size_bytes
        self._make_room()
        return value

    async def get(self, key: str) -> T | None:
        """What stands under `key`, if anything does."""
        kept = self._live(key)
        return None if kept is None else kept.value

    def _live(self, key: str) -> _Kept[T] | None:
        kept = self._kept.get(key)
        if kept is not None and kept.until <= self._clock():
            self._drop(key)
            return None
        return kept

    def _make_room(self) -> None:
        """Drop what is over at the old end, and then what there is no room for."""
        now = self._clock()
        while self._kept:
            oldest = next(iter(self._kept))
            full = len(self._kept) > self.most or self._bytes > self.most_bytes
            if not full and self._kept[oldest].until > now:
                return
            self._drop(oldest)

    def _drop(self, key: str) -> None:
        self._bytes -= self._kept.pop(key).size_bytes
