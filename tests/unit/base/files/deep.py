"""Folders in folders, deeper than a path can name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST = 4096
"""The kernel takes no path of so many bytes, its end counted."""

STEP = "d" * 250


@contextmanager
def deep(root: Path, length: int) -> Iterator[str]:
    """Yield a file at the end of a path of about `length` bytes, including `root`, by its path.

    Made one step at a time, as `tar` does, and gone when the block ends.
    """
    at, path = os.open(root, os.O_RDONLY), ""
    while len(f"{root}/{path}") < length - len(STEP) - 1:
        os.mkdir(STEP, dir_fd=at)
        below = os.open(STEP, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at, path = below, f"{path}{STEP}/"
    # The last step has what is left, a byte at least, so that a limit can be met to the byte.
    last = "e" * max(1, length - len(f"{root}/{path}"))
    os.mkdir(last, dir_fd=at)
    inside = os.open(last, os.O_RDONLY, dir_fd=at)
    os.close(at)
    os.close(os.open("deep.widget", os.O_CREAT | os.O_WRONLY, dir_fd=inside))
    os.close(inside)
    try:
        yield f"{path}{last}/deep.widget"
    finally:
        shutil.rmtree(root / STEP)
