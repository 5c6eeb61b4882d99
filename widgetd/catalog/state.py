"""What outlives the process: files in a folder that may be full, closed to us, or hold anything.

Nothing that stands on the disk raises here, and nothing waits for it. What cannot be
read is not there; what cannot be written is lost, and that is said once, until all of
it can be written again. So whoever keeps something here asks of what it reads only
whether it is whole and well-formed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING

from widgetd.logs import get_logger

if TYPE_CHECKING:
    from sqlite3 import Connection

_log = get_logger()

_SAFELY = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""To open a pipe would wait for its other end; a link would lead out of the folder."""

_ASIDE = ".new"
_FILE_MODE, _FOLDER_MODE, _OTHERS = 0o600, 0o700, 0o077


class StateFolder:
    """The files of one widgets folder.

    A file is named by its path in here. What belongs together begins with the same name,
    up to the first slash: it fails, and is well again, together.

    Args:
        path: Made when something is first written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failing: set[str] = set()

    @classmethod
    def of(cls, state: Path, widgets: Path) -> StateFolder:
        """The files of the folder `widgets` in `state`, which other folders may share."""
        real = os.fsencode(os.path.realpath(widgets))
        return cls(state / blake2b(real, digest_size=8).hexdigest())

    def names(self, folder: str) -> list[str]:
        """What stands in a folder of this one."""
        with self._attempting(folder), suppress(FileNotFoundError):
            return sorted(path.name for path in (self._path / folder).iterdir())
        return []

    def read(self, name: str, *, most_bytes: int) -> bytes | None:
        """The content of a file; None where there is none of at most `most_bytes`."""
        with (
            self._attempting(name),
            suppress(FileNotFoundError),
            _opened(self._path / name, os.O_RDONLY) as descriptor,
            open(descriptor, "rb", closefd=False) as file,
        ):
            if os.fstat(descriptor).st_size <= most_bytes:
                return file.read(most_bytes)
        return None

    def write(self, name: str, content: bytes) -> bool:
        """Put a file into its place, in one move; whether it stands there.

        Two files whose names begin alike, up to a hyphen, are never written at once.
        """
        path = self._path / name
        aside = path.with_name(path.name.partition("-")[0] + _ASIDE)
        with self._attempting(name):
            self._make_folder(path.parent)
            aside.unlink(missing_ok=True)
            try:
                with (
                    _opened(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as descriptor,
                    open(descriptor, "wb", closefd=False) as file,
                ):
                    file.write(content)
                aside.replace(path)
            except OSError:
                with suppress(OSError):
                    aside.unlink()
                raise
            return True
        return False

    def mapped(self, name: str, content: bytes, most_bytes: int) -> mmap | None:
        """The first bytes of a file with this content, as memory; None where it cannot be had.

        What is written to that memory stands in the file, however the process ends. The content
        is written first, so that there is room for it on the disk.
        """
        if self.write(name, content):
            with (
                self._attempting(name),
                _opened(self._path / name, os.O_RDWR) as descriptor,
            ):
                return mmap(descriptor, most_bytes)
        return None

    def database(self, name: str, prepare: Callable[[Connection], None]) -> Connection | None:
        """Open the SQLite database `name`, prepared by `prepare`; None if it cannot be used.

        The connection may move between threads, and serves one at a time.
        """
        import sqlite3  # noqa: PLC0415 - no command needs it

        path = self._path / name
        with self._attempting(name):
            self._make_folder(self._path)
            if not path.exists():
                # It stood one folder above before. The database moves last: until then a crash
                # leaves it where the next start looks for it.
                for ending in ("-wal", "-shm", ""):
                    with suppress(FileNotFoundError):
                        (self._path.parent / (name + ending)).rename(f"{path}{ending}")
            # SQLite follows links, and gives its journals the mode of the file.
            with _opened(path, os.O_RDWR | os.O_CREAT):
                pass
            opened = sqlite3.connect(path, check_same_thread=False)
            try:
                prepare(opened)
            except sqlite3.Error as error:
                opened.close()
                raise OSError(errno.EIO, str(error)) from None
            return opened
        return None

    def append(self, name: str, line: bytes) -> bool:
        """Add a line, its end included, whole or not at all; whether it was added."""
        with self._attempting(name):
            self._make_folder(self._path)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            with _opened(self._path / name, flags) as descriptor:
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    # A crash cut the last line; this one must not become its end.
                    line = b"\n" + line
                try:
                    while line:
                        line = line[os.write(descriptor, line) :]
                except OSError:
                    os.ftruncate(descriptor, size)
                    raise
            return True
        return False

    def remove(self, name: str) -> bool:
        """Delete a file; whether it is gone."""
        with self._attempting(name):
            (self._path / name).unlink(missing_ok=True)
            return True
        return False

    def _make_folder(self, folder: Path) -> None:
        """Make `folder`, and keep everyone but its owner out of all that is ours."""
        if not folder.is_dir():
            # mkdir(parents=True) would make the parents with the umask's mode.
            for missing in reversed([each for each in folder.parents if not each.exists()]):
                missing.mkdir(_FOLDER_MODE, exist_ok=True)
            folder.mkdir(_FOLDER_MODE, exist_ok=True)
        # Earlier versions left the mode to the umask. A folder of another user stays as it is: on
        # a volume that an orchestrator hands over by its group nothing else is possible.
        if self._path.stat().st_mode & _OTHERS:
            with suppress(PermissionError):
                self._path.chmod(_FOLDER_MODE)

    def fail(self, name: str, problem: str) -> None:
        """Log that `name` cannot be kept, once until everything can be kept again."""
        if not self._failing:
            _log.warning("state.failed", path=str(self._path / name), problem=problem)
        self._failing.add(_part(name))

    def well(self, name: str) -> None:
        """Say that all that is to stand under `name` does."""
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


def _part(name: str) -> str:
    return name.partition("/")[0]


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags | _SAFELY, _FILE_MODE)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "Not a file")
        if about.st_mode & _OTHERS:
            with suppress(PermissionError):
                os.fchmod(descriptor, _FILE_MODE)
        yield descriptor
    finally:
        os.close(descriptor)
