"""Wait for a render's actions at the cost of an event, and be woken by whoever adds one.

It knows who waits, and nothing of where actions are kept: a reader brings its
own way to look.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio

from widgetd.store.contract import Awaited

Look = Callable[[], Awaitable[Awaited | None]]
"""Answers what there is to say now, or None if it is worth waiting."""


class Waiters:
    """Whoever waits for actions in this process, by render."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[anyio.Event]] = {}
        self._draining = False

    @property
    def draining(self) -> bool:
        """Whether this process is about to end."""
        return self._draining

    def notify(self, render_id: str) -> None:
        """Let the readers of one render look again."""
        for event in self._waiting.get(render_id, ()):
            event.set()

    def notify_all(self) -> None:
        """Let every reader look again."""
        for render_id in self._waiting:
            self.notify(render_id)

    def drain(self) -> None:
        """Let nobody wait any more."""
        self._draining = True
        self.notify_all()

    async def wait(self, render_id: str, look: Look, *, after: int, timeout_s: float) -> Awaited:
        """The first answer of `look`, which is asked now and after each notification."""
        deadline = anyio.current_time() + timeout_s
        while True:
            # Listening before looking: of what is added in between, the event tells.
            with self._listening(render_id) as event:
                answer = await look()
                if answer is not None:
                    return answer
                if self._draining:
                    return Awaited(status="draining", next=after)
                with anyio.CancelScope(deadline=deadline) as patience:
                    await event.wait()
                if patience.cancelled_caught:
                    return Awaited(status="timeout", next=after)

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
