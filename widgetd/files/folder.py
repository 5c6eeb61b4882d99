"""Hold a folder open while it is looked at, and say what lies inside it.

A path is a promise that others can break between two system calls; a descriptor
is the thing itself. So the folder is opened once per scan, everything is opened
relative to it, and whether something lies inside is asked of its descriptor.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

Identity = tuple[int, int]
"""The device, and the inode number with its generation, as a file handle has them."""


def bundled() -> Path:
    """The widgets that come with widgetd: in the package where it is installed, else beside it."""
    package = Path(__file__).parents[1]
    shipped = package / "_widgets"
    return shipped if shipped.is_dir() else package.parent / "widgets"


_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FS_IOC_GETVERSION = 0x80087601


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder held open.

    Attributes:
        path: As it was named; it may since lead elsewhere.
        descriptor: Owned by `opened`, which closes it.
        identity: Differs from that of every other folder, even one made since in its place.
    """

    path: str
    descriptor: int
    identity: Identity

    def holds(self, descriptor: int, path: str) -> bool:
        """Whether the open `descriptor`, to which `path` led, truly lies in this folder.

        Raises:
            OSError: Its name is longer than the system can say.
        """
        try:
            return _beneath(_name_of(descriptor), _name_of(self.descriptor))
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise
            return self.resolves(descriptor, path)

    def resolves(self, descriptor: int, path: str) -> bool:
        """The same for systems that will not name a descriptor: by the path, resolved again."""
        try:
            true = Path(self.path, path).resolve(strict=True)
            same = os.path.samestat(true.stat(), os.fstat(descriptor))
        except OSError:
            return False
        return same and _beneath(str(true), str(Path(self.path).resolve()))


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Folder]:
    """The folder at `path`, held open.

    Raises:
        OSError: There is no such folder, or it may not be listed.
    """
    descriptor = os.open(path, _OPEN)
    try:
        status, generation = os.fstat(descriptor), b""
        # ext4 gives the inode number of a folder just deleted to the next one made.
        with suppress(OSError):
            generation = fcntl.ioctl(descriptor, _FS_IOC_GETVERSION, bytes(8))[:4]
        inode = status.st_ino << 32 | int.from_bytes(generation, sys.byteorder)
        yield Folder(path=os.fspath(path), descriptor=descriptor, identity=(status.st_dev, inode))
    finally:
        os.close(descriptor)


def identity(path: str | os.PathLike[str]) -> Identity:
    """Which folder `path` leads to now.

    Raises:
        OSError: It leads to none.
    """
    try:
        with opened(path) as folder:
            return folder.identity
    except PermissionError:
        status = Path(path).stat()
        return status.st_dev, status.st_ino << 32


def _name_of(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 a hot path


def _beneath(path: str, home: str) -> bool:
    return path == home or path.startswith(home.rstrip("/") + "/")
