"""Rate limits: a bucket of calls and a number of slots for each principal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from widgetd.server.store.contract import Bounds, Clock, Decision
from widgetd.server.store.limits import LIMITS

ALLOWED = Decision()
NO_SLOT = Decision(code="W2202", retry_after_s=LIMITS.slot_retry_s)


@asynccontextmanager
async def admission(
    limits: RateLimits, principal: str, *, cost: float, waits: bool = False
) -> AsyncIterator[Decision]:
    """Charge a request and hold a slot of its principal while the block runs.

    Every entry point charges here: messages, pages, pictures, turns of the chat, uploads.

    Args:
        limits: The limits of the store.
        principal: The name of the caller's principal.
        cost: In calls. A request without cost holds no slot either.
        waits: Hold a place of waiting requests instead of a slot: for a change, or for the user's
            own calls.
    """
    if not (cost or waits):
        yield ALLOWED
        return
    async with limits.wait(principal) if waits else limits.slot(principal) as place:
        yield await limits.take(principal, cost=cost) if cost and place.is_allowed else place


class _Places:
    def __init__(self) -> None:
        self._in_use: Counter[str] = Counter()

    @asynccontextmanager
    async def hold(self, principal: str, most: int) -> AsyncIterator[Decision]:
        if self._in_use[principal] >= most:
            yield NO_SLOT
            return
        self._in_use[principal] += 1
        try:
            yield ALLOWED
        finally:
            self._in_use[principal] -= 1
            if not self._in_use[principal]:
                del self._in_use[principal]


@dataclass(eq=False, kw_only=True)
class RateLimits(ABC):
    """Rate limits and slots by principal.

    Promises: a principal never exceeds its rate and burst over all replicas, and its use takes
    nothing from another's. Memory is bounded. A forgotten principal starts rested.
    """

    bounds: Bounds
    _waiting: _Places = field(default_factory=_Places)

    async def take(self, principal: str, *, cost: float = 1.0) -> Decision:
        """Charge `cost` calls to the principal, or charge nothing and return when to try again."""
        # A cost above the burst counts as the burst. Otherwise it could never be paid.
        rate, price = self.bounds.rate_per_s, min(cost, self.bounds.burst)
        wait_s = 0.0 if rate is None else await self._charge(principal, price, rate)
        return Decision(code="W2201", retry_after_s=wait_s) if wait_s else ALLOWED

    def slot(self, principal: str) -> AbstractAsyncContextManager[Decision]:
        """Hold a slot of the principal while the block runs.

        The block runs in any case. It holds no slot unless the decision allows it.
        """
        most = self.bounds.at_once
        return nullcontext(ALLOWED) if most is None else self._hold(principal, most)

    def wait(self, principal: str) -> AbstractAsyncContextManager[Decision]:
        # They bound connections, so each process counts its own. Callers without a name are one
        # principal, without others to protect.
        most = self.bounds.waits
        if most is None or not principal:
            return nullcontext(ALLOWED)
        return self._waiting.hold(principal, most)

    @abstractmethod
    async def _charge(self, principal: str, price: float, rate: float) -> float:
        """Charge `price` calls, or nothing, and return the seconds until there are enough."""

    @abstractmethod
    def _hold(self, principal: str, most: int) -> AbstractAsyncContextManager[Decision]: ...


@dataclass(eq=False, kw_only=True)
class LocalRateLimits(RateLimits):
    """`RateLimits` in this process."""

    timer: Clock
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _slots: _Places = field(default_factory=_Places)

    async def _charge(self, principal: str, price: float, rate: float) -> float:
        now, burst = self.timer(), self.bounds.burst
        calls, since = self._buckets.pop(principal, (burst, now))
        calls = min(burst, calls + max(0.0, now - since) * rate)
        paid = calls + LIMITS.clock_tick_s * rate >= price
        self._buckets[principal] = (calls - price if paid else calls, now)
        if len(self._buckets) > self.bounds.principals:
            self._buckets.popitem(last=False)
        return 0.0 if paid else (price - calls) / rate

    def _hold(self, principal: str, most: int) -> AbstractAsyncContextManager[Decision]:
        return self._slots.hold(principal, most)
