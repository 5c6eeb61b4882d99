"""Watch a folder, and record its hints and failures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio

from tests.support.patience import PATIENCE_S
from widgetd.base.files.hints import Hint, Hints
from widgetd.base.files.watch import Follow, Mode, WatchObserver, watch

NEVER_S = 600.0


class Watched(WatchObserver):
    """A folder being watched: its hints, and the reports of the watcher."""

    def __init__(self, hints: Hints | None = None) -> None:
        self.hints = hints or Hints()
        self.stop = anyio.Event()
        self.modes: list[Mode] = []
        self.failures: list[Exception] = []
        self.skips: list[tuple[str, OSError]] = []
        self._told = anyio.Event()

    def on_mode(self, mode: Mode) -> None:
        self.modes.append(mode)
        event, self._told = self._told, anyio.Event()
        event.set()

    def on_failure(self, error: Exception) -> None:
        self.failures.append(error)

    def on_skipped_folder(self, path: str, error: OSError) -> None:
        self.skips.append((path, error))

    async def went_through(self, *modes: Mode) -> None:
        with anyio.fail_after(PATIENCE_S):
            while self.modes != list(modes):
                await self._told.wait()

    async def hinted_at(self, path: str) -> Hint:
        with anyio.fail_after(PATIENCE_S):
            while path not in (hint := await self.hints.wait()).paths:
                pass
            return hint

    async def hinted_at_everything(self) -> None:
        with anyio.fail_after(PATIENCE_S):
            while (await self.hints.wait()).paths:
                pass


@asynccontextmanager
async def watched(
    root: Path, follow: Follow | None, hints: Hints | None = None, *, poll_s: float = NEVER_S
) -> AsyncIterator[Watched]:
    watcher = Watched(hints)
    run = partial(watch, root, watcher.hints, observer=watcher, stop=watcher.stop)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(run, follow=follow, poll_s=poll_s))
        yield watcher
        watcher.stop.set()
