"""Let Linux say what happens in folders, as it happens; the only door to inotify.

The kernel tells of a file what watchfiles does not pass on: that whoever wrote it
has closed it, and that it was moved into place. What it says is handed on as it
stands; this refuses to know which folders are watched, and why.

Source: inotify(7).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import anyio

HERE = sys.platform == "linux"
"""Whether this system has it."""

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

_LIMITS = {
    errno.ENOSPC: "all of fs.inotify.max_user_watches are taken",
    errno.EMFILE: "all of fs.inotify.max_user_instances are taken",
}

_HEAD = struct.Struct("iIII")
_AT_ONCE_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened in a watched folder, or to it.

    Attributes:
        watch: Which folder, by the number that `Queue.watch` answered; -1 for none.
        mask: What happened: some of the constants above.
        name: Of what is in the folder; empty for the folder itself.
    """

    watch: int
    mask: int
    name: str


class Queue:
    """The kernel's events for this process; its owner closes it, while nobody waits for events.

    Raises:
        OSError: The user has as many queues as the system allows.
    """

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)

    def watch(self, path: str | os.PathLike[str], *, through_link: bool = False) -> int:
        """Have events of the folder at `path` from now on; answers a number that stands for it.

        It may wait for a disk, so it may be called in another thread than `events`.

        Raises:
            OSError: There is no such folder, it may not be listed, or the user watches as many
                as the system allows.
        """
        mask = _WANTED | _ONLY_FOLDERS | (0 if through_link else _NO_LINKS)
        return self._call("inotify_add_watch", self._descriptor, os.fsencode(path), mask)

    def forget(self, watch: int) -> None:
        """Have no more events of a folder; one that is gone is forgotten already."""
        with suppress(OSError):
            self._call("inotify_rm_watch", self._descriptor, watch)

    async def events(self) -> list[Event]:
        """The next that happened, at least one, in their order."""
        await anyio.wait_readable(self._descriptor)
        return list(_parsed(os.read(self._descriptor, _AT_ONCE_BYTES)))

    def close(self) -> None:
        """Have no more events at all."""
        os.close(self._descriptor)

    def _call(self, name: str, *arguments: int | bytes) -> int:
        answer: int = getattr(self._libc, name)(*arguments)
        if answer < 0:
            number = ctypes.get_errno()
            raise OSError(number, _LIMITS.get(number, os.strerror(number)))
        return answer


def _parsed(events: bytes) -> Iterator[Event]:
    at = 0
    while at < len(events):
        watch, mask, _, length = _HEAD.unpack_from(events, at)
        at += _HEAD.size + length
        name = events[at - length : at].rstrip(b"\0")
        yield Event(watch=watch, mask=mask, name=os.fsdecode(name))
