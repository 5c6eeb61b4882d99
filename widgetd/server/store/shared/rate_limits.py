"""Rate limits over all replicas. Each replica has its own while the server is away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from uuid import uuid4

import anyio

from widgetd.server.store.contract import Clock, Decision
from widgetd.server.store.limits import LIMITS
from widgetd.server.store.rate_limits import ALLOWED, NO_SLOT, LocalRateLimits, RateLimits
from widgetd.server.store.shared.connection import NUMBER, StoreConnection, UnavailableError

# A full bucket is the same as none, so its key lives until the bucket is full again.
_TAKE = (
    NUMBER
    + """
-- KEYS: bucket. ARGV: now, rate per second, burst, price, tick, longest life in s.
local now, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local burst, price = tonumber(ARGV[3]), tonumber(ARGV[4])
local bucket = redis.call('HMGET', KEYS[1], 'calls', 'since')
local calls = number(bucket[1], -1 - ARGV[5] * rate, burst, burst)
local since = number(bucket[2], 0, now + ARGV[6], now)
calls = math.min(burst, calls + math.max(0, now - since) * rate)
local wait = 0
if calls + ARGV[5] * rate >= price then calls = calls - price else wait = (price - calls) / rate end
redis.call('HSET', KEYS[1], 'calls', string.format('%.17g', calls), 'since', ARGV[1])
local full_s = math.min((burst - calls) / rate, ARGV[6])
redis.call('PEXPIRE', KEYS[1], math.ceil(full_s * 1000) + 1000)
return string.format('%.17g', wait)
"""
)

# Replicas agree on the time to a second, so no lease of ours ends later than two from now.
_HOLD = """
-- KEYS: places. ARGV: now, most, lease in s, this place.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], ARGV[1] + 2 * ARGV[3], '+inf')
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[1] + ARGV[3], ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""

_LEAVE = "return redis.call('ZREM', KEYS[1], ARGV[1])"


@dataclass(eq=False, kw_only=True)
class SharedRateLimits(RateLimits):
    """`RateLimits` on the server, and of `fallback` while it is away."""

    connection: StoreConnection
    fallback: LocalRateLimits
    clock: Clock

    async def _charge(self, principal: str, price: float, rate: float) -> float:
        bucket = self.connection.key("hash", "limits", "bucket", principal)
        numbers = (self.clock(), rate, self.bounds.burst, price)
        limits = (LIMITS.clock_tick_s, LIMITS.bucket_s)
        try:
            return float(await self.connection.run(_TAKE, [bucket], *numbers, *limits))
        except UnavailableError:
            return (await self.fallback.take(principal, cost=price)).retry_after_s

    @asynccontextmanager
    async def _hold(self, principal: str, most: int) -> AsyncIterator[Decision]:
        places, place = self.connection.key("zset", "limits", "places", principal), uuid4().hex
        try:
            held = await self.connection.run(
                _HOLD, [places], self.clock(), most, LIMITS.slot_lease_s, place
            )
        except UnavailableError:
            async with self.fallback.slot(principal) as decision:
                yield decision
            return
        if not held:
            yield NO_SLOT
            return
        try:
            yield ALLOWED
        finally:
            with anyio.CancelScope(shield=True), suppress(UnavailableError):
                await self.connection.run(_LEAVE, [places], place)
