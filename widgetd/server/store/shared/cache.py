"""A cache for all replicas, with a cache of this process in front of it.

Values never change, so a copy is as good as the original, also while the server is away. Only
renders are replaced. A reader of the newest version sends the first bytes of its copy, and the
server returns the value if it differs.

On the server: a key for each value, their order, their sizes and owners, the totals of each owner
and the order of each owner's values. All except the values may name expired values, never the
reverse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from widgetd.server.store.cache import LocalCache
from widgetd.server.store.contract import HEAD_BYTES, call_again
from widgetd.server.store.shared.connection import NUMBER, Key, StoreConnection, UnavailableError

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

_NEWEST = """
-- KEYS: value. ARGV: how the copy begins; empty where there is none.
-- How long it has to live goes with it, so that a copy lives no longer.
if #ARGV[1] > 0 and redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) == ARGV[1] then return 1 end
local value = redis.call('GET', KEYS[1])
return value and {value, redis.call('PTTL', KEYS[1])}
"""


@dataclass(eq=False, repr=False)
class SharedCache:
    """A cache on the server and in this process.

    Attributes:
        connection: The server.
        local: The cache of this process. The server's has the same limits.
        name: Distinguishes the caches on the server.
        owner_of: Returns the owner of a value. Raises `ValueError` if the value is not ours.
        version_of: Returns the version of a value. The higher of two versions is newer.
    """

    connection: StoreConnection
    local: LocalCache
    _: KW_ONLY
    name: str
    owner_of: Callable[[bytes], str]
    version_of: Callable[[bytes], int] = lambda _: 0
    _unsent: dict[str, None] = field(default_factory=dict)

    async def put(self, key: str, value: bytes, *, owner: str) -> bytes:
        try:
            standing = await self._put_readable(key, value, owner)
        except UnavailableError:
            standing = value
            self._keep_unsent(key)
        return await self.local.put(key, standing, owner=owner)

    def _keep_unsent(self, key: str) -> None:
        self._unsent[key] = None
        if len(self._unsent) > 2 * self.local.most:  # most of them were evicted here
            self._unsent = dict.fromkeys(filter(self.local.holds, self._unsent))

    async def hand_over(self) -> list[tuple[str, int]]:
        """Send what was put or replaced here while the server was away.

        Returns:
            Keys and versions, of which the server may have newer ones.
        """
        sent = []
        while self._unsent:
            key = next(iter(self._unsent))
            del self._unsent[key]
            copy = await self.local.get(key)
            if copy is None:
                continue
            owner, version = self.owner_of(copy), self.version_of(copy)
            try:
                standing = await self._put_readable(key, copy, owner)
                while self._owner(standing) is not None and self.version_of(standing) < version:
                    standing = await self._put(key, copy, owner, standing)
            except UnavailableError:
                self._keep_unsent(key)
                break
            sent.append((key, version))
        return sent

    async def get(self, key: str) -> bytes | None:
        """Return the value of `key`, or None. A local copy may be of an older version."""
        copy = await self.local.get(key)
        return await self.newest(key) if copy is None else copy

    async def newest(self, key: str) -> bytes | None:
        """Return the newest value of `key`: the server's, or the copy here without the server.

        If the copy is newer, because the server was away, it is written to the server.
        """
        copy = await self.local.get(key)
        try:
            answer: Any = await self.connection.run(
                _NEWEST, [self.key(key)], (copy or b"")[:HEAD_BYTES]
            )
        except UnavailableError:
            return copy
        # None: the server has none. 1: the copy is the newest.
        if answer is None or answer == 1:
            return copy
        standing, ttl_ms = answer
        owner = self._owner(standing)
        if owner is None:
            return copy
        if copy is None:
            return await self.local.put(key, standing, owner=owner, ttl_s=ttl_ms / 1000)
        if self.version_of(copy) > self.version_of(standing):
            taken = await self.replace(key, copy, standing=standing, owner=owner)
            return copy if taken else await self.newest(key)
        await self.local.replace(key, standing, standing=copy, owner=owner, ttl_s=ttl_ms / 1000)
        return standing  # type: ignore[no-any-return] # redis-py has no type for it

    async def replace(self, key: str, value: bytes, *, standing: bytes, owner: str) -> bool:
        try:
            if await self._put(key, value, owner, standing) != value:
                return False
        except UnavailableError:
            self._keep_unsent(key)
            return await self.local.replace(key, value, standing=standing, owner=owner)
        copy = await self.local.get(key)
        if copy is None:
            await self.local.put(key, value, owner=owner)
        # Otherwise another replica's newer version came meanwhile.
        elif self.version_of(copy) < self.version_of(value):
            await self.local.replace(key, value, standing=copy, owner=owner)
        return True

    async def agree(self, key: str, value: bytes, *, owner: str) -> bytes:
        # A copy here may outlive a server that lost its data.
        copy = await self.local.get(key)
        if copy is not None:
            return copy
        try:
            standing = await self._put_readable(key, value, owner)
        except UnavailableError:
            raise call_again(
                "W5017",
                "the shared store is away, so this could be done twice",
                "try again in a moment",
            ) from None
        return await self.local.put(key, standing, owner=owner)

    def holds_locally(self, key: str) -> bool:
        return self.local.holds(key)

    async def _put_readable(self, key: str, value: bytes, owner: str) -> bytes:
        unreadable: list[bytes] = []
        while True:
            standing: bytes = await self._put(key, value, owner, *unreadable)
            if standing == value or self._owner(standing) is not None:
                return standing
            unreadable = [standing]

    async def _put(self, key: str, value: bytes, owner: str, *replaced: bytes) -> Any:
        local = self.local
        return await self.connection.run(
            _PUT,
            self._keys(key, owner),
            *(key, value, len(value), local.most, local.most_bytes),
            *(int(local.ttl_s * 1000), self.key("").name),
            *(owner, self._order_of("").name),
            *replaced,
        )

    def key(self, key: str) -> Key:
        return self.connection.key("string", self.name, "value", key)

    def _owner(self, standing: bytes) -> str | None:
        try:
            return self.owner_of(standing)
        except ValueError:
            self.connection.skip(self.name)
            return None

    def _keys(self, key: str, owner: str) -> tuple[Key, ...]:
        name, key_for = self.name, self.connection.key
        order, sizes = key_for("zset", name, "order"), key_for("hash", name, "sizes")
        counts, weights = key_for("zset", name, "counts"), key_for("zset", name, "weights")
        return self.key(key), order, sizes, counts, weights, self._order_of(owner)

    def _order_of(self, owner: str) -> Key:
        return self.connection.key("zset", self.name, "of", owner)
