"""The ways in which people and programs save files.

Each function replaces the content of an existing file with `new`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def in_place(path: Path, new: bytes) -> None:
    """Truncate the file and write it, as a shell's `>` does."""
    path.write_bytes(new)


def renamed(path: Path, new: bytes) -> None:
    """Write another file and move it over this one, as most editors do."""
    aside = path.with_suffix(".tmp")
    aside.write_bytes(new)
    aside.replace(path)


def from_download(path: Path, new: bytes) -> None:
    """Write a file under the name of an unfinished download, and move it over this one."""
    aside = path.with_name(path.name + ".crdownload")
    aside.write_bytes(new)
    aside.replace(path)


def in_chunks(path: Path, new: bytes) -> None:
    """Write in chunks, as over a slow connection."""
    with path.open("wb") as file:
        for start in range(0, len(new), 100):
            file.write(new[start : start + 100])
            file.flush()
            time.sleep(0.001)  # plays a slow writer


def backed_up(path: Path, new: bytes) -> None:
    """Move the old file aside and remove it at the end, as vim does."""
    backup = path.with_name(path.name + "~")
    path.replace(backup)
    path.write_bytes(new)
    backup.unlink()


def removed_first(path: Path, new: bytes) -> None:
    """Delete the old file before writing the new one."""
    path.unlink()
    path.write_bytes(new)


def with_old_time(path: Path, new: bytes) -> None:
    """Write a file that is older than the one before, as `cp -p` and archives do."""
    renamed(path, new)
    os.utime(path, (1, 1))


def broken_before(path: Path, new: bytes) -> None:
    """Write half of it, and all of it right after."""
    path.write_bytes(new[: len(new) // 2])
    path.write_bytes(new)


def appended(path: Path, new: bytes) -> None:
    """Truncate the file, and append to it."""
    path.write_bytes(b"")
    with path.open("ab") as file:
        file.write(new)


def overwritten(path: Path, new: bytes) -> None:
    """Overwrite the old content, and truncate the rest."""
    with path.open("r+b") as file:
        file.write(new)
        file.truncate()


def touched(path: Path, new: bytes) -> None:
    """Touch the old file, and then replace it."""
    path.touch()
    renamed(path, new)


STYLES: tuple[Callable[[Path, bytes], None], ...] = (
    in_place,
    renamed,
    from_download,
    in_chunks,
    backed_up,
    removed_first,
    with_old_time,
    broken_before,
    appended,
    overwritten,
    touched,
)
