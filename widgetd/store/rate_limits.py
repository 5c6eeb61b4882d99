"""Rate limits in this process: a bucket of calls and a count of slots for each principal."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from widgetd.store.contract import Bounds, Clock, Decision, RateLimits
from widgetd.store.limits import LIMITS

ALLOWED = Decision()


@asynccontextmanager
async def admission(
    limits: RateLimits, principal: str, *, cost: float, waits: bool = False
) -> AsyncIterator[Decision]:
    """Charge a request and hold one of its principal's slots while the block runs.

    Every entry point charges here: messages, pages, pictures, turns of the chat, uploads.

    Args:
        limits: The limits of the store.
        principal: The name of the caller's principal.
        cost: In calls; what costs nothing holds no slot either.
        waits: Hold no slot, because the request waits: for a change, or for its own user's calls.
    """
    if not cost:
        yield ALLOWED
        return
    async with nullcontext(ALLOWED) if waits else limits.slot(principal) as slot:
        yield await limits.take(principal, cost=cost) if slot.is_allowed else slot


class LocalRateLimits:
    """`RateLimits` in this process."""

    def __init__(self, *, bounds: Bounds, timer: Clock) -> None:
        self._bounds = bounds
        self._timer = timer
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._slots: dict[str, int] = {}

    async def take(self, principal: str, *, cost: float = 1.0) -> Decision:
        """Charge `cost` calls to the principal's bucket, or none."""
        rate, burst = self._bounds.rate_per_s, self._bounds.burst
        if rate is None:
            return ALLOWED
        now, price = self._timer(), min(cost, burst)
        calls, since = self._buckets.pop(principal, (burst, now))
        calls = min(burst, calls + max(0.0, now - since) * rate)
        paid = calls + LIMITS.clock_tick_s * rate >= price
        self._buckets[principal] = (calls - price if paid else calls, now)
        if len(self._buckets) > self._bounds.principals:
            self._buckets.popitem(last=False)
        if paid:
            return ALLOWED
        return Decision(code="W2201", retry_after_s=(price - calls) / rate)

    def slot(self, principal: str) -> AbstractAsyncContextManager[Decision]:
        """Hold one of the principal's slots while the block runs."""
        most = self._bounds.at_once
        return nullcontext(ALLOWED) if most is None else self._slot(principal, most)

    @asynccontextmanager
    async def _slot(self, principal: str, most: int) -> AsyncIterator[Decision]:
        in_use = self._slots.get(principal, 0)
        if in_use >= most:
            yield Decision(code="W2202", retry_after_s=LIMITS.slot_retry_s)
        else:
            self._slots[principal] = in_use + 1
            try:
                yield ALLOWED
            finally:
                self._slots[principal] -= 1
                if not self._slots[principal]:
                    del self._slots[principal]
