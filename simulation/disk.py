"""A disk: it tears, fails, loses and dates writes as real disks do.

    editors --> Medium <-- SimulatedDisk (one for each process: faults, descriptors, locks)

A power cut may undo everything unsynced: the last changes of folders, and any part of a file.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, lru_cache, wraps
from random import Random
from typing import Any, NamedTuple, TypeVar, cast

from simulation.world import TICK_NS, Process, World
from widgetd.base.system import Disk

READ_ERRORS = (errno.EIO, errno.ESTALE, errno.EACCES)
WRITE_ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS)
FAVOURITE_RATE = 0.3
_CHANGES = {"write", "fsync", "ftruncate", "unlink", "rename", "mkdir", "link", "chmod"}


Point = tuple[str, str, str]
"""A fault point: the call, its area, and whether it fails before its effect or after it."""


@dataclass(eq=False)
class Node:
    """A file, a folder or a link.

    Attributes:
        content: Bytes of a file, entries of a folder, or target of a link.
        synced: Content of a file after its last sync.
    """

    ino: int
    content: bytes | dict[str, Node] | str
    dates_ns: int
    mode: int = 0o644
    synced: bytes = b""
    parent: Node | None = None
    path: str = "/"
    device: int = 1

    @property
    def entries(self) -> dict[str, Node]:
        """Return the entries of a folder."""
        if not isinstance(self.content, dict):
            raise failure(errno.ENOTDIR)
        return self.content

    @property
    def bytes(self) -> bytes:
        """Return the bytes of a file."""
        if not isinstance(self.content, bytes):
            raise failure(errno.EISDIR)
        return self.content

    def place(self, folder: Node, name: str) -> None:
        """Set the parent and the path, with those of all below."""
        self.parent, self.path = folder, f"{folder.path.rstrip('/')}/{name}"
        if isinstance(self.content, dict):
            for inner_name, inner in self.content.items():
                inner.place(self, inner_name)


class Change(NamedTuple):
    """A change of a file, as the kernel reports it.

    Attributes:
        finished: Whether its writer closed it or moved it into place.
    """

    path: str
    finished: bool
    deleted: bool


def failure(code: int) -> OSError:
    """Return the error of a code."""
    return OSError(code, os.strerror(code))


@lru_cache(4_096)
def _split(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))


@dataclass(eq=False)
class Medium:
    """The file systems of a machine, for all its processes.

    Attributes:
        tick_ns: Step of the dates. Some file systems count in seconds.
        mount: Number of the mount of the widgets folder.
        closed: Prefix of paths without permission to open.
        on_change: Called with each change.
    """

    world: World
    tick_ns: int = TICK_NS
    mount: int = 1
    closed: str = ""
    on_change: list[Callable[[Change], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._inodes = 1
        self.top = Node(1, {}, self._now_ns())
        self._journal: list[tuple[Node, str, Node | None]] = []
        self._durable: dict[Node, dict[str, Node]] = {self.top: {}}
        self.locks: dict[Node, object] = {}

    def _now_ns(self) -> int:
        return self.world.clock.wall_ns() // self.tick_ns * self.tick_ns

    def make(self, content: bytes | dict[str, Node] | str, mode: int = 0o644) -> Node:
        """Make a node without a name."""
        self._inodes += 1
        return Node(self._inodes, content, self._now_ns(), mode)

    def touch(self, *nodes: Node) -> None:
        """Date nodes."""
        for node in nodes:
            node.dates_ns = self._now_ns()

    def find(self, path: str, *, start: Node | None = None, follow: bool = True) -> Node:
        """Return the node at a path.

        Raises:
            OSError: It does not exist.
        """
        folder, name = self.locate(path, start=start)
        if not name:
            return folder
        return self._enter(folder, name, follow=follow)

    def locate(self, path: str, *, start: Node | None = None) -> tuple[Node, str]:
        """Return the folder of a path and the name in it, which is empty for the folder itself."""
        node = self.top if path.startswith("/") or start is None else start
        parts = _split(path)
        if not parts:
            return node, ""
        for part in parts[:-1]:
            content = node.content
            inner = content.get(part) if isinstance(content, dict) else None
            if inner is None or isinstance(inner.content, str):
                inner = self._enter(node, part)
            node = inner
        node.entries  # noqa: B018 - a file has no names
        return (node.parent or node, "") if parts[-1] == ".." else (node, parts[-1])

    def _enter(self, node: Node, name: str, *, follow: bool = True, depth: int = 0) -> Node:
        if depth > 8:
            raise failure(errno.ELOOP)
        if name == "..":
            return node.parent or node
        if name not in node.entries:
            raise failure(errno.ENOENT)
        inner = node.entries[name]
        if isinstance(inner.content, str) and follow:
            return self.find(inner.content, start=node)
        return inner

    def set_entry(self, folder: Node, name: str, node: Node | None) -> None:
        """Set the node of a name, or with None remove the name."""
        if node is None:
            folder.entries.pop(name, None)
        else:
            folder.entries[name] = node
            node.place(folder, name)
        self._journal.append((folder, name, node))
        self.touch(folder)

    def report(self, node: Node, *, finished: bool, deleted: bool = False) -> None:
        """Report a change to all watchers."""
        for callback in self.on_change:
            callback(Change(node.path, finished, deleted))

    # The editors' side: no faults, and no time.

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or None."""
        try:
            return self.find(path).bytes
        except OSError:
            return None

    def holds(self, path: str) -> bool:
        """Return whether there is a node at a path."""
        try:
            self.find(path)
        except OSError:
            return False
        return True

    def make_folders(self, path: str) -> Node:
        """Return the folder at a path. Create it if it is missing."""
        node = self.top
        for part in path.strip("/").split("/"):
            if part not in node.entries:
                self.set_entry(node, part, self.make({}, 0o755))
            node = node.entries[part]
        return node

    def write(self, path: str, content: bytes, *, finished: bool = True) -> None:
        """Replace the content of a file in place, or create it."""
        folder, name = self.locate(path)
        node = folder.entries.get(name)
        if node is None:
            node = self.make(content)
            self.set_entry(folder, name, node)
        else:
            node = self.find(path)
            node.content = content
        self.touch(node)
        self.report(node, finished=finished)

    def rename(self, old: str, new: str) -> None:
        """Move a file into place. After a power cut it may be missing."""
        folder, name = self.locate(old)
        place, new_name = self.locate(new)
        node = folder.entries.get(name)
        if node is None:
            return
        self.set_entry(folder, name, None)
        self.report(node, finished=False, deleted=True)
        self.set_entry(place, new_name, node)
        self.touch(node)
        self.report(node, finished=True)

    def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        folder, name = self.locate(path)
        node = folder.entries.get(name)
        if node is not None:
            self.set_entry(folder, name, None)
            self.report(node, finished=False, deleted=True)

    def mount_over(self, path: str, content: dict[str, Node]) -> dict[str, Node]:
        """Mount a file system of equal device and inode on a folder. Return the hidden entries."""
        node = self.find(path)
        hidden = node.entries
        node.content, self.mount = content, self.mount + 1
        self.report(node, finished=False)
        return hidden

    def link(self, path: str, target: str) -> None:
        """Create a symbolic link."""
        folder, name = self.locate(path)
        self.set_entry(folder, name, self.make(target))

    def sync(self, node: Node | None = None) -> None:
        """Sync a file or folder, by default everything."""
        if node is None or isinstance(node.content, dict):
            for folder, name, inner in self._journal:
                names = self._durable.setdefault(folder, {})
                if inner is None:
                    names.pop(name, None)
                else:
                    names[name] = inner
            self._journal.clear()
        if node is None:
            for inner in _walk(self.top):
                self._sync_content(inner)
        else:
            self._sync_content(node)

    def _sync_content(self, node: Node) -> None:
        if isinstance(node.content, bytes):
            node.synced = node.content

    def cut_power(self, random: Random, *, spares: str) -> None:
        """Lose unsynced writes, except below `spares`."""
        kept = random.randint(0, len(self._journal))
        for folder, name, inner in self._journal[:kept] + [
            change for change in self._journal[kept:] if change[0].path.startswith(spares)
        ]:
            names = self._durable.setdefault(folder, {})
            if inner is None:
                names.pop(name, None)
            else:
                names[name] = inner
        self._journal.clear()
        self._restore(self.top, random, spares)
        self.locks.clear()

    def _restore(self, folder: Node, random: Random, spares: str) -> None:
        folder.content = dict(self._durable.get(folder, {}))
        for name, node in folder.content.items():
            node.place(folder, name)
            if isinstance(node.content, dict):
                self._restore(node, random, spares)
            elif isinstance(node.content, bytes) and not node.path.startswith(spares):
                if node.content != node.synced:
                    longest = max(len(node.content), len(node.synced))
                    torn = node.content[: random.randint(0, longest)]
                    node.content = random.choice((node.content, node.synced, torn, b""))
                node.synced = node.content


