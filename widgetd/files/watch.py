"""Hint that the folder should be looked at, whatever happens to it.

Events get lost, lie and stop (the kernel's queue overflows, a folder is replaced
under its name, a file name that is not UTF-8 ends watchfiles). So an event is
worth a hint and no more, a timer hints as well, and the follower of events is
started again whenever it fails or its folder is another one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

import anyio

from widgetd.files import inotify_watcher, watchfiles_watcher
from widgetd.files.hints import Hints, Skipped

Mode = Literal["native", "poll"]

POLL_S = 2.0

SHARE = 0.0075
"""Of a processor, what the timer's looks take of it while events come."""

LONGEST_S = 10.0
"""How rarely the timer hints, however long a look takes."""

_ABSENT_S = 0.25
"""How soon a folder that has come to be is noticed."""

_SHORTEST_S = 0.1
_LONGEST_S = 5.0


class Observer(Protocol):
    """Is told how the watching goes. Called in the event loop; must neither wait nor raise."""

    def watching(self, mode: Mode) -> None:
        """From now on hints come from events and the timer, or from the timer only."""

    def failed(self, error: Exception) -> None:
        """Events stopped coming because of `error`, told once; they will be asked for again."""

    def skipped(self, path: str, error: OSError) -> None:
        """Of the folder at `path` and of those below no events come, only of all others.

        Told once for each kind of error, with one folder that gave it.
        """


class Follow(Protocol):
    """Turns the events of one folder into hints."""

    async def __call__(
        self, root: Path, hints: Hints, armed: Callable[[], None], skipped: Skipped, /
    ) -> None:
        """Add to `hints` until `root` is another folder, or events were lost.

        A file may be said to be finished once it was closed by who wrote it, or moved into place.
        Cancellation ends it within 50 ms.

        Args:
            root: The folder; a link to one will do.
            hints: Where the hints go.
            armed: Called once events come.
            skipped: Called for each folder below of which none will.

        Raises:
            FileNotFoundError: There is no such folder, or not any more.
            Exception: Whatever else keeps events from coming.
        """


FOLLOW: Follow = inotify_watcher.follow if inotify_watcher.AVAILABLE else watchfiles_watcher.follow
"""The quickest that this system has."""


async def watch(
    root: Path,
    hints: Hints,
    *,
    poll_s: float = POLL_S,
    follow: Follow | None = FOLLOW,
    observer: Observer,
    stop: anyio.Event,
) -> None:
    """Add to `hints` whenever something in `root` may have changed, until `stop` is set.

    Every `poll_s` there is a hint at everything, and one whenever events began or ceased to
    come, for nothing is known of the time between. While events come of the whole folder, the
    timer is but for what the system tells nobody of (another machine's writes, another name of
    the same file), and in a large folder it hints less often, see `pause_s`. `root` need not
    exist, and may be replaced.

    Args:
        root: The folder; a link to one will do, wherever it leads at the time.
        hints: Where the hints go; owned by the caller.
        poll_s: How often to hint, whatever the events say.
        follow: How to come by the system's file events besides; None to do without.
        observer: Is told how it goes.
        stop: Ends it within 50 ms, as does cancellation.
    """
    async with anyio.create_task_group() as tasks:
        state = _State(hints, observer)
        tasks.start_soon(_tick, hints, poll_s, state)
        if follow:
            tasks.start_soon(_stay_armed, partial(follow, root, hints), state)
        else:
            observer.watching("poll")
        await stop.wait()
        tasks.cancel_scope.cancel()


def pause_s(poll_s: float, cost_s: float) -> float:
    """How long the timer rests while events come, if a look at everything takes `cost_s`."""
    return max(poll_s, min(cost_s / SHARE, LONGEST_S))


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
    backoff_s = _SHORTEST_S
    while True:
        armed_s = anyio.current_time()
        try:
            await follow(state.armed, state.skipped)
            state.disarmed()
        except (FileNotFoundError, NotADirectoryError):
            state.disarmed()
            await anyio.sleep(_ABSENT_S)
        except Exception as error:  # noqa: BLE001 whatever ends a follower, the watching goes on
            state.disarmed(error)
            if anyio.current_time() - armed_s > _LONGEST_S:
                backoff_s = _SHORTEST_S
            await anyio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, _LONGEST_S)


class _State:
    """Whether events come. Each turn is told, and hinted at, for nothing is known of the gap."""

    def __init__(self, hints: Hints, observer: Observer) -> None:
        self._hints = hints
        self._observer = observer
        self._mode: Mode | None = None
        self._told = ""
        self._skipped: set[int | None] = set()
        self._lacks_some = False

    @property
    def is_complete(self) -> bool:
        """Whether events come, and of every folder."""
        return self._mode == "native" and not self._lacks_some

    def armed(self) -> None:
        self._told = ""
        self._lacks_some = False
        self._enter("native")
        self._hints.add()

    def disarmed(self, error: Exception | None = None) -> None:
        self._enter("poll")
        if error and str(error) != self._told:
            self._told = str(error)
            self._observer.failed(error)
        self._hints.add()

    def skipped(self, path: str, error: OSError) -> None:
        self._lacks_some = True
        if error.errno not in self._skipped:
            self._skipped.add(error.errno)
            self._observer.skipped(path, error)

    def _enter(self, mode: Mode) -> None:
        if mode != self._mode:
            self._mode = mode
            self._observer.watching(mode)
