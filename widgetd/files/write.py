"""Write so that nobody ever reads half of it: a file as a whole, or lines at its end.

The bytes of a file go into a hidden one beside their place, to the disk, and then into
their place in one step: a scan sees the old file or the new one.

A disk that fills takes a part of what it is given. What it took of a line is cut off again, and
a line that somebody else left torn is ended first, so that it swallows none that follow.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from widgetd.files.folder import Folder

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


def write_atomically(folder: Folder, name: str, content: bytes, *, replace: bool) -> None:
    """Make `content` the file `name` of `folder`; a link of that name is replaced, not followed.

    Raises:
        FileExistsError: There is one, and it is not to be replaced.
        OSError: The folder does not let us; what was there before is still there.
    """
    waiting = f".{token_hex(8)}.part"
    at = folder.descriptor
    descriptor = os.open(waiting, _NEW, 0o644, dir_fd=at)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.rename(waiting, name, src_dir_fd=at, dst_dir_fd=at)
        else:
            os.link(waiting, name, src_dir_fd=at, dst_dir_fd=at)
            os.unlink(waiting, dir_fd=at)
    except BaseException:
        os.unlink(waiting, dir_fd=at)
        raise


def append_lines(path: Path, lines: Sequence[bytes]) -> tuple[int, OSError | None]:
    """Append `lines`, as many as there is room for, to the file at `path`, made if need be.

    It may be a device, or a pipe, that takes what it is given. Each line ends with its only break.

    Returns:
        How many were written, and why it was not all of them.

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
        # Where it cannot be cut off, or somebody else wrote behind it, the next line ends it.
        with suppress(OSError):
            if whole < written and os.fstat(descriptor).st_size == size + written:
                os.ftruncate(descriptor, size + whole)
        return max(0, content.count(b"\n", 0, whole) - len(end)), problem
    finally:
        os.close(descriptor)
