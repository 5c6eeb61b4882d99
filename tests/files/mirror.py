"""Follow a folder as the catalog does, by hints and surveys alone, and remember what was seen."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from widgetd.files.hints import Hints
from widgetd.files.survey import UNKNOWN, Survey, glance
from widgetd.files.watch import POLL_S, Mode, watch

SUFFIXES = (".widget", ".widget.toml")
CONVERGES_S = 2.5

# Five times the default: a writer whom a busy machine stops for a moment is still one writer.
QUIET_MS = 100


class Mirror:
    """What is in a folder, as far as hints and surveys tell; also the watcher's observer."""

    def __init__(self, root: Path) -> None:
        self.hints = Hints()
        self.hinted: set[str] = set()
        self.modes: list[Mode] = []
        self.failures: list[Exception] = []
        self.survey: Survey = UNKNOWN
        self.seen: set[str] = set()
        self._root = root
        self._stirred = anyio.Event()

    @property
    def texts(self) -> dict[str, str]:
        """The content of each source, by path."""
        return {path: source.content.decode() for path, source in self.survey.sources.items()}

    def watching(self, mode: Mode) -> None:
        self.modes.append(mode)
        self._stir()

    def failed(self, error: Exception) -> None:
        self.failures.append(error)

    async def follow(self) -> None:
        paths: frozenset[str] = frozenset()
        while True:
            look = partial(glance, self._root, paths, known=self.survey, suffixes=SUFFIXES)
            self.survey = await anyio.to_thread.run_sync(
                partial(look, limit_bytes=100_000, quiet_ms=QUIET_MS)
            )
            self.seen.update(self.texts.values())
            self._stir()
            paths = self.survey.unsettled
            with anyio.move_on_after(0.02 if paths else math.inf):
                paths = (await self.hints.wait()).paths
                self.hinted |= paths

    async def holds(self, expected: Mapping[str, str]) -> None:
        """Wait until these are the sources, no more and no fewer."""
        with anyio.move_on_after(CONVERGES_S):
            while self.survey.unsettled or self.texts != expected:
                await self._stirred.wait()
        assert self.texts == expected

    async def is_armed(self) -> None:
        """Wait until events come."""
        with anyio.fail_after(CONVERGES_S):
            while self.modes[-1:] != ["native"]:
                await self._stirred.wait()

    async def has_events_of(self, path: Path) -> None:
        """Wait until writing `path`, over and over, makes a hint that names it."""
        with anyio.fail_after(CONVERGES_S):
            while path.name not in self.hinted:
                await anyio.Path(path).write_text("<alive>")
                with anyio.move_on_after(0.1):
                    await self._stirred.wait()

    def _stir(self) -> None:
        stirred, self._stirred = self._stirred, anyio.Event()
        stirred.set()


@asynccontextmanager
async def following(
    root: Path, *, poll_s: float = POLL_S, native: bool = True
) -> AsyncIterator[Mirror]:
    """A mirror of `root`, being kept up to date."""
    mirror, stop = Mirror(root), anyio.Event()
    watched = partial(watch, root, mirror.hints, poll_s=poll_s, native=native)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(watched, observer=mirror, stop=stop))
        tasks.start_soon(mirror.follow)
        yield mirror
        stop.set()
        tasks.cancel_scope.cancel()


async def _report(root: Path) -> None:
    """Print what the mirror holds and where hints pointed, for as long as the process lives."""
    async with following(root) as mirror:
        while True:
            state = {"texts": mirror.texts, "hinted": sorted(mirror.hinted), "modes": mirror.modes}
            print(json.dumps(state), flush=True)  # noqa: T201 the test reads it
            await anyio.sleep(0.05)


if __name__ == "__main__":
    anyio.run(_report, Path(sys.argv[1]))
