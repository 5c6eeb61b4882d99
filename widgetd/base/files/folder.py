"""The served folder, held open while it is scanned, and what lies inside it.

Other processes can change what a path leads to between two system calls; a descriptor always means
the same file. So the folder is opened once per scan, everything is opened relative to it, and its
descriptor decides what lies inside.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from widgetd.base.system import SYSTEM, Disk, System

Identity = tuple[int, int, int]
"""Device; inode number combined with its generation, as in a file handle; and number of the mount,
0 if unknown.
"""


OWN_FOLDER = Path("widgets")
"""The folder that is served, in the current one, where none is named."""


def bundled_folder() -> Path:
    """Return the folder of the widgets that come with widgetd.

    It is in the package where widgetd is installed, and beside it in a checkout.
    """
    package = Path(__file__).parents[2]
    shipped = package / "_widgets"
    return shipped if shipped.is_dir() else package.parent / "widgets"


OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FS_IOC_GETVERSION = 0x80087601


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """An open folder.

    Attributes:
        path: The path it was opened by, which may lead elsewhere since.
        descriptor: Closed by `open_folder`.
        identity: Differs from that of every other folder, even one created later in its place.
        system: Reads it.
    """

    path: str
    descriptor: int
    identity: Identity
    system: System = SYSTEM

    def stat(self, path: str) -> os.stat_result:
        """Return the status of a path in this folder, links followed."""
        return self.system.disk.stat(path, dir_fd=self.descriptor)

    def holds(self, descriptor: int, path: str) -> bool:
        """Return whether the open `descriptor`, to which `path` led, lies in this folder.

        Raises:
            OSError: Its name is longer than the system can report.
        """
        try:
            disk = self.system.disk
            home = _resolve_name(disk, self.descriptor)
            return _is_beneath(_resolve_name(disk, descriptor), home)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise
            return self.resolves(descriptor, path)

    def resolves(self, descriptor: int, path: str) -> bool:
        """Answer `holds` on systems that cannot name a descriptor, by resolving the path again."""
        try:
            true = Path(self.path, path).resolve(strict=True)
            same = os.path.samestat(true.stat(), self.system.disk.fstat(descriptor))
        except OSError:
            return False
        return same and _is_beneath(str(true), str(Path(self.path).resolve()))


@contextmanager
def open_folder(path: str | os.PathLike[str], system: System = SYSTEM) -> Iterator[Folder]:
    """Hold the folder at `path` open.

    Raises:
        OSError: There is no such folder, or it may not be listed.
    """
    disk = system.disk
    descriptor = disk.open(path, OPEN_FOLDER)
    try:
        status, generation = disk.fstat(descriptor), b""
        # ext4 gives the inode number of a folder just deleted to the next one made.
        with suppress(OSError):
            generation = disk.ioctl(descriptor, _FS_IOC_GETVERSION, bytes(8))[:4]
        inode = status.st_ino << 32 | int.from_bytes(generation, sys.byteorder)
        identity = status.st_dev, inode, disk.number_mount(descriptor)
        yield Folder(path=os.fspath(path), descriptor=descriptor, identity=identity, system=system)
    finally:
        disk.close(descriptor)


def identify(path: str | os.PathLike[str], system: System = SYSTEM) -> Identity:
    """Return the identity of the folder that `path` leads to now.

    Raises:
        OSError: It leads to none.
    """
    try:
        with open_folder(path, system) as folder:
            return folder.identity
    except PermissionError:
        status = system.disk.stat(path)
        return status.st_dev, status.st_ino << 32, 0


def _resolve_name(disk: Disk, descriptor: int) -> str:
    return disk.readlink(f"/proc/self/fd/{descriptor}")


def _is_beneath(path: str, home: str) -> bool:
    return path == home or path.startswith(home.rstrip("/") + "/")
