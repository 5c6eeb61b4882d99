"""Put a file into a folder, whole or not at all.

The bytes go into a hidden file beside their place, to the disk, and then into
their place in one step: a scan sees the old file or the new one.
"""

from __future__ import annotations

import os
from secrets import token_hex

from widgetd.files.folder import Folder

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_atomically(folder: Folder, name: str, content: bytes, *, replace: bool) -> None:
    """Make `content` the file `name` of `folder`; a link of that name is replaced, not followed.

    Args:
        folder: Held open by the caller.
        name: One name, without a `/`.
        content: All of it.
        replace: Whether to take the place of a file of that name.

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
