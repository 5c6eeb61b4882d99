"""Renders and remembered answers in a cache: the newest that fit, each for a while.

The cache is one in this process, or one that replicas share, which has one of these in front
of it. Both keep bytes, and so know to the byte what they hold; and ten thousand renders are
nothing that the collector of garbage would have to visit.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from typing import Any, Literal, Protocol

import orjson

from widgetd.store.contract import Bounds, Clock, StoredRender, call_again, too_soon
from widgetd.store.waiters import Listener, Waiters

CLOCK_STEP_S = 60.0
"""By which the clock was set, where a date lies so far ahead of it."""


class Cache(Protocol):
    """Values by key, bounded in number, in bytes and in time.

    The oldest of whoever has most makes room first, so that nobody who has less than an equal
    share loses any.
    """

    async def put(self, key: str, value: bytes, *, owner: str) -> bytes:
        """Keep `value` under `key` unless one stands there, and give the one that stands."""

    async def get(self, key: str) -> bytes | None:
        """What stands under `key`, if anything does; it may have been replaced elsewhere."""

    async def newest(self, key: str) -> bytes | None:
        """What stands under `key` in all replicas, if anything does."""

    async def replace(self, key: str, value: bytes, *, standing: bytes, owner: str) -> bool:
        """Keep `value` in the place of `standing`; False where something else stands there."""


_Item = tuple[bytes, float, str]
"""A value, until when it is kept, and whose it is. A plain tuple, which the collector of garbage
forgets once it has seen that there is nothing in it to visit."""


@dataclass(slots=True)
class _Share:
    """What one owner has, oldest first, and its size together."""

    keys: dict[str, None] = field(default_factory=dict)
    size_bytes: int = 0


class LocalCache:
    """Values by key, oldest first.

    Attributes:
        most_bytes: Their size together; a larger value is not kept at all.
    """

    def __init__(self, *, most: int, most_bytes: int, ttl_s: float, timer: Clock) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self.ttl_s = ttl_s
        self._timer = timer
        self._items: OrderedDict[str, _Item] = OrderedDict()
        self._shares: dict[str, _Share] = {}
        self._bytes = 0

    async def put(self, key: str, value: bytes, *, owner: str, ttl_s: float | None = None) -> bytes:
        """Keep `value` under `key` unless one stands there, and give the one that stands.

        It takes of `owner`'s share of the room; one that has lived elsewhere before brings `ttl_s`.
        """
        standing = self._live(key)
        if standing is not None:
            return standing
        if len(value) > self.most_bytes:
            return value
        until = self._timer() + (self.ttl_s if ttl_s is None else ttl_s)
        self._items[key] = (value, until, owner)
        self._bytes += len(value)
        share = self._shares.setdefault(owner, _Share())
        share.keys[key] = None
        share.size_bytes += len(value)
        self._make_room()
        return value

    async def get(self, key: str) -> bytes | None:
        """What stands under `key`, if anything does."""
        return self._live(key)

    async def newest(self, key: str) -> bytes | None:
        """What stands under `key`, if anything does."""
        return self._live(key)

    async def replace(
        self, key: str, value: bytes, *, standing: bytes, owner: str, ttl_s: float | None = None
    ) -> bool:
        """Keep `value` in the place of `standing`; False where something else stands there."""
        if self._live(key) != standing:
            return False
        self._drop(key)
        await self.put(key, value, owner=owner, ttl_s=ttl_s)
        return True

    def _live(self, key: str) -> bytes | None:
        if key not in self._items:
            return None
        value, until, _ = self._items[key]
        if until <= self._timer():
            self._drop(key)
            return None
        return value

    def _make_room(self) -> None:
        """Drop what is over at the old end, and then what there is no room for."""
        now = self._timer()
        while self._items and self._items[oldest := next(iter(self._items))][1] <= now:
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
        value, _, owner = self._items.pop(key)
        self._bytes -= len(value)
        share = self._shares[owner]
        del share.keys[key]
        share.size_bytes -= len(value)
        if not share.keys:
            del self._shares[owner]


Tell = Callable[[str, int], Awaitable[None]]
"""Tells every replica that a render has another version, by its id and number."""


class CachedRenders:
    """`Renders` in a cache; `tell` tells whoever waits of another version, in every replica."""

    def __init__(
        self,
        cache: Cache,
        waiters: Waiters | None = None,
        *,
        tell: Tell | None = None,
        bounds: Bounds | None = None,
        clock: Clock = time.time,
    ) -> None:
        self._cache = cache
        self._waiters = waiters or Waiters()
        self._tell = tell
        self._per_s = (bounds or Bounds()).versions_per_s
        self._clock = clock

    async def put(self, render: StoredRender) -> None:
        """Keep `render` for its time to live."""
        await self._cache.put(render.id, render.json(), owner=render.owner)

    async def get(self, render_id: str) -> StoredRender | None:
        """The newest version of the render of that id, if it is still kept."""
        kept = await self._cache.newest(render_id)
        return None if kept is None else StoredRender.read(kept)

    async def replace(
        self,
        render_id: str,
        change: Callable[[StoredRender], StoredRender],
        *,
        after: int | None = None,
    ) -> StoredRender | None:
        """Keep the next version, after whatever is the newest."""
        while (kept := await self._cache.newest(render_id)) is not None:
            standing = StoredRender.read(kept)
            if after not in (None, standing.version):
                hint = f"look at version {standing.version}, and replace that"
                problem = (
                    f"expected {standing.version}, the newest version of the render, got {after}"
                )
                raise call_again("W2406", problem, hint, path="after")
            version = standing.version + 1
            changed = change(standing)
            made = replace(
                changed,
                id=render_id,
                owner=standing.owner,
                version=version,
                rate_tokens_until=self._take_rate_token(standing),
                created=self._clock(),
            )
            if await self._cache.replace(
                render_id, made.json(), standing=kept, owner=standing.owner
            ):
                if self._tell is None:
                    self._waiters.replaced(render_id)
                else:
                    await self._tell(render_id, version)
                return made
        return None

    async def newer(
        self, render_id: str, *, after: int, timeout_s: float
    ) -> StoredRender | Literal["timeout", "draining", "expired"]:
        """The newest version once it has a higher number than `after`."""

        async def look() -> StoredRender | Literal["expired"] | None:
            newest = await self.get(render_id)
            if newest is None:
                return "expired"
            return newest if newest.version > after else None

        return await self._waiters.wait(render_id, look, timeout_s=timeout_s)

    def hearing(self, listener: Listener) -> AbstractContextManager[None]:
        """Within the block, `listener` hears of each render that is replaced."""
        return self._waiters.hearing(listener)

    def _take_rate_token(self, standing: StoredRender) -> float:
        """Return the time up to which the rate is used by the next version; a second is a burst.

        Raises:
            CallError: The rate is exceeded (W2201).
        """
        now = self._clock()
        # Further ahead than replicas' clocks differ, it was written before the clock was set back.
        used = standing.rate_tokens_until
        used = max(used if used < now + CLOCK_STEP_S else 0.0, now - 1) + 1 / self._per_s
        if used > now:
            problem = f"a render has at most {self._per_s:g} new versions a second"
            raise too_soon("W2201", problem, used - now)
        return used


class CachedAnswers:
    """`Idempotency` in a cache."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def remember(
        self, key: str, answer: Mapping[str, Any], *, owner: str = ""
    ) -> Mapping[str, Any]:
        """Keep `answer` if it is the first under `key`, and give the one that stands."""
        kept = orjson.dumps(answer, default=dict)
        return read_answer(await self._cache.put(key_digest(key), kept, owner=owner))

    async def recall(self, key: str) -> Mapping[str, Any] | None:
        """The answer that stands under `key`."""
        kept = await self._cache.get(key_digest(key))
        return None if kept is None else read_answer(kept)


def read_answer(kept: bytes) -> Mapping[str, Any]:
    """The answer that is kept so; raises `ValueError` where it is none."""
    found = orjson.loads(kept)
    if not isinstance(found, dict):
        raise ValueError("expected an object")  # noqa: TRY004 - it is the value that is wrong
    return found


def key_digest(idempotency_key: str) -> str:
    """Stands for a key of any length."""
    return blake2b(idempotency_key.encode(), digest_size=16).hexdigest()


def local_caches(bounds: Bounds, timer: Clock) -> tuple[LocalCache, LocalCache, LocalCache]:
    """What this process keeps of renders, of answers, and of what upstreams answered."""
    cache = partial(LocalCache, timer=timer)
    return (
        cache(most=bounds.renders, most_bytes=bounds.render_bytes, ttl_s=bounds.render_ttl_s),
        cache(most=bounds.answers, most_bytes=bounds.answer_bytes, ttl_s=bounds.answer_ttl_s),
        cache(most=bounds.fed, most_bytes=bounds.fed_bytes, ttl_s=bounds.fed_ttl_s),
    )
