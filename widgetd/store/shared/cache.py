"""A shelf that replicas share, with one of our own in front of it.

What stands on a shelf never changes, so a copy is as good as the original: what
was put or got here is found here, also while the server is away.

On the server: a key for each value, the order in which they came, and their
sizes. Order and sizes may name what is gone already, never the reverse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from widgetd.store.local.cache import LocalShelf
from widgetd.store.shared.connection import AwayError, Link

T = TypeVar("T")

_PUT = """
-- KEYS: value, order, sizes. ARGV: key, value, size, most, most bytes, ttl in ms, start of keys.
local standing = redis.call('GET', KEYS[1])
if standing then return standing end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[6])
redis.call('ZADD', KEYS[2], redis.call('HINCRBY', KEYS[3], '#place', 1), ARGV[1])
local gone = redis.call('HGET', KEYS[3], ARGV[1]) or 0
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
local bytes = redis.call('HINCRBY', KEYS[3], '#bytes', ARGV[3] - gone)
local count = redis.call('ZCARD', KEYS[2])
while count > 0 and (count > tonumber(ARGV[4]) or bytes > tonumber(ARGV[5])) do
  local oldest = redis.call('ZPOPMIN', KEYS[2])[1]
  bytes = redis.call('HINCRBY', KEYS[3], '#bytes', -redis.call('HGET', KEYS[3], oldest))
  redis.call('HDEL', KEYS[3], oldest)
  redis.call('DEL', ARGV[7] .. oldest)
  count = count - 1
end
redis.call('PEXPIRE', KEYS[2], ARGV[6])
redis.call('PEXPIRE', KEYS[3], ARGV[6])
return ARGV[2]
"""

_GET = """
-- KEYS: value. How long it has to live goes with it, so that a copy lives no longer.
local value = redis.call('GET', KEYS[1])
return value and {value, redis.call('PTTL', KEYS[1])}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form(Generic[T]):
    """How values travel."""

    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]


class SharedShelf(Generic[T]):
    """Values by key, on the server and in this process.

    Args:
        link: The way to the server.
        near: This process's own; the server's is bounded as it is.
        name: Tells the server's shelves apart.
        form: How values travel.
    """

    def __init__(self, link: Link, near: LocalShelf[T], *, name: str, form: Form[T]) -> None:
        self._link = link
        self._near = near
        self._name = name
        self._form = form

    async def put(self, key: str, value: T, *, size_bytes: int) -> T:
        """Keep `value` under `key` unless one stands there, and give the one that stands."""
        near, sent = self._near, self._form.encode(value)
        try:
            standing = await self._link.run(
                _PUT,
                self._keys(key),
                *(key, sent, size_bytes, near.most, near.most_bytes),
                *(int(near.ttl_s * 1000), self.key("")),
            )
        except AwayError:
            standing = sent
        if standing != sent:
            value = self._form.decode(standing)
        return await near.put(key, value, size_bytes=size_bytes)

    async def get(self, key: str) -> T | None:
        """What stands under `key`, if anything does."""
        value = await self._near.get(key)
        if value is not None:
            return value
        try:
            found: Any = await self._link.run(_GET, [self.key(key)])
        except AwayError:
            return None
        if found is None:
            return None
        sent, ttl_ms = found
        value = self._form.decode(sent)
        return await self._near.put(key, value, size_bytes=len(sent), ttl_s=ttl_ms / 1000)

    async def holds_near(self, key: str) -> bool:
        """Whether a value stands under `key` in this process."""
        return await self._near.get(key) is not None

    def key(self, key: str) -> str:
        """Where the server keeps the value of `key`."""
        return self._link.key(self._name, "value", key)

    def _keys(self, key: str) -> tuple[str, str, str]:
        name = self._name
        return self.key(key), self._link.key(name, "order"), self._link.key(name, "sizes")
