"""The served folder, held open while it is scanned, and what lies inside it.

Other processes can change what a path leads to between two system calls; a descriptor always means
the same file. So the folder is opened once per scan, everything is opened relative to it, and its
descriptor decides what lies inside.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

Identity = tuple[int, int, int]
"""Device; inode number combined with its generation, as in a file handle; and number of the mount,
0 if unknown.
"""


def bundled_folder() -> Path:
    """Return the folder of the widgets that come with widgetd.

    It is in the package where widgetd is installed, and beside it in a checkout.
    """
    package = Path(__file__).parents[2]
    shipped = package / "_widgets"
    return shipped if shipped.is_dir() else package.parent / "widgets"


OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FS_IOC_GETVERSION = 0x80087601

_AT_EMPTY_PATH, _STATX_MNT_ID_UNIQUE, _STATX_BYTES, _MNT_ID = 0x1000, 0x4000, 256, slice(144, 152)

_LIBC = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """An open folder.

    Attributes:
        path: The path it was opened by, which may lead elsewhere since.
        descriptor: Closed by `open_folder`.
        identity: Differs from that of every other folder, even one created later in its place.
    """

    path: str
    descriptor: int
    identity: Identity

    def holds(self, descriptor: int, path: str) -> bool:
        """Return whether the open `descriptor`, to which `path` led, lies in this folder.

        Raises:
            OSError: Its name is longer than the system can report.
        """
        try:
            return _is_beneath(_resolve_name(descriptor), _resolve_name(self.descriptor))
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise
            return self.resolves(descriptor, path)

    def resolves(self, descriptor: int, path: str) -> bool:
        """Answer `holds` on systems that cannot name a descriptor, by resolving the path again."""
        try:
            true = Path(self.path, path).resolve(strict=True)
            same = os.path.samestat(true.stat(), os.fstat(descriptor))
        except OSError:
            return False
        return same and _is_beneath(str(true), str(Path(self.path).resolve()))


@contextmanager
def open_folder(path: str | os.PathLike[str]) -> Iterator[Folder]:
    """Hold the folder at `path` open.

    Raises:
        OSError: There is no such folder, or it may not be listed.
    """
    descriptor = os.open(path, OPEN_FOLDER)
    try:
        status, generation = os.fstat(descriptor), b""
        # ext4 gives the inode number of a folder just deleted to the next one made.
        with suppress(OSError):
            generation = fcntl.ioctl(descriptor, _FS_IOC_GETVERSION, bytes(8))[:4]
        inode = status.st_ino << 32 | int.from_bytes(generation, sys.byteorder)
        identity = status.st_dev, inode, _number_mount(descriptor)
        yield Folder(path=os.fspath(path), descriptor=descriptor, identity=identity)
    finally:
        os.close(descriptor)


def identify(path: str | os.PathLike[str]) -> Identity:
    """Return the identity of the folder that `path` leads to now.

    Raises:
        OSError: It leads to none.
    """
    try:
        with open_folder(path) as folder:
            return folder.identity
    except PermissionError:
        status = Path(path).stat()
        return status.st_dev, status.st_ino << 32, 0


def _number_mount(descriptor: int) -> int:
    """Return the number of the mount that an open folder is on; 0 if the kernel has none.

    The id in `/proc/self/mountinfo` is that of an earlier mount again as soon as that one is gone,
    as are the device and the inode numbers of a tmpfs. Source: statx(2), from Linux 6.8 on.
    """
    status = ctypes.create_string_buffer(_STATX_BYTES)
    statx = getattr(_LIBC, "statx", None)
    if statx is None or statx(descriptor, b"", _AT_EMPTY_PATH, _STATX_MNT_ID_UNIQUE, status):
        return 0
    is_unique = int.from_bytes(status.raw[:4], sys.byteorder) & _STATX_MNT_ID_UNIQUE
    return int.from_bytes(status.raw[_MNT_ID], sys.byteorder) if is_unique else 0


def _resolve_name(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 a hot path


def _is_beneath(path: str, home: str) -> bool:
    return path == home or path.startswith(home.rstrip("/") + "/")
