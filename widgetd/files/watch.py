"""Hint that the folder should be looked at, whatever happens to it; the only door to watchfiles.

Events get lost, lie and stop (the kernel's queue overflows, a folder is replaced
under its name, a file name that is not UTF-8 ends the watcher). So an event is
worth a hint and no more, a timer hints as well, and the watcher is armed again
whenever it fails or its folder is another one. It refuses to look at the files.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import Literal, Protocol

import anyio
import anyio.to_thread
import watchfiles
from anyio import from_thread

from widgetd.files.folder import identity
from widgetd.files.hints import Hints

Mode = Literal["native", "poll"]

POLL_S = 2.0

# An event is passed on after 10 to 20 ms, and under constant change after 60 at most.
_STEP_MS = 10
_DEBOUNCE_MS = 50

# How soon a folder that was replaced, or has come to be, is noticed without an event.
_BEAT_MS = 250
_ABSENT_S = 0.25

_SHORTEST_S = 0.1
_LONGEST_S = 5.0


class Observer(Protocol):
    """Is told how the watching goes. Called in the event loop; must neither wait nor raise."""

    def watching(self, mode: Mode) -> None:
        """From now on hints come from events and the timer, or from the timer only."""

    def failed(self, error: Exception) -> None:
        """Events stopped coming because of `error`; the watcher will be armed again."""


async def watch(
    root: Path,
    hints: Hints,
    *,
    poll_s: float = POLL_S,
    native: bool = True,
    observer: Observer,
    stop: anyio.Event,
) -> None:
    """Add to `hints` whenever something in `root` may have changed, until `stop` is set.

    Every `poll_s` there is a hint at everything, and one whenever the watcher was armed or
    failed, for nothing is known of the time between. `root` need not exist, and may be replaced.

    Args:
        root: The folder; a link to one will do, wherever it leads at the time.
        hints: Where the hints go; owned by the caller.
        poll_s: How often to hint, whatever the events say.
        native: Whether to use the system's file events besides.
        observer: Is told how it goes.
        stop: Ends it within 50 ms, as does cancellation.
    """
    ended = threading.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tick, hints, poll_s)
        if native:
            tasks.start_soon(_stay_armed, _Watcher(root, hints, observer, ended))
        else:
            observer.watching("poll")
        try:
            await stop.wait()
        finally:
            ended.set()
            tasks.cancel_scope.cancel()


async def _tick(hints: Hints, poll_s: float) -> None:
    while True:
        await anyio.sleep(poll_s)
        hints.add(routine=True)


async def _stay_armed(watcher: _Watcher) -> None:
    # watchfiles.awatch would wait on the loop's shared limiter, behind forty slow calls of others.
    limiter = anyio.CapacityLimiter(1)
    backoff_s = _SHORTEST_S
    while True:
        armed_s = anyio.current_time()
        try:
            await anyio.to_thread.run_sync(watcher.follow, limiter=limiter)
            watcher.disarmed()
        except (FileNotFoundError, NotADirectoryError):
            watcher.disarmed()
            await anyio.sleep(_ABSENT_S)
        except Exception as error:  # noqa: BLE001 whatever ends a watcher, the watching goes on
            watcher.disarmed(error)
            if anyio.current_time() - armed_s > _LONGEST_S:
                backoff_s = _SHORTEST_S
            await anyio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, _LONGEST_S)


class _Watcher:
    """Turns the events of one folder into hints, as long as it is that folder."""

    def __init__(
        self, root: Path, hints: Hints, observer: Observer, ended: threading.Event
    ) -> None:
        self._root = root.absolute()
        self._hints = hints
        self._observer = observer
        self._ended = ended
        self._mode: Mode | None = None

    def follow(self) -> None:
        """Hint at every change, in a worker thread, until the folder is replaced or it is over.

        Raises:
            FileNotFoundError: There is no such folder, or not any more.
        """
        folder = identity(self._root)
        with closing(self._batches()) as batches:
            for number, batch in enumerate(batches):
                if number == 0:
                    from_thread.run_sync(self._armed)
                elif batch:
                    from_thread.run_sync(self._hints.add, self._paths(batch))
                deleted = (watchfiles.Change.deleted, str(self._root)) in batch
                if deleted or identity(self._root) != folder:
                    return

    def disarmed(self, error: Exception | None = None) -> None:
        """Say that no events come any more, and hint at what may have been missed."""
        self._enter("poll")
        if error:
            self._observer.failed(error)
        self._hints.add()

    def _armed(self) -> None:
        self._enter("native")
        self._hints.add()

    def _enter(self, mode: Mode) -> None:
        if mode != self._mode:
            self._mode = mode
            self._observer.watching(mode)

    def _batches(self) -> Generator[set[watchfiles.main.FileChange], None, None]:
        return watchfiles.watch(
            self._root,
            watch_filter=None,
            step=_STEP_MS,
            debounce=_DEBOUNCE_MS,
            rust_timeout=_BEAT_MS,
            yield_on_timeout=True,
            stop_event=self._ended,
            debug=False,
            force_polling=False,
            recursive=True,
            ignore_permission_denied=True,
        )

    def _paths(self, batch: Iterable[tuple[watchfiles.Change, str]]) -> frozenset[str]:
        """What changed, relative to the folder; nothing, for everything, if that was the folder."""
        inside = str(self._root).rstrip("/") + "/"
        paths = [path for _, path in batch]
        if not all(path.startswith(inside) for path in paths):
            return frozenset()
        return frozenset(path.removeprefix(inside) for path in paths)
