"""Who waits in this process for something to happen to a render: an action, or a new version.

Knows nothing of where either is kept: whoever waits brings a way to look.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

import anyio

from widgetd.store.contract import Awaited

T = TypeVar("T")

Listener = Callable[[str], None]
"""Is told the id of a render."""

Look = Callable[[], Awaitable[T | None]]
"""Answers what there is to say now, or None if it is worth waiting."""


class Waiters:
    """Whoever waits, by render, each at the cost of an event; none once this process drains."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[anyio.Event]] = {}
        self._listeners: set[Listener] = set()
        self.draining = False

    def notify(self, render_id: str) -> None:
        """Let whoever waits for one render look again."""
        for event in self._waiting.get(render_id, ()):
            event.set()

    def notify_all(self) -> None:
        """Let all of them look again."""
        for render_id in self._waiting:
            self.notify(render_id)

    def replaced(self, render_id: str) -> None:
        """There is another version of the render: say so to whoever hears of all of them, too."""
        self.notify(render_id)
        for listener in tuple(self._listeners):
            listener(render_id)

    @contextmanager
    def hearing(self, listener: Listener) -> Iterator[None]:
        """Within the block, `listener` hears of each render that is replaced."""
        self._listeners.add(listener)
        try:
            yield
        finally:
            self._listeners.discard(listener)

    def drain(self) -> None:
        """Let nobody wait any more."""
        self.draining = True
        self.notify_all()

    async def wait(
        self, render_id: str, look: Look[T], *, timeout_s: float
    ) -> T | Literal["timeout", "draining"]:
        """The first answer of `look`, which is asked now and after each notification."""
        deadline = anyio.current_time() + timeout_s
        while True:
            # Listening before looking: of what is added in between, the event tells.
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


class Replaced:
    """A listener that remembers each render that was replaced until it is asked for: once each."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._heard = anyio.Event()

    def __call__(self, render_id: str) -> None:
        """This one was."""
        self._ids[render_id] = None
        self._heard.set()

    async def next(self) -> str:
        """The one that has waited longest."""
        while not self._ids:
            self._heard = anyio.Event()
            await self._heard.wait()
        render_id = next(iter(self._ids))
        del self._ids[render_id]
        return render_id


def awaited(found: Awaited | Literal["timeout", "draining"], after: int) -> Awaited:
    """What to answer to whoever waits for actions."""
    return found if isinstance(found, Awaited) else Awaited(status=found, next=after)
