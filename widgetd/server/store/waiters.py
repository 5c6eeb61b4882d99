"""The tasks of this process that wait for an action in a render, or for a new version of it.

They know nothing of the place of storage: each waiter passes a function that looks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

import anyio

T = TypeVar("T")

Listener = Callable[[str], None]
"""Called with the id of a render."""

Look = Callable[[], Awaitable[T | None]]
"""Returns the result if there is one now, or None to wait."""


class Waiters:
    """The waiting tasks by render, each at the cost of an event, and none while draining."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[anyio.Event]] = {}
        self._listeners: set[Listener] = set()
        self.draining = False

    def notify(self, render_id: str) -> None:
        for event in self._waiting.get(render_id, ()):
            event.set()

    def notify_all(self) -> None:
        for render_id in self._waiting:
            self.notify(render_id)

    def notify_replaced(self, render_id: str) -> None:
        """Wake the waiters for a render with a new version, and call every listener."""
        self.notify(render_id)
        for listener in tuple(self._listeners):
            listener(render_id)

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        self._listeners.add(listener)
        try:
            yield
        finally:
            self._listeners.discard(listener)

    def drain(self) -> None:
        self.draining = True
        self.notify_all()

    async def wait(
        self, render_id: str, look: Look[T], *, timeout_s: float
    ) -> T | Literal["timeout", "draining"]:
        deadline = anyio.current_time() + timeout_s
        while True:
            # Listen before looking, so the event covers additions in between.
            with self._listening(render_id) as event:
                answer = await look()
                if answer is not None:
                    return answer
                if self.draining:
                    return "draining"
                with anyio.CancelScope(deadline=deadline) as patience:
                    await event.wait()
                if patience.cancelled_caught:
                    return "timeout"

    @contextmanager
    def _listening(self, render_id: str) -> Iterator[anyio.Event]:
        event = anyio.Event()
        events = self._waiting.setdefault(render_id, set())
        events.add(event)
        try:
            yield event
        finally:
            events.discard(event)
            if not events:
                self._waiting.pop(render_id, None)


class ReplacedRenders:
    """A listener with a queue of ids of replaced renders, each once."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._heard = anyio.Event()

    def __call__(self, render_id: str) -> None:
        self._ids[render_id] = None
        self._heard.set()

    async def next(self) -> str:
        while not self._ids:
            self._heard = anyio.Event()
            await self._heard.wait()
        render_id = next(iter(self._ids))
        del self._ids[render_id]
        return render_id
