"""Run tests as a user whom permissions stop, since they do not stop root."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNAUTHENTICATED = 65534


@contextmanager
def stopped_by_permissions() -> Iterator[Path]:
    """Yield a folder, and run the block as its owner, who is not root."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(UNAUTHENTICATED)
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    finally:
        if is_root:
            os.seteuid(0)
