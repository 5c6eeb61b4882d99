"""Worker threads of the event loop, and threads beside it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from anyio import CapacityLimiter, Event

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


class FairThreads:
    """Worker threads for expensive work, at which owners take turns.

    Args:
        most: Threads at the same time.
        threads: Runs them.
    """

    def __init__(self, most: int, threads: WorkerThreads) -> None:
        self._free = most
        self._threads = threads
        self._waiting: dict[str, deque[Event]] = {}

    async def run_blocking(self, owner: str, function: Callable[..., T], *arguments: object) -> T:
        """Call `function` in a worker thread, after the turn of each other owner that waits."""
        if self._free:
            self._free -= 1
        else:
            await self._wait_for_turn(owner)
        try:
            return await self._threads.run_blocking(function, *arguments)
        finally:
            self._pass_on()

    async def _wait_for_turn(self, owner: str) -> None:
        from anyio import Event  # noqa: PLC0415 - as above

        turn = Event()
        self._waiting.setdefault(owner, deque()).append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                self._pass_on()
            else:
                self._forget(owner, turn)
            raise

    def _forget(self, owner: str, turn: Event) -> None:
        self._waiting[owner].remove(turn)
        if not self._waiting[owner]:
            del self._waiting[owner]

    def _pass_on(self) -> None:
        if not self._waiting:
            self._free += 1
            return
        owner, turns = next(iter(self._waiting.items()))
        turns[0].set()
        del self._waiting[owner]
        turns.popleft()
        if turns:
            self._waiting[owner] = turns  # behind the others
