"""The calls of the disk that read widgets folders and keep state folders."""

from __future__ import annotations

import ctypes
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from mmap import mmap

_AT_EMPTY_PATH, _STATX_MNT_ID_UNIQUE, _STATX_BYTES, _MNT_ID = 0x1000, 0x4000, 256, slice(144, 152)

_LIBC = ctypes.CDLL(None)


class Disk:
    """System calls, under their names in `os`.

    Descriptors decide what lies inside a folder, so callers need the calls themselves.
    """

    open = staticmethod(os.open)
    close = staticmethod(os.close)
    read = staticmethod(os.read)
    pread = staticmethod(os.pread)
    write = staticmethod(os.write)
    fsync = staticmethod(os.fsync)
    sync = staticmethod(os.sync)
    ftruncate = staticmethod(os.ftruncate)
    stat = staticmethod(os.stat)
    fstat = staticmethod(os.fstat)
    listdir = staticmethod(os.listdir)
    readlink = staticmethod(os.readlink)
    link = staticmethod(os.link)
    unlink = staticmethod(os.unlink)
    rename = staticmethod(os.rename)
    mkdir = staticmethod(os.mkdir)
    dup = staticmethod(os.dup)
    chmod = staticmethod(os.chmod)
    fchmod = staticmethod(os.fchmod)
    fchown = staticmethod(os.fchown)
    flock = staticmethod(fcntl.flock)
    mmap = staticmethod(mmap)
    realpath = staticmethod(os.path.realpath)

    def scandir(self, descriptor: int) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """List a folder."""
        return os.scandir(descriptor)

    def ioctl(self, descriptor: int, request: int, argument: bytes) -> bytes:
        """Control a device."""
        return fcntl.ioctl(descriptor, request, argument)

    def number_mount(self, descriptor: int) -> int:
        """Return the number of the mount that an open folder is on; 0 if the kernel has none.

        The id in `/proc/self/mountinfo` is that of an earlier mount again as soon as that one is
        gone, as are the device and the inode numbers of a tmpfs. Source: statx(2), from Linux 6.8
        on.
        """
        status = ctypes.create_string_buffer(_STATX_BYTES)
        statx = getattr(_LIBC, "statx", None)
        if statx is None or statx(descriptor, b"", _AT_EMPTY_PATH, _STATX_MNT_ID_UNIQUE, status):
            return 0
        is_unique = int.from_bytes(status.raw[:4], sys.byteorder) & _STATX_MNT_ID_UNIQUE
        return int.from_bytes(status.raw[_MNT_ID], sys.byteorder) if is_unique else 0
