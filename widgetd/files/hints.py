"""Remember that something may have changed until someone looks.

A level, not a queue: hints that nobody has taken yet are one hint, so adding
never waits, and what is remembered does not grow. There is nothing in a hint to
be believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import anyio

Skipped = Callable[[str, OSError], None]
"""Told of a folder of which no events will come, by its path, and why."""

MANY = 64
"""Beyond so many paths a look at everything costs no more than a look at each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """Where something may have changed.

    Attributes:
        paths: Relative to the folder, with `/` between parts; empty for everywhere.
        finished: Those of `paths` that whoever wrote them seems to be done with.
        routine: Nobody has a reason to think so; it is merely time to look.
    """

    paths: frozenset[str] = frozenset()
    finished: frozenset[str] = frozenset()
    routine: bool = False

    def then(self, later: Hint) -> Hint:
        """Both as one; what the later one names is finished only if that says so."""
        if not (self.paths and later.paths):
            return Hint(routine=self.routine and later.routine)
        return Hint(
            paths=self.paths | later.paths,
            finished=self.finished - later.paths | later.finished,
            routine=self.routine and later.routine,
        )


EVERYWHERE = Hint()


class Hints:
    """What may have changed since the last look, merged into one hint.

    Any number of tasks may add; one task waits. All of them run in one event loop.

    Attributes:
        cost_s: The processor time that a look at everything takes; whoever looks says so.
    """

    def __init__(self) -> None:
        self.cost_s = 0.0
        self._pending: Hint | None = None
        self._added = anyio.Event()

    def add(
        self, paths: Iterable[str] = (), *, finished: Iterable[str] = (), routine: bool = False
    ) -> None:
        """Say that something may have changed at `paths`, or, without any, anywhere; see `Hint`."""
        hint = Hint(paths=frozenset(paths), finished=frozenset(finished), routine=routine)
        if self._pending is not None:
            hint = self._pending.then(hint)
        self._pending = hint if len(hint.paths) <= MANY else EVERYWHERE
        self._added.set()

    async def wait(self) -> Hint:
        """Wait until there is a hint, and take it.

        A wait that is cancelled takes nothing.
        """
        await self._added.wait()
        hint, self._pending = self._pending, None
        self._added = anyio.Event()
        return hint or EVERYWHERE
