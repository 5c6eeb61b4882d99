"""Hints that something may have changed, merged until the next scan.

A level, not a queue: pending hints merge into one, so adding never waits and memory does not grow.
A hint asserts nothing; only a scan does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import anyio

from widgetd.base.files.limits import LIMITS

Skipped = Callable[[str, OSError], None]
"""Callback for a folder without events: its path, and the error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """Places that may have changed.

    Attributes:
        paths: Relative to the folder, with `/` between parts; empty for everywhere.
        finished: Those of `paths` whose writers have closed them or moved them into place.
        routine: Only the timer asks for this scan; no event does.
        deleted: An event reported a deletion, so files may be missing.
        confirmed: An operator said that all missing files are deleted.
    """

    paths: frozenset[str] = frozenset()
    finished: frozenset[str] = frozenset()
    routine: bool = False
    deleted: bool = False
    confirmed: bool = False

    def then(self, later: Hint) -> Hint:
        """Merge both hints; a path that `later` names is finished only if `later` says so."""
        paths = self.paths | later.paths if self.paths and later.paths else frozenset[str]()
        return Hint(
            paths=paths,
            finished=paths & (self.finished - later.paths | later.finished),
            routine=self.routine and later.routine,
            deleted=self.deleted or later.deleted,
            confirmed=self.confirmed or later.confirmed,
        )


EVERYWHERE = Hint()


class Hints:
    """Pending hints, merged into one.

    Any number of tasks of one event loop may add; one task waits.

    Attributes:
        cost_s: Processor time of a scan of everything, set by the scanner.
    """

    def __init__(self) -> None:
        self.cost_s = 0.0
        self._pending: Hint | None = None
        self._added = anyio.Event()

    def add(
        self, paths: Iterable[str] = (), *, finished: Iterable[str] = (), **flags: bool
    ) -> None:
        """Add a hint at `paths`, or without any at everything; `flags` are those of `Hint`."""
        hint = Hint(paths=frozenset(paths), finished=frozenset(finished), **flags)
        if self._pending is not None:
            hint = self._pending.then(hint)
        if len(hint.paths) > LIMITS.hinted_paths:
            hint = replace(hint, paths=frozenset(), finished=frozenset())
        self._pending = hint
        self._added.set()

    async def wait(self) -> Hint:
        """Wait until there is a hint, and take it.

        A cancelled wait takes nothing.
        """
        await self._added.wait()
        hint, self._pending = self._pending, None
        self._added = anyio.Event()
        return hint or EVERYWHERE
