"""Wait for a render's actions at the cost of an event, and be woken by whoever adds one.

It knows who waits, and nothing of where actions are kept: a reader brings its
own way to look.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio

from widgetd.store.values import Awaited

Look = Callable[[], Awaitable[Awaited | None]]
"""Answers what there is to say now, or None if it is worth waiting."""


class Readers:
    """Whoever waits for actions in this process, by render."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[anyio.Event]] = {}
        self._draining = False

    @property
    def draining(self) -> bool:
        """Whether this process is about to end."""
        return self._draining

    def ring(self, render_id: str) -> None:
        """Let the readers of one render look again."""
        for bell in self._waiting.get(render_id, ()):
            bell.set()

    def ring_all(self) -> None:
        """Let every reader look again."""
        for render_id in self._waiting:
            self.ring(render_id)

    def drain(self) -> None:
        """Let nobody wait any more."""
        self._draining = True
        self.ring_all()

    async def wait(self, render_id: str, look: Look, *, after: int, timeout_s: float) -> Awaited:
        """The first answer of `look`, which is asked now and whenever the bell rings."""
        deadline = anyio.current_time() + timeout_s
        while True:
            # Listening before looking: what is added in between rings.
            with self._bell(render_id) as bell:
                answer = await look()
                if answer is not None:
                    return answer
                if self._draining:
                    return Awaited(status="draining", next=after)
                with anyio.CancelScope(deadline=deadline) as patience:
                    await bell.wait()
                if patience.cancelled_caught:
                    return Awaited(status="timeout", next=after)

    @contextmanager
    def _bell(self, render_id: str) -> Iterator[anyio.Event]:
        bell = anyio.Event()
        bells = self._waiting.setdefault(render_id, set())
        bells.add(bell)
        try:
            yield bell
        finally:
            bells.discard(bell)
            if not bells:
                self._waiting.pop(render_id, None)
