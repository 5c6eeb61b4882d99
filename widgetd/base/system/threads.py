"""Worker threads of the event loop, and threads beside it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from anyio import CapacityLimiter

T = TypeVar("T")


class WorkerThreads:
    """Runs blocking functions beside the event loop."""

    async def run_blocking(
        self,
        function: Callable[..., T],
        *arguments: object,
        limiter: CapacityLimiter | None = None,
    ) -> T:
        """Call `function` in a worker thread; a cancelled task waits for its end.

        Args:
            function: Blocks, or takes long.
            *arguments: Its arguments.
            limiter: Limits concurrent threads; None for that of the event loop.
        """
        # Commands without an event loop do without anyio, which takes 30 ms to import.
        from anyio.to_thread import run_sync  # noqa: PLC0415

        return await run_sync(function, *arguments, limiter=limiter)

    def start(self, function: Callable[[], None]) -> Thread:
        """Run `function` in a thread that does not delay the end of the process."""
        thread = Thread(target=function, daemon=True)
        thread.start()
        return thread
