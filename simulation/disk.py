"""A disk that tears, fails, loses and dates writes as real ones do.

    editors --> Medium <-- SimulatedDisk (one for each process: faults, descriptors, locks)

What was not synced may be missing after a power cut: of the changes of folders a tail, of the
content of each file a part or everything.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

from simulation.world import TICK_NS, Process, World
from widgetd.base.system import Disk

READ_ERRORS = (errno.EIO, errno.ESTALE, errno.EACCES)
WRITE_ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_CHANGES = {"write", "fsync", "ftruncate", "unlink", "rename", "mkdir", "link", "chmod"}


@dataclass(eq=False)
class Node:
    """A file, a folder or a link.

    Attributes:
        content: Bytes of a file, entries of a folder, or where a link leads.
        synced: What a power cut leaves of a file at least.
    """

    ino: int
    content: bytes | dict[str, Node] | str
    dates_ns: int
    mode: int = 0o644
    synced: bytes = b""
    parent: Node | None = None
    name: str = ""
    device: int = 1

    @property
    def entries(self) -> dict[str, Node]:
        """Return what a folder holds."""
        if not isinstance(self.content, dict):
            raise failure(errno.ENOTDIR)
        return self.content

    @property
    def bytes(self) -> bytes:
        """Return what a file holds."""
        if not isinstance(self.content, bytes):
            raise failure(errno.EISDIR)
        return self.content

    @property
    def path(self) -> str:
        """Return the absolute path."""
        return "/" if self.parent is None else f"{self.parent.path.rstrip('/')}/{self.name}"


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


@dataclass(eq=False)
class Medium:
    """What all processes of a machine share.

    Attributes:
        tick_ns: Step of the dates; some file systems count in seconds.
        mount: Number of the mount on which the widgets folder is.
        on_change: Called with each change.
    """

    world: World
    tick_ns: int = TICK_NS
    mount: int = 1
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
            OSError: There is none.
        """
        folder, name = self.locate(path, start=start)
        if not name:
            return folder
        return self._enter(folder, name, follow=follow)

    def locate(self, path: str, *, start: Node | None = None) -> tuple[Node, str]:
        """Return the folder of a path, and the name in it; no name for the folder itself."""
        node = self.top if path.startswith("/") or start is None else start
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if not parts:
            return node, ""
        for part in parts[:-1]:
            node = self._enter(node, part)
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
        """Give a name to a node, or with None take it away."""
        if node is None:
            folder.entries.pop(name, None)
        else:
            folder.entries[name] = node
            node.parent, node.name = folder, name
        self._journal.append((folder, name, node))
        self.touch(folder)

    def report(self, node: Node, *, finished: bool, deleted: bool = False) -> None:
        """Tell everyone who watches that a file changed."""
        for callback in self.on_change:
            callback(Change(node.path, finished, deleted))

    # The editors' side: no faults, and no time.

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; None without one."""
        try:
            return self.find(path).bytes
        except OSError:
            return None

    def make_folders(self, path: str) -> Node:
        """Return the folder at a path, made if need be."""
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
        """Move a file into place, if a power cut did not take it."""
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
        """Remove a file, if there is one."""
        folder, name = self.locate(path)
        node = folder.entries.get(name)
        if node is not None:
            self.set_entry(folder, name, None)
            self.report(node, finished=False, deleted=True)

    def link(self, path: str, target: str) -> None:
        """Create a symbolic link."""
        folder, name = self.locate(path)
        self.set_entry(folder, name, self.make(target))

    def sync(self, node: Node | None = None) -> None:
        """Make a file or folder outlive a power cut; by default everything."""
        if node is None or isinstance(node.content, dict):
            for folder, name, inner in self._journal:
                names = self._durable.setdefault(folder, {})
                if inner is None:
                    names.pop(name, None)
                else:
                    names[name] = inner
            self._journal.clear()
        if node is None:
            for each in _walk(self.top):
                self._sync_content(each)
        else:
            self._sync_content(node)

    def _sync_content(self, node: Node) -> None:
        if isinstance(node.content, bytes):
            node.synced = node.content

    def cut_power(self, random: Random, *, spares: str) -> None:
        """Lose what was not synced; nothing below `spares`, whose writers synced it."""
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
            node.parent, node.name = folder, name
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
    """Which calls fail.

    Attributes:
        rate: Share of the calls that fail.
        area: Start of the paths on which they do.
        failed, seen: Fault points by call, area and whether the effect came first.
    """

    rate: float = 0.0
    area: str = "/"
    failed: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seen: set[tuple[str, str, str]] = field(default_factory=set)


@dataclass(eq=False)
class _Opened:
    node: Node
    flags: int
    place: int = 0


class SimulatedDisk(Disk):
    """The disk as one process sees it."""

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

    @contextmanager
    def _call(self, name: str, path: str) -> Iterator[None]:
        """Let time pass, and perhaps fail before the effect or after it."""
        self._process.check()
        world, faults = self._medium.world, self._faults
        world.counts["disk calls"] += 1
        world.pause_briefly()
        self._process.check()
        area = "state" if path.startswith("/state") else "widgets"
        points = [(name, area, "before"), (name, area, "after")]
        faults.seen.update(points)
        fails = path.startswith(faults.area) and self._random.random() < faults.rate
        point = self._random.choice(points) if fails else None
        if point == points[0]:
            self._fail(point)
        yield
        if point == points[1]:
            self._fail(point)

    def _fail(self, point: tuple[str, str, str]) -> None:
        self._faults.failed[point] += 1
        self._medium.world.counts["disk faults"] += 1
        errors = WRITE_ERRORS if point[0] in _CHANGES else READ_ERRORS
        raise failure(self._random.choice(errors))

    def _start(self, dir_fd: int | None) -> Node | None:
        return None if dir_fd is None else self._of(dir_fd).node

    def _of(self, descriptor: int) -> _Opened:
        self._process.check()
        return self._open[descriptor]

    def _where(self, path: Any, dir_fd: int | None) -> str:
        start = self._start(dir_fd)
        return os.fspath(path) if start is None else f"{start.path}/{os.fspath(path)}"

    # The calls, as in `os`.

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """Open a file."""
        with self._call("open", self._where(path, dir_fd)):
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
        """Close a file; its lock is released."""
        opened = self._open.pop(descriptor, None)
        if opened is not None and self._medium.locks.get(opened.node) is opened:
            del self._medium.locks[opened.node]

    def dup(self, descriptor: int) -> int:
        """Open a file again."""
        return self._add(self._of(descriptor))

    def read(self, descriptor: int, most: int) -> bytes:
        """Read from a file."""
        opened = self._of(descriptor)
        with self._call("read", opened.node.path):
            part = opened.node.bytes[opened.place : opened.place + most]
            opened.place += len(part)
        return part

    def pread(self, descriptor: int, most: int, place: int) -> bytes:
        """Read from a place."""
        node = self._of(descriptor).node
        with self._call("pread", node.path):
            return node.bytes[place : place + most]

    def write(self, descriptor: int, content: Any) -> int:
        """Write a part of `content`, or all of it."""
        opened, rest = self._of(descriptor), bytes(content)
        node = opened.node
        with self._call("write", node.path):
            if len(rest) > 1 and self._random.random() < 0.1:
                rest = rest[: self._random.randint(1, len(rest) - 1)]
            before = node.bytes
            place = len(before) if opened.flags & os.O_APPEND else opened.place
            node.content = before[:place] + rest + before[place + len(rest) :]
            opened.place = place + len(rest)
            self._medium.touch(node)
        return len(rest)

    def fsync(self, descriptor: int) -> None:  # type: ignore[override]
        """Make a file or folder outlive a power cut."""
        node = self._of(descriptor).node
        with self._call("fsync", node.path):
            self._medium.sync(node)

    def sync(self) -> None:
        """Make everything outlive a power cut."""
        with self._call("sync", "/state"):
            self._medium.sync()

    def ftruncate(self, descriptor: int, size: int) -> None:
        """Cut a file."""
        node = self._of(descriptor).node
        with self._call("ftruncate", node.path):
            node.content = node.bytes[:size]
            self._medium.touch(node)

    def stat(self, path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> Any:
        """Return the status of a path."""
        with self._call("stat", self._where(path, dir_fd)):
            start = self._start(dir_fd)
            node = self._medium.find(os.fspath(path), start=start, follow=follow_symlinks)
            return _status(node)

    def fstat(self, descriptor: int) -> Any:
        """Return the status of an open file."""
        node = self._of(descriptor).node
        with self._call("fstat", node.path):
            return _status(node)

    @contextmanager
    def scandir(self, descriptor: int) -> Iterator[Iterator[Any]]:
        """List a folder in any order."""
        folder = self._of(descriptor).node
        with self._call("scandir", folder.path):
            names = sorted(folder.entries)
            self._random.shuffle(names)
        yield (self._entry(folder, name) for name in names if name in folder.entries)

    def _entry(self, folder: Node, name: str) -> Any:
        node = folder.entries[name]

        def status() -> Any:
            with self._call("entry.stat", node.path):
                return _status(self._medium.find(name, start=folder))

        def is_folder(*, follow_symlinks: bool = True) -> bool:
            try:
                inner = self._medium.find(name, start=folder, follow=follow_symlinks)
            except OSError:
                return False
            return isinstance(inner.content, dict)

        is_link = isinstance(node.content, str)
        return SimpleNamespace(name=name, is_symlink=lambda: is_link, is_dir=is_folder, stat=status)

    def listdir(self, path: Any) -> list[str]:  # type: ignore[override]
        """Return the names in a folder."""
        with self._call("listdir", os.fspath(path)):
            return sorted(self._medium.find(os.fspath(path)).entries)

    def readlink(self, path: str, *, dir_fd: int | None = None) -> str:  # type: ignore[override]
        """Return where a link leads, or the path of a descriptor."""
        if path.startswith("/proc/self/fd/"):
            return self._of(int(path.rpartition("/")[2])).node.path
        node = self._medium.find(path, start=self._start(dir_fd), follow=False)
        if not isinstance(node.content, str):
            raise failure(errno.EINVAL)
        return node.content

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        """Remove a file."""
        with self._call("unlink", self._where(path, dir_fd)):
            folder, name = self._medium.locate(os.fspath(path), start=self._start(dir_fd))
            if name not in folder.entries:
                raise failure(errno.ENOENT)
            self._medium.set_entry(folder, name, None)

    def rename(
        self,
        old: Any,
        new: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
    ) -> None:
        """Move a file into place."""
        with self._call("rename", self._where(new, dst_dir_fd)):
            folder, name = self._medium.locate(os.fspath(old), start=self._start(src_dir_fd))
            place, new_name = self._medium.locate(os.fspath(new), start=self._start(dst_dir_fd))
            if name not in folder.entries:
                raise failure(errno.ENOENT)
            node = folder.entries[name]
            self._medium.set_entry(folder, name, None)
            self._medium.set_entry(place, new_name, node)
            self._medium.touch(node)

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        """Create a folder."""
        with self._call("mkdir", self._where(path, dir_fd)):
            folder, name = self._medium.locate(os.fspath(path), start=self._start(dir_fd))
            if name in folder.entries or not name:
                raise failure(errno.EEXIST)
            self._medium.set_entry(folder, name, self._medium.make({}, mode))

    def chmod(self, path: Any, mode: int) -> None:  # type: ignore[override]
        """Change the rights of a path."""
        with self._call("chmod", os.fspath(path)):
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


def _status(node: Node) -> Any:
    kinds = {bytes: stat.S_IFREG, dict: stat.S_IFDIR, str: stat.S_IFLNK}
    return SimpleNamespace(
        st_mode=kinds[type(node.content)] | node.mode,
        st_dev=node.device,
        st_ino=node.ino,
        st_size=len(node.content),
        st_mtime_ns=node.dates_ns,
        st_ctime_ns=node.dates_ns,
        st_ctime=node.dates_ns / 1e9,
        st_uid=0,
        st_gid=0,
    )
