"""A cache that replicas share, with one of our own in front of it.

What stands in a cache never changes, so a copy is as good as the original: what
was put or got here is found here, also while the server is away.

On the server: a key for each value, the order in which they came, and their
sizes. Order and sizes may name what is gone already, never the reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson

from widgetd.store.cache import LocalCache
from widgetd.store.contract import StoredRender
from widgetd.store.shared.connection import NUMBER, Connection, Key, UnavailableError

T = TypeVar("T")

_PUT = (
    NUMBER
    + """
-- KEYS: value, order, sizes.
-- ARGV: key, value, size, most, most bytes, ttl in ms, start of keys, a value to be replaced.
-- Whatever stands at a key is looked at before any is changed.
local FAR = 2 ^ 52
local function size_of(key) return number(redis.call('HGET', KEYS[3], key), 0, FAR, 0) end
local standing = redis.call('GET', KEYS[1])
if standing and standing ~= ARGV[8] then return standing end
local bytes = size_of('#bytes') - size_of(ARGV[1]) + ARGV[3]
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(0')
redis.call('ZREMRANGEBYSCORE', KEYS[2], '(' .. string.format('%.0f', FAR), '+inf')
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
redis.call('ZADD', KEYS[2], string.format('%.0f', math.floor(last or 0) + 1), ARGV[1])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[6])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
local count = redis.call('ZCARD', KEYS[2])
while count > 0 and (count > tonumber(ARGV[4]) or bytes > tonumber(ARGV[5])) do
  local oldest = redis.call('ZPOPMIN', KEYS[2])[1]
  bytes = bytes - size_of(oldest)
  redis.call('HDEL', KEYS[3], oldest)
  redis.call('DEL', ARGV[7] .. oldest)
  count = count - 1
end
if count == 0 then bytes = 0 end
redis.call('HSET', KEYS[3], '#bytes', string.format('%.0f', math.max(0, bytes)))
redis.call('PEXPIRE', KEYS[2], ARGV[6])
redis.call('PEXPIRE', KEYS[3], ARGV[6])
return ARGV[2]
"""
)

_GET = """
-- KEYS: value. How long it has to live goes with it, so that a copy lives no longer.
local value = redis.call('GET', KEYS[1])
return value and {value, redis.call('PTTL', KEYS[1])}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec(Generic[T]):
    """How values travel.

    Attributes:
        encode: A value to bytes.
        decode: Bytes to a value; raises `ValueError` where they are none.
    """

    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]


def _encode(value: StoredRender | Mapping[str, Any]) -> bytes:
    return orjson.dumps(value, default=dict)


def _object(sent: bytes) -> dict[str, Any]:
    loaded = orjson.loads(sent)
    if not isinstance(loaded, dict):
        raise ValueError("expected an object")  # noqa: TRY004 - it is the value that is wrong
    return loaded


_PARTS: Mapping[str, Collection[type]] = {
    "id": {str},
    "tool": {str},
    "tree": {dict},
    "created": {float, int},
    "size_bytes": {int},
    "secret": {bool},
    "elevated": {bool},
    "marks": {list},
    "text": {str},
    "facts": {dict},
    "ui": {dict},
    "mark": {dict},
}
"""What a render is made of; another release may know of more."""


def _render(sent: bytes) -> StoredRender:
    loaded = _object(sent)
    for name, kinds in _PARTS.items():
        if type(loaded.get(name)) not in kinds:
            raise ValueError(f"expected another {name}")
    if any(type(mark) is not str for mark in loaded["marks"]):
        raise ValueError("expected other marks")
    marks = tuple(loaded["marks"])
    return StoredRender(**{name: loaded[name] for name in _PARTS} | {"marks": marks})


RENDER: Codec[StoredRender] = Codec(encode=_encode, decode=_render)
ANSWER: Codec[Mapping[str, Any]] = Codec(encode=_encode, decode=_object)


class SharedCache(Generic[T]):
    """Values by key, on the server and in this process.

    Args:
        connection: The way to the server.
        local: This process's own; the server's is bounded as it is.
        name: Tells the server's caches apart.
        codec: How values travel.
    """

    def __init__(
        self, connection: Connection, local: LocalCache[T], *, name: str, codec: Codec[T]
    ) -> None:
        self._connection = connection
        self._local = local
        self._name = name
        self._codec = codec

    async def put(self, key: str, value: T, *, size_bytes: int) -> T:
        """Keep `value` under `key` unless one stands there, and give the one that stands."""
        local, sent = self._local, self._codec.encode(value)
        unreadable: list[bytes] = []
        while True:
            try:
                standing = await self._connection.run(
                    _PUT,
                    self._keys(key),
                    *(key, sent, size_bytes, local.most, local.most_bytes),
                    *(int(local.ttl_s * 1000), self.key("").name),
                    *unreadable,
                )
            except UnavailableError:
                standing = sent
            if standing != sent:
                found = self._read(standing)
                if found is None:
                    unreadable = [standing]
                    continue
                value = found
            return await local.put(key, value, size_bytes=size_bytes)

    async def get(self, key: str) -> T | None:
        """What stands under `key`, if anything does."""
        value = await self._local.get(key)
        if value is not None:
            return value
        try:
            found: Any = await self._connection.run(_GET, [self.key(key)])
        except UnavailableError:
            return None
        if found is None:
            return None
        sent, ttl_ms = found
        value = self._read(sent)
        if value is None:
            return None
        return await self._local.put(key, value, size_bytes=len(sent), ttl_s=ttl_ms / 1000)

    async def holds_locally(self, key: str) -> bool:
        """Whether a value stands under `key` in this process."""
        return await self._local.get(key) is not None

    def key(self, key: str) -> Key:
        """Where the server keeps the value of `key`."""
        return self._connection.key("string", self._name, "value", key)

    def _read(self, sent: bytes) -> T | None:
        try:
            return self._codec.decode(sent)
        except ValueError:
            self._connection.skip(self._name)
            return None

    def _keys(self, key: str) -> tuple[Key, Key, Key]:
        order = self._connection.key("zset", self._name, "order")
        return self.key(key), order, self._connection.key("hash", self._name, "sizes")
