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
from secrets import token_hex

from widgetd.base.files.folder import Folder

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


def write_atomically(folder: Folder, name: str, content: bytes, *, replace: bool) -> None:
    """Write the file `name` of `folder`; a link of that name is replaced, not followed.

    Raises:
        FileExistsError: The file exists, and `replace` is not set.
        OSError: The folder is not writable; the previous file is unchanged.
    """
    temporary = f".{token_hex(8)}.part"
    at = folder.descriptor
    descriptor = os.open(temporary, _NEW, 0o644, dir_fd=at)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
        else:
            os.link(temporary, name, src_dir_fd=at, dst_dir_fd=at)
            os.unlink(temporary, dir_fd=at)
    except BaseException:
        os.unlink(temporary, dir_fd=at)
        raise


def append_lines(path: Path, lines: Sequence[bytes]) -> tuple[int, OSError | None]:
    """Append `lines`, as many as there is room for, to the file at `path`, created if need be.

    The file may be a device or a pipe. Each line has one line break, at its end.

    Returns:
        The number of lines written, and the error that stopped the rest.

    Raises:
        OSError: The file cannot be opened.
    """
    descriptor = os.open(path, _APPEND, 0o666)
    try:
        status = os.fstat(descriptor)
        size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        end = b""
        if size:
            with suppress(OSError), path.open("rb") as file:
                file.seek(size - 1)
                end = b"" if file.read(1) == b"\n" else b"\n"
        content, written, problem = end + b"".join(lines), 0, None
        try:
            while written < len(content):
                written += os.write(descriptor, memoryview(content)[written:])
        except OSError as error:
            problem = error
        whole = content.rfind(b"\n", 0, written) + 1
        # If it cannot be cut off, or another writer has appended, the next append ends the line.
        with suppress(OSError):
            if whole < written and os.fstat(descriptor).st_size == size + written:
                os.ftruncate(descriptor, size + whole)
        return max(0, content.count(b"\n", 0, whole) - len(end)), problem
    finally:
        os.close(descriptor)