def _walk(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node.content, dict):
        for inner in node.content.values():
            yield from _walk(inner)


@dataclass(eq=False)
class FaultPlan:
    """The choice of failing calls.

    Attributes:
        rate: Share of failing calls.
        favourites: Calls with a higher rate. Rare calls would hardly fail otherwise.
        area: Prefix of their paths.
        failed, seen: Fault points.
    """

    rate: float = 0.0
    favourites: tuple[str, ...] = ()
    area: str = "/"
    failed: Counter[Point] = field(default_factory=Counter)
    seen: set[Point] = field(default_factory=set)


@cache
def _points_of(name: str, area: str) -> tuple[Point, Point]:
    return (name, area, "before"), (name, area, "after")


Call = TypeVar("Call", bound=Callable[..., Any])


def _system_call(effect: Call) -> Call:
    """Let time pass before an effect, and perhaps fail before it or after it."""
    name = effect.__name__

    @wraps(effect)
    def call(self: SimulatedDisk, *arguments: Any, **options: Any) -> Any:
        point = self.begin(name, self.find_path(*arguments, **options))
        answer = effect(self, *arguments, **options)
        if point is not None:
            self.fail(point)
        return answer

    return cast("Call", call)


@dataclass(eq=False)
class _Opened:
    node: Node
    flags: int
    place: int = 0


