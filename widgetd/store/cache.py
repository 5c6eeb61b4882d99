"""Renders and remembered answers in a cache: the newest that fit, each for a while.

The cache is one in this process, which keeps references and copies nothing, or one that
replicas share, which has one of these in front of it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeVar

import orjson

from widgetd.store.contract import Bounds, Clock, StoredRender

T = TypeVar("T")


class Cache(Protocol[T]):
    """Values by key, bounded in number, in bytes and in time.

    The oldest of whoever has most makes room first, so that nobody who has less than an equal
    share loses any.
    """

    async def put(self, key: str, value: T, *, size_bytes: int, owner: str) -> T:
        """Keep `value` under `key` unless one stands there, and give the one that stands."""

    async def get(self, key: str) -> T | None:
        """What stands under `key`, if anything does."""


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    value: T
    size_bytes: int
    until: float
    owner: str


@dataclass(slots=True)
class _Share:
    """What one owner has, oldest first, and its size together."""

    keys: dict[str, None] = field(default_factory=dict)
    size_bytes: int = 0


class LocalCache(Generic[T]):
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
        self._items: OrderedDict[str, _Item[T]] = OrderedDict()
        self._shares: dict[str, _Share] = {}
        self._bytes = 0

    async def put(
        self, key: str, value: T, *, size_bytes: int, owner: str, ttl_s: float | None = None
    ) -> T:
        """Keep `value` under `key` unless one stands there, and give the one that stands.

        Args:
            key: Any text.
            value: Kept as it is.
            size_bytes: What it counts for.
            owner: Whose share of the room it takes.
            ttl_s: Where the value has lived before; the cache's own by default.
        """
        standing = self._live(key)
        if standing is not None:
            return standing.value
        if size_bytes > self.most_bytes:
            return value
        until = self._clock() + (self.ttl_s if ttl_s is None else ttl_s)
        self._items[key] = _Item(value, size_bytes, until, owner)
        self._bytes += size_bytes
        share = self._shares.setdefault(owner, _Share())
        share.keys[key] = None
        share.size_bytes += size_bytes
        self._make_room()
        return value

    async def get(self, key: str) -> T | None:
        """What stands under `key`, if anything does."""
        item = self._live(key)
        return None if item is None else item.value

    def _live(self, key: str) -> _Item[T] | None:
        item = self._items.get(key)
        if item is not None and item.until <= self._clock():
            self._drop(key)
            return None
        return item

    def _make_room(self) -> None:
        """Drop what is over at the old end, and then what there is no room for."""
        now = self._clock()
        while self._items and self._items[oldest := next(iter(self._items))].until <= now:
            self._drop(oldest)
        # Of equals the last by name, as on a server, so that both drop the same.
        shares = self._shares.items()
        while len(self._items) > self.most:
            _, largest = max(shares, key=lambda each: (len(each[1].keys), each[0]))
            self._drop(next(iter(largest.keys)))
        while self._bytes > self.most_bytes:
            _, largest = max(shares, key=lambda each: (each[1].size_bytes, each[0]))
            self._drop(next(iter(largest.keys)))

    def _drop(self, key: str) -> None:
        item = self._items.pop(key)
        self._bytes -= item.size_bytes
        share = self._shares[item.owner]
        del share.keys[key]
        share.size_bytes -= item.size_bytes
        if not share.keys:
            del self._shares[item.owner]


class CachedRenders:
    """`Renders` in a cache."""

    def __init__(self, cache: Cache[StoredRender]) -> None:
        self._cache = cache

    async def put(self, render: StoredRender) -> None:
        """Keep `render` for its time to live."""
        await self._cache.put(render.id, render, size_bytes=render.size_bytes, owner=render.owner)

    async def get(self, render_id: str) -> StoredRender | None:
        """The render of that id, if it is still kept."""
        return await self._cache.get(render_id)


class CachedAnswers:
    """`Idempotency` in a cache."""

    def __init__(self, cache: Cache[Mapping[str, Any]]) -> None:
        self._cache = cache

    async def remember(
        self, key: str, answer: Mapping[str, Any], *, owner: str = ""
    ) -> Mapping[str, Any]:
        """Keep `answer` if it is the first under `key`, and give the one that stands."""
        size_bytes = len(orjson.dumps(answer))
        return await self._cache.put(key_digest(key), answer, size_bytes=size_bytes, owner=owner)

    async def recall(self, key: str) -> Mapping[str, Any] | None:
        """The answer that stands under `key`."""
        return await self._cache.get(key_digest(key))


def key_digest(idempotency_key: str) -> str:
    """Stands for a key of any length."""
    return blake2b(idempotency_key.encode(), digest_size=16).hexdigest()


def local_caches(
    bounds: Bounds, clock: Clock
) -> tuple[LocalCache[StoredRender], LocalCache[Mapping[str, Any]]]:
    """What this process keeps of renders, and of answers."""
    renders = LocalCache[StoredRender](
        most=bounds.renders,
        most_bytes=bounds.render_bytes,
        ttl_s=bounds.render_ttl_s,
        clock=clock,
    )
    answers = LocalCache[Mapping[str, Any]](
        most=bounds.answers,
        most_bytes=bounds.answer_bytes,
        ttl_s=bounds.answer_ttl_s,
        clock=clock,
    )
    return renders, answers
