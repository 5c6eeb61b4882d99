"""Follow a folder as the catalog does, by hints and scans, and remember its content."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from widgetd.base.files import inotify_watcher, watchfiles_watcher
from widgetd.base.files.hints import EVERYWHERE, Hint, Hints, Skipped
from widgetd.base.files.limits import LIMITS
from widgetd.base.files.scan import UNKNOWN, Scan, scan
from widgetd.base.files.watch import Follow, Mode, WatchObserver, watch

scan_widgets = partial(scan, suffixes=(".widget",), beside=".toml", limit_bytes=100_000)
CONVERGES_S = 2.5
STARTS_S = 20
REPOSITORY = Path(__file__).parents[4]

State = dict[str, Any]

FOLLOWERS: dict[str, Follow] = {"anywhere": watchfiles_watcher.follow}
if inotify_watcher.AVAILABLE:
    FOLLOWERS["linux"] = inotify_watcher.follow


async def follow_nothing(
    _root: Path, _hints: Hints, armed: Callable[[], None], _skipped: Skipped
) -> None:
    """Follow by events of which every one is lost, as those of another machine's writes are."""
    armed()
    await anyio.sleep_forever()


# Five times the default: a writer whom a busy machine stops for a moment is still one writer.
QUIET_MS = 100


class Mirror(WatchObserver):
    """Contents of a folder by hints and scans; also the watcher's observer."""

    def __init__(self, root: Path) -> None:
        self.hints = Hints()
        self.hinted: set[str] = set()
        self.modes: list[Mode] = []
        self.failures: list[Exception] = []
        self.skips: list[tuple[str, OSError]] = []
        self.scan: Scan = UNKNOWN
        self.seen: set[str] = set()
        self._root = root
        self._stirred = anyio.Event()

    @property
    def texts(self) -> dict[str, str]:
        """The content of each source, by path."""
        return {path: source.content.decode() for path, source in self.scan.sources.items()}

    def on_mode(self, mode: Mode) -> None:
        self.modes.append(mode)
        self._stir()

    def on_failure(self, error: Exception) -> None:
        self.failures.append(error)

    def on_skipped_folder(self, path: str, error: OSError) -> None:
        self.skips.append((path, error))

    async def follow(self) -> None:
        hint = EVERYWHERE
        while True:
            look = partial(scan_widgets, self._root, hint.paths, known=self.scan)
            look = partial(look, quiet_ms=QUIET_MS, finished=hint.finished)
            self.scan = await anyio.to_thread.run_sync(look)
            self.seen.update(self.texts.values())
            self._stir()
            hint = Hint(paths=self.scan.unsettled)
            with anyio.move_on_after(0.02 if hint.paths else math.inf):
                hint = await self.hints.wait()
                self.hinted |= hint.paths

    async def holds(self, expected: Mapping[str, str]) -> None:
        """Wait until these are the sources, no more and no fewer."""
        with anyio.move_on_after(CONVERGES_S):
            while self.scan.unsettled or self.texts != expected:
                await self._stirred.wait()
        assert self.texts == expected

    async def blames(self, *paths: str) -> None:
        """Wait until these could not be read."""
        with anyio.move_on_after(CONVERGES_S):
            while tuple(self.scan.faults) != paths:
                await self._stirred.wait()
        assert tuple(self.scan.faults) == paths

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
    root: Path, follow: Follow, *, poll_s: float = LIMITS.poll_s
) -> AsyncIterator[Mirror]:
    """Yield a mirror of `root` that is kept up to date during the block."""
    mirror, stop = Mirror(root), anyio.Event()
    watched = partial(watch, root, mirror.hints, poll_s=poll_s, follow=follow)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(watched, observer=mirror, stop=stop))
        tasks.start_soon(mirror.follow)
        yield mirror
        stop.set()
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def mirrored_apart(
    root: Path, follower: str, *, within: Sequence[str] = ()
) -> AsyncIterator[tuple[Process, BufferedByteReceiveStream]]:
    """Run a mirror in its own process, and yield it with its output.

    Args:
        root: What it mirrors.
        follower: By what.
        within: The command that runs the command.
    """
    command = [*within, sys.executable, "-m", "tests.unit.base.files.mirror", str(root), follower]
    async with await anyio.open_process(command, cwd=REPOSITORY, stderr=None) as process:
        assert process.stdout is not None
        yield process, BufferedByteReceiveStream(process.stdout)
        process.kill()


async def reported(lines: BufferedByteReceiveStream, wanted: Callable[[State], bool]) -> State:
    """Return the first wanted state of those that a mirror program prints."""
    with anyio.fail_after(CONVERGES_S + STARTS_S):
        while True:
            state: State = json.loads(await lines.receive_until(b"\n", 1_000_000))
            if wanted(state):
                return state


async def _report(root: Path, follower: str) -> None:
    """Print what the mirror knows, for as long as the process lives."""
    async with following(root, FOLLOWERS[follower]) as mirror:
        while True:
            state = {
                "texts": mirror.texts,
                "hinted": sorted(mirror.hinted),
                "modes": mirror.modes,
                "failures": [str(error) for error in mirror.failures],
            }
            print(json.dumps(state), flush=True)  # noqa: T201 the test reads it
            await anyio.sleep(0.05)


if __name__ == "__main__":
    anyio.run(_report, Path(sys.argv[1]), sys.argv[2])