class SimulatedDisk(Disk):
    """The disk of one process, with the signatures of `os`."""

    def __init__(self, medium: Medium, process: Process, faults: FaultPlan, random: Random) -> None:
        self._medium = medium
        self._process = process
        self._faults = faults
        self._random = random
        self._open: dict[int, _Opened] = {}
        self._next = 100
        process.on_end.append(self._release)

    def _release(self) -> None:
        for node, owner in list(self._medium.locks.items()):
            if owner in self._open.values():
                del self._medium.locks[node]
        self._open.clear()

    def begin(self, name: str, path: str) -> Point | None:
        """Let time pass. Return the fault point if the call fails after its effect.

        Raises:
            OSError: The call fails before its effect.
        """
        self._process.check()
        world, faults = self._medium.world, self._faults
        world.counts["disk calls"] += 1
        world.pause_briefly()
        self._process.check()
        if self._medium.closed and path.startswith(self._medium.closed) and name == "open":
            raise failure(errno.EACCES)
        before, after = points = _points_of(
            name, "state" if path.startswith("/state") else "widgets"
        )
        faults.seen.update(points)
        if not faults.rate or not path.startswith(faults.area):
            return None
        rate = max(faults.rate, FAVOURITE_RATE) if name in faults.favourites else faults.rate
        if self._random.random() >= rate:
            return None
        if self._random.random() < 0.5:
            self.fail(before)
        return after

    def fail(self, point: Point) -> None:
        """Raise an error of the call's kind."""
        self._faults.failed[point] += 1
        self._medium.world.counts["disk faults"] += 1
        errors = WRITE_ERRORS if point[0] in _CHANGES else READ_ERRORS
        raise failure(self._random.choice(errors))

    def find_path(
        self, path: Any = "/state", *_: Any, dir_fd: int | None = None, **options: Any
    ) -> str:
        """Return the absolute path of a call's first argument: a path or a descriptor."""
        if isinstance(path, int):
            return self._of(path).node.path
        folder = dir_fd if dir_fd is not None else options.get("src_dir_fd")
        return os.fspath(path) if folder is None else f"{self._of(folder).node.path}/{path}"

    def _start(self, dir_fd: int | None) -> Node | None:
        return None if dir_fd is None else self._of(dir_fd).node

    def _of(self, descriptor: int) -> _Opened:
        self._process.check()
        return self._open[descriptor]

    @_system_call
    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """Open a file."""
        medium = self._medium
        folder, name = medium.locate(os.fspath(path), start=self._start(dir_fd))
        node = folder if not name else folder.entries.get(name)
        if node is None and flags & os.O_CREAT:
            node = medium.make(b"", mode)
            medium.set_entry(folder, name, node)
        elif flags & os.O_EXCL:
            raise failure(errno.EEXIST)
        else:
            follow = not flags & os.O_NOFOLLOW
            node = medium.find(os.fspath(path), start=self._start(dir_fd), follow=follow)
        if isinstance(node.content, str):
            raise failure(errno.ELOOP)
        if flags & os.O_DIRECTORY:
            node.entries  # noqa: B018 - a file is refused
        opened = _Opened(node, flags)
        return self._add(opened)

    def _add(self, opened: _Opened) -> int:
        self._next += 1
        self._open[self._next] = opened
        return self._next

    def close(self, descriptor: int) -> None:
        """Close a file and release its lock."""
        opened = self._open.pop(descriptor, None)
        if opened is not None and self._medium.locks.get(opened.node) is opened:
            del self._medium.locks[opened.node]

    def dup(self, descriptor: int) -> int:
        """Open a file again."""
        return self._add(self._of(descriptor))

    @_system_call
    def read(self, descriptor: int, most: int) -> bytes:
        """Read from a file."""
        opened = self._of(descriptor)
        rest = len(opened.node.bytes) - opened.place
        if rest > 1 and self._random.random() < 0.1:
            most = min(most, self._random.randint(1, rest - 1))
        part = opened.node.bytes[opened.place : opened.place + most]
        opened.place += len(part)
        return part

    @_system_call
    def pread(self, descriptor: int, most: int, place: int) -> bytes:
        """Read from a place."""
        node = self._of(descriptor).node
        return node.bytes[place : place + most]

    @_system_call
    def write(self, descriptor: int, content: Any) -> int:
        """Write a part of `content`, or all of it."""
        opened, rest = self._of(descriptor), bytes(content)
        node = opened.node
        if len(rest) > 1 and self._random.random() < 0.1:
            rest = rest[: self._random.randint(1, len(rest) - 1)]
        before = node.bytes
        place = len(before) if opened.flags & os.O_APPEND else opened.place
        node.content = before[:place] + rest + before[place + len(rest) :]
        opened.place = place + len(rest)
        self._medium.touch(node)
        return len(rest)

    @_system_call
    def fsync(self, descriptor: int) -> None:  # type: ignore[override]
        """Sync a file or folder."""
        node = self._of(descriptor).node
        self._medium.sync(node)

    @_system_call
    def sync(self) -> None:
        """Sync everything."""
        self._medium.sync()

    @_system_call
    def ftruncate(self, descriptor: int, size: int) -> None:
        """Cut a file."""
        node = self._of(descriptor).node
        node.content = node.bytes[:size]
        self._medium.touch(node)

    @_system_call
    def stat(self, path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> Any:
        """Return the status of a path."""
        start = self._start(dir_fd)
        node = self._medium.find(os.fspath(path), start=start, follow=follow_symlinks)
        return _status(node)

    @_system_call
    def fstat(self, descriptor: int) -> Any:
        """Return the status of an open file."""
        node = self._of(descriptor).node
        return _status(node)

    @_system_call
    def scandir(self, descriptor: int) -> Any:
        """List a folder in any order."""
        folder = self._of(descriptor).node
        names = sorted(folder.entries)
        self._random.shuffle(names)
        entries = (_Entry(self, folder, name) for name in names if name in folder.entries)
        return nullcontext(entries)

    @_system_call
    def entry_stat(self, _path: str, node: Node) -> Any:
        """Return the status of an entry of a listed folder."""
        return _status(node)

    def follow(self, folder: Node, name: str, *, follow: bool = True) -> Node:
        """Return the node of an entry."""
        return self._medium.find(name, start=folder, follow=follow)

    @_system_call
    def listdir(self, path: Any) -> list[str]:  # type: ignore[override]
        """Return the names in a folder."""
        return sorted(self._medium.find(os.fspath(path)).entries)

    def readlink(self, path: str, *, dir_fd: int | None = None) -> str:  # type: ignore[override]
        """Return the target of a link, or the path of a descriptor."""
        if path.startswith("/proc/self/fd/"):
            return self._of(int(path.rpartition("/")[2])).node.path
        node = self._medium.find(path, start=self._start(dir_fd), follow=False)
        if not isinstance(node.content, str):
            raise failure(errno.EINVAL)
        return node.content

    @_system_call
    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        """Remove a file."""
        folder, name = self._medium.locate(os.fspath(path), start=self._start(dir_fd))
        if name not in folder.entries:
            raise failure(errno.ENOENT)
        self._medium.set_entry(folder, name, None)

    @_system_call
    def rename(
        self,
        old: Any,
        new: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
    ) -> None:
        """Move a file into place."""
        folder, name = self._medium.locate(os.fspath(old), start=self._start(src_dir_fd))
        place, new_name = self._medium.locate(os.fspath(new), start=self._start(dst_dir_fd))
        if name not in folder.entries:
            raise failure(errno.ENOENT)
        node = folder.entries[name]
        self._medium.set_entry(folder, name, None)
        self._medium.set_entry(place, new_name, node)
        self._medium.touch(node)

    @_system_call
    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        """Create a folder."""
        folder, name = self._medium.locate(os.fspath(path), start=self._start(dir_fd))
        if name in folder.entries or not name:
            raise failure(errno.EEXIST)
        self._medium.set_entry(folder, name, self._medium.make({}, mode))

    @_system_call
    def chmod(self, path: Any, mode: int) -> None:  # type: ignore[override]
        """Change the rights of a path."""
        self._medium.find(os.fspath(path)).mode = mode

    def fchmod(self, descriptor: int, mode: int) -> None:
        """Change the rights of an open file."""
        self._of(descriptor).node.mode = mode

    def fchown(self, descriptor: int, _user: int, _group: int) -> None:
        """Change the owner of an open file."""
        self._of(descriptor)

    def flock(self, descriptor: int, operation: int) -> None:  # type: ignore[override]
        """Lock a file, or release it."""
        opened, locks = self._of(descriptor), self._medium.locks
        if operation & fcntl.LOCK_UN:
            if locks.get(opened.node) is opened:
                del locks[opened.node]
        elif locks.setdefault(opened.node, opened) is not opened:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def ioctl(self, _descriptor: int, _request: int, _argument: bytes) -> bytes:
        """Refuse: this file system has no generations of inodes."""
        raise failure(errno.ENOTTY)

    def number_mount(self, _descriptor: int) -> int:
        """Return the number of the mount of the widgets folder."""
        return self._medium.mount

    def realpath(self, path: Any) -> str:  # type: ignore[override]
        """Return the path without links."""
        return self._medium.find(os.fspath(path)).path


class _Entry:
    """A row of a listing, as `os.DirEntry`."""

    def __init__(self, disk: SimulatedDisk, folder: Node, name: str) -> None:
        self._disk, self._folder, self.name = disk, folder, name
        self._node = folder.entries[name]

    def is_symlink(self) -> bool:
        return isinstance(self._node.content, str)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        try:
            node = self._disk.follow(self._folder, self.name, follow=follow_symlinks)
        except OSError:
            return False
        return isinstance(node.content, dict)

    def stat(self) -> Any:
        path = self._node.path
        return self._disk.entry_stat(path, self._disk.follow(self._folder, self.name))


class _Status(NamedTuple):
    st_mode: int
    st_dev: int
    st_ino: int
    st_size: int
    st_mtime_ns: int
    st_ctime_ns: int
    st_ctime: float
    st_uid: int = 0
    st_gid: int = 0


_KINDS = {bytes: stat.S_IFREG, dict: stat.S_IFDIR, str: stat.S_IFLNK}


def _status(node: Node) -> Any:
    dates_ns, size = node.dates_ns, len(node.content)
    mode = _KINDS[type(node.content)] | node.mode
    return _Status(mode, node.device, node.ino, size, dates_ns, dates_ns, dates_ns / 1e9)
