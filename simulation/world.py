"""Time, threads and chance, decided by a seed.

The event loop jumps to its next timer. A worker thread is a greenlet: each call of the simulated
system pauses it, and the loop goes on meanwhile. No thread runs beside another, so two runs of a
seed are equal.
"""

from __future__ import annotations

import asyncio
import hashlib
import selectors
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter
from greenlet import greenlet

from widgetd.base.system import Clock, Numbers, WorkerThreads

T = TypeVar("T")

EPOCH_NS = 1_800_000_000_000_000_000
STEADY_NS = 1_000_000_000_000
TICK_NS = 4_000_000
"""Step of the kernel's dates on most file systems."""

MOST_TURNS = 500_000
"""Turns of the event loop before a task counts as endless. A seed takes a tenth."""


class ProcessEnd(BaseException):
    """The process of the caller was killed."""


class StillError(Exception):
    """Nothing is due any more, or a task runs for ever."""


class VirtualClock(Clock):
    """A clock that only `advance` moves."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.pause: Callable[[float], None] = self.advance

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now_ns += max(int(seconds * 1e9), 0)

    @property
    def now_s(self) -> float:
        """Return the time since the world began."""
        return self.now_ns / 1e9

    def wall_ns(self) -> int:
        """Return the time since the epoch."""
        return EPOCH_NS + self.now_ns

    def wall_s(self) -> float:
        """Return the time since the epoch."""
        return self.wall_ns() / 1e9

    def steady_ns(self) -> int:
        """Return the time since the machine started."""
        return STEADY_NS + self.now_ns

    def steady_s(self) -> float:
        """Return the time since the machine started."""
        return self.steady_ns() / 1e9

    thread_s = steady_s

    def sleep(self, seconds: float) -> None:  # type: ignore[override]
        """Pause the calling worker."""
        self.pause(seconds)

    def dates_ns(self) -> int:
        """Return the time as writes are dated."""
        return self.wall_ns() // TICK_NS * TICK_NS


class SeededNumbers(Numbers):
    """Tokens from a seed."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def token_bytes(self, size: int | None = None) -> bytes:
        """Return bytes."""
        return self._random.randbytes(size or 16)

    def token_hex(self, size: int | None = None) -> str:
        """Return digits."""
        return self.token_bytes(size).hex()

    token_urlsafe = token_hex  # type: ignore[assignment]

    def fraction(self) -> float:
        """Return a number below 1."""
        return self._random.random()


class _Task(asyncio.Task[Any]):
    """A task with its number."""

    number = 0


class _Selector(selectors.SelectSelector):
    """A selector: moves the clock instead of waiting, and shuffles ready tasks."""

    def __init__(self, clock: VirtualClock, random: Random) -> None:
        super().__init__()
        self.clock = clock
        self.random = random
        self.loop: Any = None
        self.turns = 0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = self.loop._ready
        self.turns += 1
        if timeout is None or self.turns > MOST_TURNS:
            raise StillError("nothing is due" if timeout is None else "a task runs for ever")
        if timeout > 0:
            # A float may round to a moment before the timer.
            self.clock.advance(timeout + 1e-6)
        if len(ready) > 1:
            self._shuffle(ready)
        return []

    def _shuffle(self, ready: Any) -> None:
        """Shuffle the steps of tasks. Callbacks keep their places, as asyncio promises."""
        handles = list(ready)
        tasks = [
            (place, getattr(handle._callback, "__self__", None))
            for place, handle in enumerate(handles)
        ]
        places = [place for place, task in tasks if isinstance(task, _Task)]
        # Sets of tasks have the order of their addresses, so sort by number first.
        steps = sorted((handles[place] for place in places), key=_task_number)
        self.random.shuffle(steps)
        for place, step in zip(places, steps, strict=True):
            handles[place] = step
        ready.clear()
        ready.extend(handles)


def _task_number(handle: Any) -> int:
    number: int = handle._callback.__self__.number
    return number


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self, clock: VirtualClock, random: Random) -> None:
        selector = _Selector(clock, random)
        super().__init__(selector)
        self._clock, selector.loop = clock, self
        numbers = count()

        def make(loop: Any, coroutine: Any, **named: Any) -> _Task:
            task = _Task(coroutine, loop=loop, **named)
            task.number = next(numbers)
            return task

        self.set_task_factory(make)

    def time(self) -> float:
        return self._clock.now_s

    def is_idle_for(self, seconds: float) -> bool:
        """Return whether neither a task nor a timer is due within the next `seconds`."""
        timers: Any = self._scheduled  # type: ignore[attr-defined]
        is_quiet = not timers or timers[0].when() > self._clock.now_s + seconds
        return is_quiet and not self._ready  # type: ignore[attr-defined]


