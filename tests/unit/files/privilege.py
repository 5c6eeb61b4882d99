"""Run as someone whom permissions stop, for they do not stop root."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNAUTHENTICATED = 65534


@contextmanager
def stopped_by_permissions() -> Iterator[Path]:
    """A folder whose owner, not root, is who runs the test until the end of the block."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(UNAUTHENTICATED)
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    finally:
        if is_root:
            os.seteuid(0)
