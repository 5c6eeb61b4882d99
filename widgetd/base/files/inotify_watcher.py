"""Hints at changes in a folder on Linux, at once, with the files that are finished.

The kernel watches single folders, so each folder below has its own watch, and a new folder is
listed once it is watched: earlier files are listed, later ones are events. Unlike watchfiles, it
also reports that a writer has closed a file or moved it into place.

Source: inotify(7).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from widgetd.base.files.folder import Identity, identify
from widgetd.base.files.hints import Hints, Skipped
from widgetd.base.files.limits import LIMITS
from widgetd.base.system import SYSTEM

AVAILABLE = sys.platform == "linux"

WRITTEN = 0x2
ATTRIBUTES = 0x4
CLOSED = 0x8
MOVED_OUT = 0x40
MOVED_IN = 0x80
MADE = 0x100
DELETED = 0x200
SELF_MOVED = 0x800
UNMOUNTED = 0x2000
OVERFLOWN = 0x4000
IGNORED = 0x8000
FOLDER = 0x4000_0000

_WANTED = WRITTEN | ATTRIBUTES | CLOSED | MOVED_OUT | MOVED_IN | MADE | DELETED | SELF_MOVED
_ONLY_FOLDERS = 0x0100_0000
_NO_LINKS = 0x0200_0000

_KERNEL_LIMITS = {
    errno.ENOSPC: "all of fs.inotify.max_user_watches are taken",
    errno.EMFILE: "all of fs.inotify.max_user_instances are taken",
}

_OF_ALL = {errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSYS, errno.EBADF}
"""Errors that every further folder would give too; any other concerns only the folder that gave
it.
"""

_HEAD = struct.Struct("iIII")
_BEGUN = MADE | WRITTEN
_FINISHED = CLOSED | MOVED_IN
_ENTERED = MADE | MOVED_IN | ATTRIBUTES
_GONE = MOVED_OUT | DELETED
_ENDED = SELF_MOVED | UNMOUNTED | IGNORED


async def follow(root: Path, hints: Hints, armed: Callable[[], None], skipped: Skipped) -> None:
    """Follow `root` as `watch.Follow` specifies, by inotify.

    Raises:
        FileNotFoundError: There is no such folder.
        OSError: It cannot be watched.
    """
    # Slow calls of others may occupy all forty threads of the loop's shared limiter.
    blocking = partial(SYSTEM.threads.run_blocking, limiter=anyio.CapacityLimiter(1))
    folder = await blocking(identify, root)
    with closing(Queue()) as queue:
        tree = _Tree(root, queue)
        lost = await blocking(tree.grow, [""])
        armed()
        beat_s = anyio.current_time() + LIMITS.replaced_s
        while True:
            for path, error in lost:
                skipped(path, error)
            lost = []
            events = await _events_until(beat_s, queue)
            if tree.is_lost(events):
                return
            if entered := tree.hint(events, hints):
                lost = await blocking(tree.grow, entered)
                hints.add(entered)
            if anyio.current_time() >= beat_s:
                if not await blocking(_leads_to, root, folder):
                    return
                beat_s = anyio.current_time() + LIMITS.replaced_s


async def _events_until(deadline_s: float, queue: Queue) -> list[Event]:
    events: list[Event] = []
    with anyio.move_on_at(deadline_s):
        events = await queue.events()
    if events and events[-1].mask & _BEGUN:
        with anyio.move_on_after(LIMITS.finish_s):
            events += await queue.events()
    return events


class _Tree:
    """The watches on a folder and the folders below it, and the meaning of their events."""

    def __init__(self, root: Path, queue: Queue) -> None:
        self._root = root.absolute()
        self._queue = queue
        self._folders: dict[int, str] = {}

    def grow(self, paths: Collection[str]) -> list[tuple[str, OSError]]:
        """Watch the folders at `paths` and those below; return why some cannot be watched.

        Folders that are gone or not accessible are left out; a scan reports those.

        Raises:
            OSError: No further folder can be watched either.
        """
        waiting, skipped = list(paths), []
        while waiting:
            path = waiting.pop()
            try:
                waiting += self._watch(path)
            except OSError as error:
                if not path or error.errno in _OF_ALL:
                    raise
                if not isinstance(error, FileNotFoundError | NotADirectoryError | PermissionError):
                    skipped.append((path, error.with_traceback(None)))
        return skipped

    def is_lost(self, events: Collection[Event]) -> bool:
        """Return whether events were dropped, or the folder itself sends no more."""
        return any(
            event.mask & OVERFLOWN or (event.mask & _ENDED and self._folders.get(event.watch) == "")
            for event in events
        )

    def hint(self, events: Collection[Event], hints: Hints) -> list[str]:
        """Add what `events` point at to `hints`; return the folders that may be new, without hints.

        A file is finished if its last event says that it was closed or moved into place.
        """
        finished: dict[str, bool] = {}
        entered, deleted = [], False
        for event, path in self._locate(events):
            deleted = deleted or bool(event.mask & _GONE)
            if not event.mask & FOLDER:
                finished[path] = bool(event.mask & _FINISHED)
            elif path and event.mask & _ENTERED:
                entered.append(path)
            else:
                self._leave(path, event)
                finished[path] = False
        if "" in finished:
            hints.add(deleted=deleted)
        elif finished:
            closed = (path for path, is_closed in finished.items() if is_closed)
            hints.add(finished, finished=closed, deleted=deleted)
        return entered

    def _locate(self, events: Collection[Event]) -> Iterator[tuple[Event, str]]:
        for event in events:
            if event.mask & IGNORED:
                self._folders.pop(event.watch, None)
            elif (folder := self._folders.get(event.watch)) is not None:
                yield event, "/".join(filter(None, (folder, event.name)))

    def _watch(self, path: str) -> list[str]:
        at = self._root / path
        watch = self._queue.watch(at, through_link=not path)
        if self._folders.get(watch) == path:
            return []
        self._folders[watch] = path
        within = path + "/" if path else ""
        with os.scandir(at) as entries:
            return [within + entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]

    def _leave(self, path: str, event: Event) -> None:
        if not event.mask & MOVED_OUT:
            return  # a deleted folder has an event of its own
        for watch, folder in list(self._folders.items()):
            if folder == path or folder.startswith(path + "/"):
                self._queue.forget(watch)
                del self._folders[watch]


def _leads_to(root: Path, folder: Identity) -> bool:
    with suppress(OSError):
        return identify(root) == folder
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event in a watched folder, or of the folder itself.

    Attributes:
        watch: The number that `Queue.watch` returned; -1 for none.
        mask: Some of the constants above.
        name: The entry's name; empty for the folder itself.
    """

    watch: int
    mask: int
    name: str


