"""Writes of which no reader sees half: whole files, or lines at a file's end.

The bytes of a file go to a hidden file beside its place, to the disk, and then to their place in
one step: a scan sees the old file or the new one.

A full disk takes part of a write. The incomplete part of a line is cut off again, and a torn line
that another writer left is ended first, so that it does not merge with the next.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from widgetd.base.files.folder import Folder
from widgetd.base.system import SYSTEM, Disk

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


def write_atomically(folder: Folder, name: str, content: bytes, *, replace: bool) -> None:
    """Write the file `name` of `folder`; a link of that name is replaced, not followed.

    Raises:
        FileExistsError: The file exists, and `replace` is not set.
        OSError: The folder is not writable; the previous file is unchanged.
    """
    disk, at = folder.system.disk, folder.descriptor
    temporary = f".{folder.system.numbers.token_hex(8)}.part"
    descriptor = disk.open(temporary, _NEW, 0o644, dir_fd=at)
    try:
        try:
            write_whole(disk, descriptor, content)
            disk.fsync(descriptor)
        finally:
            disk.close(descriptor)
        if replace:
            disk.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
        else:
            disk.link(temporary, name, src_dir_fd=at, dst_dir_fd=at)
            disk.unlink(temporary, dir_fd=at)
    except BaseException:
        disk.unlink(temporary, dir_fd=at)
        raise


def write_whole(disk: Disk, descriptor: int, content: bytes) -> None:
    """Write all of `content`, however little the system takes at once."""
    rest = memoryview(content)
    while rest:
        rest = rest[disk.write(descriptor, rest) :]


def append_lines(
    path: Path, lines: Sequence[bytes], disk: Disk = SYSTEM.disk
) -> tuple[int, OSError | None]:
    """Append `lines`, as many as there is room for, to the file at `path`, created if need be.

    The file may be a device or a pipe. Each line has one line break, at its end.

    Returns:
        The number of lines written, and the error that stopped the rest.

    Raises:
        OSError: The file cannot be opened.
    """
    descriptor = disk.open(path, _APPEND, 0o666)
    try:
        status = disk.fstat(descriptor)
        size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        end = b""
        if size:
            with suppress(OSError):
                end = _missing_end(path, size, disk)
        content, written, problem = end + b"".join(lines), 0, None
        try:
            while written < len(content):
                written += disk.write(descriptor, memoryview(content)[written:])
        except OSError as error:
            problem = error
        whole = content.rfind(b"\n", 0, written) + 1
        # If it cannot be cut off, or another writer has appended, the next append ends the line.
        with suppress(OSError):
            if whole < written and disk.fstat(descriptor).st_size == size + written:
                disk.ftruncate(descriptor, size + whole)
        return max(0, content.count(b"\n", 0, whole) - len(end)), problem
    finally:
        disk.close(descriptor)


def _missing_end(path: Path, size: int, disk: Disk) -> bytes:
    # The descriptor that appends may not read: the file may be open to writers only.
    descriptor = disk.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"" if disk.pread(descriptor, 1, size - 1) == b"\n" else b"\n"
    finally:
        disk.close(descriptor)
