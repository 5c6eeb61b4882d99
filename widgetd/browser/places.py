"""Places in which pictures are drawn, of which each owner has a share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import anyio

from widgetd.browser.limits import BrowserLimits
from widgetd.errors import CallError


@dataclass(eq=False, kw_only=True)
class Places:
    """Places for as many pictures as may be drawn at once.

    An owner's requests wait for the owner's share first, so that only as many of them wait
    beside those of others: of a hundred requests of one token, all but one leave the others'
    turn alone.
    """

    limits: BrowserLimits
    _all: anyio.Semaphore = field(init=False)
    _shares: dict[str, anyio.Semaphore] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the places, all of which are free."""
        self._all = anyio.Semaphore(self.limits.pictures_at_once)

    @asynccontextmanager
    async def hold(self, owner: str) -> AsyncIterator[None]:
        """Hold a place during the block.

        Raises:
            CallError: None was free in the time that one may take to draw (W3204).
        """
        quota = self.limits.pictures_of(owner)
        share = self._shares.setdefault(owner, anyio.Semaphore(quota))
        try:
            async with AsyncExitStack() as held:
                with anyio.move_on_after(self.limits.draw_s) as waiting:
                    await held.enter_async_context(share)
                    await held.enter_async_context(self._all)
                if waiting.cancelled_caught:
                    problem = "all places in the browser are taken; ask again in a moment"
                    raise CallError("W3204", problem, recoverable=True, retry_after_s=1.0)
                yield
        finally:
            if share.value == quota and not share.statistics().tasks_waiting:
                self._shares.pop(owner, None)