class Queue:
    """The kernel's events for this process. Its owner closes it once no task waits for events.

    Raises:
        OSError: The user has as many queues as the system allows.
    """

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)

    def watch(self, path: str | os.PathLike[str], *, through_link: bool = False) -> int:
        """Subscribe to the events of the folder at `path`; return the number of the watch.

        This may wait for a disk, so it may run in another thread than `events`.

        Raises:
            OSError: There is no such folder, it may not be listed, or the user has as many watches
                as the system allows.
        """
        mask = _WANTED | _ONLY_FOLDERS | (0 if through_link else _NO_LINKS)
        return self._call("inotify_add_watch", self._descriptor, os.fsencode(path), mask)

    def forget(self, watch: int) -> None:
        """End the events of a folder; one that is gone is forgotten already."""
        with suppress(OSError):
            self._call("inotify_rm_watch", self._descriptor, watch)

    async def events(self) -> list[Event]:
        """Wait for events and return them, at least one, in order."""
        await anyio.wait_readable(self._descriptor)
        content, at = os.read(self._descriptor, LIMITS.events_bytes), 0
        events = []
        while at < len(content):
            watch, mask, _, length = _HEAD.unpack_from(content, at)
            at += _HEAD.size + length
            name = content[at - length : at].rstrip(b"\0")
            events.append(Event(watch=watch, mask=mask, name=os.fsdecode(name)))
        return events

    def close(self) -> None:
        """End all events."""
        os.close(self._descriptor)

    def _call(self, name: str, *arguments: int | bytes) -> int:
        answer: int = getattr(self._libc, name)(*arguments)
        if answer < 0:
            number = ctypes.get_errno()
            raise OSError(number, _KERNEL_LIMITS.get(number, os.strerror(number)))
        return answer
