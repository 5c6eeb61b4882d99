"""Hint at what changes in a folder on Linux, at once, and say which files are finished.

The kernel watches single folders, so each folder below has a watch of its own,
and a new one is listed once it is watched: what came into it before is listed,
what comes later is an event. This refuses to look at files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from widgetd.files import inotify_queue
from widgetd.files.folder import Identity, identity
from widgetd.files.hints import Hints
from widgetd.files.inotify_queue import Event, Queue

_BEAT_S = 1.0
"""How soon a folder that was replaced under its name has events again; a survey sees it anyway."""

_LINGERS_S = 0.005
"""A write that has begun is mostly finished sooner, and until then is no reason to look."""

_BEGUN = inotify_queue.MADE | inotify_queue.WRITTEN
_FINISHED = inotify_queue.CLOSED | inotify_queue.MOVED_IN
_ENTERED = inotify_queue.MADE | inotify_queue.MOVED_IN | inotify_queue.ATTRIBUTES
_ENDED = inotify_queue.SELF_MOVED | inotify_queue.UNMOUNTED | inotify_queue.IGNORED


async def follow(root: Path, hints: Hints, armed: Callable[[], None]) -> None:
    """Follow `root` as `watch.Follow` says, by inotify.

    Raises:
        FileNotFoundError: There is no such folder.
        OSError: It cannot be watched.
    """
    # The loop's shared limiter may be taken up by forty slow calls of others.
    blocking = partial(anyio.to_thread.run_sync, limiter=anyio.CapacityLimiter(1))
    folder = await blocking(identity, root)
    with closing(Queue()) as queue:
        tree = _Tree(root, queue)
        await blocking(tree.grow, [""])
        armed()
        beat_s = anyio.current_time() + _BEAT_S
        while True:
            events = await _events_until(beat_s, queue)
            if tree.is_lost(events):
                return
            if entered := tree.hint(events, hints):
                await blocking(tree.grow, entered)
                hints.add(entered)
            if anyio.current_time() >= beat_s:
                if not await blocking(_is, root, folder):
                    return
                beat_s = anyio.current_time() + _BEAT_S


async def _events_until(deadline_s: float, queue: Queue) -> list[Event]:
    events: list[Event] = []
    with anyio.move_on_at(deadline_s):
        events = await queue.events()
    if events and events[-1].mask & _BEGUN:
        with anyio.move_on_after(_LINGERS_S):
            events += await queue.events()
    return events


class _Tree:
    """The watches on a folder and on those below it, and what their events mean."""

    def __init__(self, root: Path, queue: Queue) -> None:
        self._root = root.absolute()
        self._queue = queue
        self._folders: dict[int, str] = {}

    def grow(self, paths: Collection[str]) -> None:
        """Watch the folders at `paths` and all below, but for those that are gone or closed to us.

        Raises:
            OSError: The rest cannot be watched either.
        """
        waiting = list(paths)
        while waiting:
            path = waiting.pop()
            try:
                waiting += self._watch(path)
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                if not path:
                    raise

    def is_lost(self, events: Collection[Event]) -> bool:
        """Whether some events were dropped, or no more will come of the folder itself."""
        return any(
            event.mask & inotify_queue.OVERFLOWN
            or (event.mask & _ENDED and self._folders.get(event.watch) == "")
            for event in events
        )

    def hint(self, events: Collection[Event], hints: Hints) -> list[str]:
        """Add to `hints` where `events` point; answers the folders that may be new, unhinted.

        A file is finished if the last thing said of it is that it was closed, or moved into place.
        """
        finished: dict[str, bool] = {}
        entered = []
        for event, path in self._located(events):
            if not event.mask & inotify_queue.FOLDER:
                finished[path] = bool(event.mask & _FINISHED)
            elif path and event.mask & _ENTERED:
                entered.append(path)
            else:
                self._leave(path, event)
                finished[path] = False
        if "" in finished:
            hints.add()
        elif finished:
            hints.add(finished, finished=(path for path, is_so in finished.items() if is_so))
        return entered

    def _located(self, events: Collection[Event]) -> Iterator[tuple[Event, str]]:
        for event in events:
            if event.mask & inotify_queue.IGNORED:
                self._folders.pop(event.watch, None)
            elif (folder := self._folders.get(event.watch)) is not None:
                yield event, "/".join(filter(None, (folder, event.name)))

    def _watch(self, path: str) -> list[str]:
        """The folders in the one at `path`, unless it is being watched already."""
        at = self._root / path
        watch = self._queue.watch(at, through_link=not path)
        if self._folders.get(watch) == path:
            return []
        self._folders[watch] = path
        within = path + "/" if path else ""
        with os.scandir(at) as entries:
            return [within + entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]

    def _leave(self, path: str, event: Event) -> None:
        if not event.mask & inotify_queue.MOVED_OUT:
            return  # one that is deleted says so itself
        for watch, folder in list(self._folders.items()):
            if folder == path or folder.startswith(path + "/"):
                self._queue.forget(watch)
                del self._folders[watch]


def _is(root: Path, folder: Identity) -> bool:
    with suppress(OSError):
        return identity(root) == folder
    return False
