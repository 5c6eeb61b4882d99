"""Values of this process within limits of number, size and time, shared fairly between owners.

cachetools has no cache with a share for each owner.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from math import inf
from typing import Generic, TypeVar

from widgetd.base.system import SYSTEM
from widgetd.server.store.contract import Clock

T = TypeVar("T")


@dataclass(slots=True)
class _OwnerEntries(Generic[T]):
    entries: OrderedDict[str, T] = field(default_factory=OrderedDict)
    size_bytes: int = 0


@dataclass(eq=False, kw_only=True, repr=False)
class OwnedEntries(Generic[T]):
    """Values by key, of any type.

    For lack of room, the oldest value of the largest owner is dropped, so an owner with less than
    an equal share loses none.

    Attributes:
        most: Number of values.
        most_bytes: Size of all values.
        ttl_s: Time to live of a value.
        clock: Measures that time.
        size_bytes: Size of its present values.
    """

    most: int
    most_bytes: int
    ttl_s: float = inf
    clock: Clock = SYSTEM.clock.steady_s
    size_bytes: int = 0
    # Owner, size and expiry by key, apart from the values: the garbage collector stops visiting a
    # tuple of atoms, but not a tuple of tuples.
    _index: OrderedDict[str, tuple[str, int, float]] = field(default_factory=OrderedDict)
    _shares: dict[str, _OwnerEntries[T]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._index)

    def put(
        self, key: str, value: T, *, owner: str, size_bytes: int, ttl_s: float | None = None
    ) -> None:
        now = self.clock()
        # Otherwise a flood of requests for another's keys would move them into the share from which
        # values are dropped.
        owner = self._index.get(key, (owner,))[0]
        self.drop(key)
        # Expired values make room before any owner loses a value.
        self.expire()
        share = self._shares.setdefault(owner, _OwnerEntries())
        share.entries[key] = value
        share.size_bytes += size_bytes
        self.size_bytes += size_bytes
        self._index[key] = owner, size_bytes, now + (self.ttl_s if ttl_s is None else ttl_s)
        # Among equals the last by name, as in the shared store's script: both drop the same.
        shares = self._shares
        while len(self._index) > self.most:
            largest = max(shares, key=lambda name: (len(shares[name].entries), name))
            self.drop(next(iter(shares[largest].entries)))
        while self.size_bytes > self.most_bytes:
            largest = max(shares, key=lambda name: (shares[name].size_bytes, name))
            self.drop(next(iter(shares[largest].entries)))

    def get(self, key: str, owner: str | None = None) -> T | None:
        of, _, until = self._index.get(key, (None, 0, 0.0))
        if of is None or owner not in (None, of):
            return None
        if until <= self.clock():
            self.drop(key)
            return None
        return self._shares[of].entries[key]

    def touch(self, key: str, size_bytes: int) -> None:
        value = self.get(key)
        if value is not None:
            left_s = self._index[key][2] - self.clock()
            self.put(key, value, owner="", size_bytes=size_bytes, ttl_s=left_s)

    def drop(self, key: str) -> None:
        owner, size_bytes, _ = self._index.pop(key, (None, 0, 0.0))
        if owner is None:
            return
        share = self._shares[owner]
        del share.entries[key]
        share.size_bytes -= size_bytes
        self.size_bytes -= size_bytes
        if not share.entries:
            del self._shares[owner]

    def expire(self) -> None:
        now = self.clock()
        while self._index and next(iter(self._index.values()))[2] <= now:
            self.drop(next(iter(self._index)))

    def values(self) -> list[T]:
        return [value for share in self._shares.values() for value in share.entries.values()]