class World:
    """Clock, loop, chance and history of a seed.

    Attributes:
        random: Decides the order of tasks and the duration of calls.
        slow: Possible durations of a call.
        counts: Numbers of events, by kind.
        stall_s: Longest blocking of the event loop.
        on_note: Prints the history.
    """

    def __init__(self, seed: int, on_note: Callable[[str], None] | None = None) -> None:
        self.seed = seed
        self.clock = VirtualClock()
        self.clock.pause = self.pause
        self.random = Random(f"{seed} schedule")
        self.counts: Counter[str] = Counter()
        self.slow: tuple[float, ...] = (0, 0.00001, 0.0001, 0.001, 0.006)
        self.stall_s = 0.0
        self.on_note = on_note
        self._hash = hashlib.sha256()
        self._hub = greenlet.getcurrent()
        self.loop = _Loop(self.clock, Random(f"{seed} order"))

    def run(self, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a world from its beginning to its end."""
        asyncio.set_event_loop(self.loop)
        try:
            return self.loop.run_until_complete(main())
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()

    def note(self, event: str, **facts: object) -> None:
        """Add an event to the history."""
        line = f"{self.clock.now_ns} {event} {facts}"
        self._hash.update(line.encode())
        if self.on_note is not None:
            text = " ".join(f"{name}={value}" for name, value in facts.items())
            self.on_note(f"{self.clock.now_s:10.4f} {event} {text}")

    @property
    def digest(self) -> str:
        """Return the hash of the history."""
        return self._hash.hexdigest()[:16]

    def pause(self, seconds: float) -> None:
        """Let time pass for the caller. Outside the event loop, others go on meanwhile."""
        worker = greenlet.getcurrent()
        if worker is self._hub:
            # If the event loop waits, every client waits.
            self.stall_s = max(self.stall_s, seconds)
            self.clock.advance(seconds)
            return
        if self.loop.is_idle_for(seconds):
            # Nothing else is due, so the detour through the loop would change nothing.
            self.clock.advance(seconds)
            return
        self.loop.call_later(seconds, worker.switch)
        self._hub.switch()

    def pause_briefly(self) -> None:
        """Pause for as long as a call of the system takes."""
        self.pause(self.random.choice(self.slow))


@dataclass(eq=False)
class Process:
    """A process. After its death its calls have no effect."""

    world: World
    is_alive: bool = True
    waiting: set[asyncio.Future[Any]] = field(default_factory=set)
    on_end: list[Callable[[], None]] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def kill(self) -> None:
        """End the process between two of its calls."""
        self.end()
        for future in self.waiting:
            if not future.done():
                future.set_exception(ProcessEnd())
        for callback in self.on_end:
            callback()

    def end(self) -> None:
        """Note the end of the process."""
        self.is_alive = False
        self.ended.set()

    def check(self) -> None:
        """Raise `ProcessEnd` in a killed process."""
        if not self.is_alive:
            raise ProcessEnd


class Workers(WorkerThreads):
    """The worker threads of a process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def run_blocking(
        self,
        function: Callable[..., T],
        *arguments: object,
        limiter: CapacityLimiter | None = None,
    ) -> T:
        """Run `function` in a greenlet."""
        process = self._process
        async with limiter or nullcontext():
            await anyio.lowlevel.checkpoint()
            process.check()
            future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

            def work() -> None:
                try:
                    answer = function(*arguments)
                except BaseException as error:  # noqa: BLE001 - the task raises it
                    if not future.done():
                        future.set_exception(error)
                else:
                    if not future.done():
                        future.set_result(answer)

            worker = greenlet(work)
            worker.gr_context = copy_context()
            worker.switch()
            if future.done():
                # Most calls end in this turn. A shield and a wait would double their cost.
                return future.result()
            process.waiting.add(future)
            try:
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([future])
                return future.result()
            finally:
                process.waiting.discard(future)
