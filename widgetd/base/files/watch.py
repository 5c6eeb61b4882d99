"""Hints that the folder should be scanned, whatever happens to it.

Events get lost, report wrongly and stop: the kernel's queue overflows, a folder is replaced under
its name, a file name that is not UTF-8 ends watchfiles. So an event is worth a hint and no more, a
timer hints as well, and the follower of events restarts whenever it fails or the folder is another
one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

import anyio

from widgetd.base.files import inotify_watcher, watchfiles_watcher
from widgetd.base.files.hints import Hints, Skipped
from widgetd.base.files.limits import LIMITS

Mode = Literal["native", "poll"]


class WatchObserver:
    """Callbacks for the state of watching, in the event loop; none may wait or raise."""

    def on_mode(self, mode: Mode) -> None:
        """Report that hints now come from events and the timer, or from the timer only."""

    def on_failure(self, error: Exception) -> None:
        """Report once that `error` stopped the events; they will be requested again."""

    def on_skipped_folder(self, path: str, error: OSError) -> None:
        """Report a folder that, with all below it, has no events although others have.

        Called once for each kind of error, with one folder that gave it.
        """


class Follow(Protocol):
    """A function that turns the events of one folder into hints."""

    async def __call__(
        self, root: Path, hints: Hints, armed: Callable[[], None], skipped: Skipped, /
    ) -> None:
        """Add to `hints` until `root` is another folder, or events were lost.

        A file may be reported as finished once its writer has closed it or moved it into place.
        Cancellation takes at most 50 ms.

        Args:
            root: The folder, or a link to it.
            hints: Receives the hints.
            armed: Called once events arrive.
            skipped: Called for each folder below that has none.

        Raises:
            FileNotFoundError: There is no such folder, or not any more.
            Exception: Any other reason for which no events arrive.
        """


FOLLOW: Follow = inotify_watcher.follow if inotify_watcher.AVAILABLE else watchfiles_watcher.follow
"""The fastest follower on this system."""


async def watch(
    root: Path,
    hints: Hints,
    *,
    poll_s: float = LIMITS.poll_s,
    follow: Follow | None = FOLLOW,
    observer: WatchObserver,
    stop: anyio.Event,
) -> None:
    """Add to `hints` whenever something in `root` may have changed, until `stop` is set.

    Every `poll_s` there is a hint at everything, and one whenever events began or ceased, because
    nothing is known of the time between. While events arrive for the whole folder, the timer only
    serves changes without events (another machine's writes, another name of the same file), and in
    a large folder it hints less often, see `pause_s`. `root` need not exist, and may be replaced.

    Args:
        root: The folder, or a link to it.
        hints: Receives the hints; owned by the caller.
        poll_s: Interval of the timer, whatever the events report.
        follow: Source of the system's file events; None to do without.
        observer: Receives the state of watching.
        stop: Ends watching within 50 ms, as cancellation does.
    """
    async with anyio.create_task_group() as tasks:
        state = _State(hints, observer)
        tasks.start_soon(_tick, hints, poll_s, state)
        if follow:
            tasks.start_soon(_stay_armed, partial(follow, root, hints), state)
        else:
            observer.on_mode("poll")
        await stop.wait()
        tasks.cancel_scope.cancel()


def pause_s(poll_s: float, cost_s: float) -> float:
    """Return the timer's pause while events arrive, if a scan of everything takes `cost_s`."""
    return max(poll_s, min(cost_s / LIMITS.poll_share, LIMITS.poll_max_s))


async def _tick(hints: Hints, poll_s: float, state: _State) -> None:
    rested_s = 0.0
    while True:
        await anyio.sleep(poll_s)
        rested_s += poll_s
        if not state.is_complete or rested_s >= pause_s(poll_s, hints.cost_s):
            hints.add(routine=True)
            rested_s = 0.0


async def _stay_armed(
    follow: Callable[[Callable[[], None], Skipped], Awaitable[None]], state: _State
) -> None:
    backoff_s = LIMITS.restart_s
    while True:
        armed_s = anyio.current_time()
        try:
            await follow(state.arm, state.skip)
            state.disarm()
        except (FileNotFoundError, NotADirectoryError):
            state.disarm()
            await anyio.sleep(LIMITS.absent_s)
        except Exception as error:  # noqa: BLE001 - watching survives any failure of a follower
            state.disarm(error)
            if anyio.current_time() - armed_s > LIMITS.restart_max_s:
                backoff_s = LIMITS.restart_s
            await anyio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, LIMITS.restart_max_s)


class _State:
    """The state of watching. Each change is reported and hinted at, since the gap is unknown."""

    def __init__(self, hints: Hints, observer: WatchObserver) -> None:
        self._hints = hints
        self._observer = observer
        self._mode: Mode | None = None
        self._reported = ""
        self._skipped: set[int | None] = set()
        self._lacks_some = False

    @property
    def is_complete(self) -> bool:
        """Return whether events arrive for every folder."""
        return self._mode == "native" and not self._lacks_some

    def arm(self) -> None:
        self._reported = ""
        self._lacks_some = False
        self._enter("native")
        self._hints.add()

    def disarm(self, error: Exception | None = None) -> None:
        self._enter("poll")
        if error and str(error) != self._reported:
            self._reported = str(error)
            self._observer.on_failure(error)
        self._hints.add()

    def skip(self, path: str, error: OSError) -> None:
        self._lacks_some = True
        if error.errno not in self._skipped:
            self._skipped.add(error.errno)
            self._observer.on_skipped_folder(path, error)

    def _enter(self, mode: Mode) -> None:
        if mode != self._mode:
            self._mode = mode
            self._observer.on_mode(mode)
