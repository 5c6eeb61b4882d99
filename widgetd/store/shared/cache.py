"""A cache that replicas share, with one of our own in front of it.

What stands in a cache never changes, so a copy is as good as the original: what
was put or got here is found here, also while the server is away.

On the server: a key for each value, the order in which they came, their sizes and owners,
what each owner has in all, and the order of each one's own. All but the values may name
what is gone already, never the reverse.
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
-- KEYS: value, order, sizes, how many each owner has, how many bytes, the owner's order.
-- ARGV: key, value, size, most, most bytes, ttl in ms, start of values, owner, start of owners'
-- orders, a value to be replaced.
-- Whatever stands at a key is looked at before any is changed.
local FAR = 2 ^ 52
local function entry(key) -- its size, and whose it is
  local size, owner = string.match(redis.call('HGET', KEYS[3], key) or '', '^(%d+) ?(.*)$')
  return number(size, 0, FAR, 0), owner or ''
end
local function order_of(owner)
  local name = ARGV[9] .. owner
  local kind = redis.call('TYPE', name).ok
  if kind ~= 'none' and kind ~= 'zset' then redis.call('UNLINK', name) end
  return name
end
local standing = redis.call('GET', KEYS[1])
if standing and standing ~= ARGV[10] then return standing end
if tonumber(ARGV[3]) > tonumber(ARGV[5]) then return ARGV[2] end
local bytes = entry('#bytes')
for place = 2, 6 do
  if place ~= 3 then redis.call('ZCARD', KEYS[place]) end
end
local function give(place, owner, change)
  local left = tonumber(redis.call('ZINCRBY', KEYS[place], change, owner))
  return left and left > 0
end
local function drop(key, owner)
  local size = entry(key)
  bytes = bytes - size
  redis.call('ZREM', KEYS[2], key)
  redis.call('HDEL', KEYS[3], key)
  redis.call('DEL', ARGV[7] .. key)
  redis.call('ZREM', order_of(owner), key)
  give(5, owner, -size)
  if not give(4, owner, -1) then
    redis.call('ZREM', KEYS[4], owner)
    redis.call('ZREM', KEYS[5], owner)
  end
end
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then
  local _, before = entry(ARGV[1])
  drop(ARGV[1], before)
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(0')
redis.call('ZREMRANGEBYSCORE', KEYS[2], '(' .. string.format('%.0f', FAR), '+inf')
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
local place = string.format('%.0f', math.floor(last or 0) + 1)
redis.call('ZADD', KEYS[2], place, ARGV[1])
redis.call('ZADD', KEYS[6], place, ARGV[1])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[6])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3] .. ' ' .. ARGV[8])
give(4, ARGV[8], 1)
give(5, ARGV[8], ARGV[3])
bytes = bytes + ARGV[3]
local count = redis.call('ZCARD', KEYS[2])
while count > 0 and (count > tonumber(ARGV[4]) or bytes > tonumber(ARGV[5])) do
  local victim = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  local _, owner = entry(victim)
  if redis.call('EXISTS', ARGV[7] .. victim) == 1 then
    local ranking = KEYS[count > tonumber(ARGV[4]) and 4 or 5]
    local largest = redis.call('ZREVRANGE', ranking, 0, 0)[1]
    local oldest = largest and redis.call('ZRANGE', order_of(largest), 0, 0)[1]
    if oldest then
      victim, owner = oldest, largest
    elseif largest then
      victim = nil
      redis.call('ZREM', ranking, largest)
    end
  end
  if victim then drop(victim, owner) end
  count = redis.call('ZCARD', KEYS[2])
end
if count == 0 then bytes = 0 end
redis.call('HSET', KEYS[3], '#bytes', string.format('%.0f', math.max(0, bytes)))
for place = 2, 6 do redis.call('PEXPIRE', KEYS[place], ARGV[6]) end
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
        owner: Whose share of this process's room a copy of a value takes.
    """

    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]
    owner: Callable[[T], str] = lambda _value: ""


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
    "owner": {str},
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


RENDER: Codec[StoredRender] = Codec(
    encode=_encode, decode=_render, owner=lambda render: render.owner
)
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

    async def put(self, key: str, value: T, *, size_bytes: int, owner: str) -> T:
        """Keep `value` under `key` unless one stands there, and give the one that stands."""
        local, sent = self._local, self._codec.encode(value)
        unreadable: list[bytes] = []
        while True:
            try:
                standing = await self._connection.run(
                    _PUT,
                    self._keys(key, owner),
                    *(key, sent, size_bytes, local.most, local.most_bytes),
                    *(int(local.ttl_s * 1000), self.key("").name),
                    *(owner, self._order_of("").name),
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
            return await local.put(key, value, size_bytes=size_bytes, owner=owner)

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
        return await self._local.put(
            key,
            value,
            size_bytes=len(sent),
            owner=self._codec.owner(value),
            ttl_s=ttl_ms / 1000,
        )

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

    def _keys(self, key: str, owner: str) -> tuple[Key, ...]:
        name, key_for = self._name, self._connection.key
        order, sizes = key_for("zset", name, "order"), key_for("hash", name, "sizes")
        counts, weights = key_for("zset", name, "counts"), key_for("zset", name, "weights")
        return self.key(key), order, sizes, counts, weights, self._order_of(owner)

    def _order_of(self, owner: str) -> Key:
        return self._connection.key("zset", self._name, "of", owner)
