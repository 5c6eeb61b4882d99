"""Files of the daemon's state, in a folder that may be full, unwritable or hold anything.

No file here raises or blocks. An unreadable file counts as missing. An unwritable file is lost, and
this is logged once until everything can be written again. Callers only have to check the content.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from widgetd.base.files.stamp import Stamp, stamp_of
from widgetd.base.files.write import write_whole
from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM, System
from widgetd.server.catalog.limits import LIMITS

if TYPE_CHECKING:
    from mmap import mmap
    from sqlite3 import Connection

_log = get_logger()

_SAFELY = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""A pipe would block until its other end opens. A link could lead out of the folder."""

_ASIDE = ".new"
_PART_BYTES = 1 << 20
_FILE_MODE, _FOLDER_MODE, _OTHERS = 0o600, 0o700, 0o077


class StateFolder:
    """The files of a widgets folder, named by their path below it.

    Files with the same first part of their name, up to a slash, fail and recover together.

    Args:
        path: The folder. Created with the first file.
        system: Reads and writes it.
    """

    def __init__(self, path: Path, system: System = SYSTEM) -> None:
        self._path = path
        self.system = system
        self._disk = system.disk
        self._failing: set[str] = set()

    @classmethod
    def of(cls, state: Path, widgets: Path, system: System = SYSTEM) -> StateFolder:
        real = os.fsencode(system.disk.realpath(widgets))
        return cls(state / blake2b(real, digest_size=8).hexdigest(), system)

    def names(self, folder: str) -> list[str]:
        with self._attempting(folder), suppress(FileNotFoundError):
            return sorted(self._disk.listdir(self._path / folder))
        return []

    def read(self, name: str, *, most_bytes: int) -> bytes | None:
        with (
            self._attempting(name),
            suppress(FileNotFoundError),
            self._open(self._path / name, os.O_RDONLY) as descriptor,
        ):
            if self._disk.fstat(descriptor).st_size <= most_bytes:
                return b"".join(self._read_parts(descriptor, most_bytes))
        return None

    def _read_parts(self, descriptor: int, most_bytes: int) -> Iterator[bytes]:
        while most_bytes and (part := self._disk.read(descriptor, min(most_bytes, _PART_BYTES))):
            most_bytes -= len(part)
            yield part

    def stamp(self, name: str) -> Stamp | None:
        """Return a value for each new file, or None if it is absent or hidden."""
        with suppress(OSError):
            return stamp_of(self._disk.stat(self._path / name, follow_symlinks=False))
        return None

    def write(self, name: str, content: bytes, *, synced: bool = True) -> bool:
        """Replace a file by renaming a new file. Return whether it was written.

        Two files with the same name up to a hyphen are never written at the same time.
        """
        path = self._path / name
        aside = path.with_name(path.name.partition("-")[0] + _ASIDE)
        with self._attempting(name):
            self._make_folder(path.parent)
            with suppress(FileNotFoundError):
                self._disk.unlink(aside)
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                with self._open(aside, flags) as descriptor:
                    write_whole(self._disk, descriptor, content)
                    if os.geteuid() == 0:
                        # The daemon must be able to read the files of an operator's command.
                        owner = self._disk.stat(path.parent)
                        with suppress(PermissionError):
                            self._disk.fchown(descriptor, owner.st_uid, owner.st_gid)
                    if synced:
                        self._disk.fsync(descriptor)
                self._disk.rename(aside, path)
                if synced:
                    self._sync_folder(path.parent)
            except OSError:
                with suppress(OSError):
                    self._disk.unlink(aside)
                raise
            return True
        return False

    def sync(self, names: Sequence[str]) -> bool:
        """Make written files outlive a power cut. Return whether they do."""
        with self._attempting(names[0] if names else ""):
            if len(names) > LIMITS.synced_files:
                self._disk.sync()
                return True
            for name in names:
                with self._open(self._path / name, os.O_RDONLY) as descriptor:
                    self._disk.fsync(descriptor)
            for folder in {(self._path / name).parent for name in names}:
                self._sync_folder(folder)
            return True
        return False

    def _sync_folder(self, folder: Path) -> None:
        descriptor = self._disk.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._disk.fsync(descriptor)
        finally:
            self._disk.close(descriptor)

    def map_file(self, name: str, content: bytes, most_bytes: int) -> mmap | None:
        """Write a file and return its first bytes as memory, or None on failure.

        Writes to the memory reach the file, no matter how the process ends.
        """
        # The content is written first, to be sure of room on the disk.
        if self.write(name, content):
            with (
                self._attempting(name),
                self._open(self._path / name, os.O_RDWR) as descriptor,
            ):
                return self._disk.mmap(descriptor, most_bytes)
        return None

    def database(self, name: str, prepare: Callable[[Connection], None]) -> Connection | None:
        """Open the SQLite database `name`, prepared by `prepare`, or None if it cannot be used.

        The connection may move between threads, and serves one at a time.
        """
        import sqlite3  # noqa: PLC0415 - no command needs it

        path = self._path / name
        with self._attempting(name):
            self._make_folder(self._path)
            if not path.exists():
                # Earlier releases kept it one folder above. The database moves last: until then
                # a crash leaves it at its old place.
                for ending in ("-wal", "-shm", ""):
                    with suppress(FileNotFoundError):
                        (self._path.parent / (name + ending)).rename(f"{path}{ending}")
            # SQLite follows links, and gives its journals the mode of the file.
            with self._open(path, os.O_RDWR | os.O_CREAT):
                pass
            opened = sqlite3.connect(path, check_same_thread=False)
            try:
                prepare(opened)
            except sqlite3.Error as error:
                opened.close()
                raise OSError(errno.EIO, str(error)) from None
            return opened
        return None

    @contextmanager
    def hold_lock(self, name: str) -> Iterator[bool]:
        """Keep other processes out of the blocks of this method.

        Yields:
            Whether the block may change it: false if another process does not leave its own.
        """
        descriptor = self._lock(name)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                # A child process forked in the block has the lock, too.
                with suppress(OSError):
                    self._disk.flock(descriptor, fcntl.LOCK_UN)
                self._disk.close(descriptor)

    def _lock(self, name: str) -> int | None:
        with self._attempting(name):
            self._make_folder(self._path)
            # Locks the folder, because files are replaced.
            descriptor = self._disk.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            clock = self.system.clock
            until_s = clock.steady_s() + LIMITS.state_lock_s
            while not self._try_lock(descriptor):
                if clock.steady_s() > until_s:
                    self._disk.close(descriptor)
                    raise OSError(errno.EBUSY, "Another process is writing to it")
                clock.sleep(LIMITS.state_lock_poll_s)
            return descriptor
        return None

    def append(self, name: str, lines: bytes) -> bool:
        """Append lines with their ends, all or none. Return whether they were written."""
        with self._attempting(name):
            self._make_folder(self._path)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            with self._open(self._path / name, flags) as descriptor:
                size = self._disk.fstat(descriptor).st_size
                if size and self._disk.pread(descriptor, 1, size - 1) != b"\n":
                    # A crash cut the last line short. The new line must not continue it.
                    lines = b"\n" + lines
                try:
                    write_whole(self._disk, descriptor, lines)
                    self._disk.fsync(descriptor)
                except OSError:
                    self._disk.ftruncate(descriptor, size)
                    raise
            if not size:
                self._sync_folder(self._path)
            return True
        return False

    def remove(self, name: str) -> bool:
        with self._attempting(name):
            with suppress(FileNotFoundError):
                self._disk.unlink(self._path / name)
            return True
        return False

    def _make_folder(self, folder: Path) -> None:
        if not self._exists(folder):
            # os.makedirs would make the parents with the umask's mode.
            parents = [parent for parent in folder.parents if not self._exists(parent)]
            for missing in (*reversed(parents), folder):
                with suppress(FileExistsError):
                    self._disk.mkdir(missing, _FOLDER_MODE)
        # Earlier versions left the mode to the umask. A folder of another user stays as it is: on
        # a volume that an orchestrator hands over by its group nothing else is possible.
        if self._disk.stat(self._path).st_mode & _OTHERS:
            with suppress(PermissionError):
                self._disk.chmod(self._path, _FOLDER_MODE)

    def _exists(self, path: Path) -> bool:
        try:
            self._disk.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def _try_lock(self, descriptor: int) -> bool:
        try:
            self._disk.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True

    @contextmanager
    def _open(self, path: Path, flags: int) -> Iterator[int]:
        descriptor = self._disk.open(path, flags | _SAFELY, _FILE_MODE)
        try:
            about = self._disk.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise OSError(errno.EINVAL, "Not a file")
            if about.st_mode & _OTHERS:
                with suppress(PermissionError):
                    self._disk.fchmod(descriptor, _FILE_MODE)
            yield descriptor
        finally:
            self._disk.close(descriptor)

    def fail(self, name: str, problem: str) -> None:
        if not self._failing:
            _log.warning("state.failed", path=str(self._path / name), problem=problem)
        self._failing.add(_part(name))

    def report_recovery(self, name: str) -> None:
        if self._failing:
            self._failing.discard(_part(name))
            if not self._failing:
                _log.info("state.recovered", path=str(self._path))

    @contextmanager
    def _attempting(self, name: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            problem = error.strerror if isinstance(error, OSError) else str(error)
            self.fail(name, problem or "")


def seal(body: bytes) -> bytes:
    """Return `body` as a line for `unseal`, without its end: `body` after its hash."""
    # A crash can cut a line short, and a user can edit it.
    return blake2b(body, digest_size=16).hexdigest().encode() + b"\t" + body


def unseal(line: bytes) -> bytes | None:
    """Return the body of a sealed line, or None if the line is damaged."""
    body = line.partition(b"\t")[2]
    return body if seal(body) == line else None


def _part(name: str) -> str:
    return name.partition("/")[0]
