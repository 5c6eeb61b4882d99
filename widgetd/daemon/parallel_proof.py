"""Prove a large folder from its other end, in another process, while a start does from this one.

Proving holds the interpreter's lock, so a thread would be no help. The process is a
fork, made while there is but one thread. It reads the folder by itself, and tells
what it proved through a pipe: proofs as the state directory keeps them, believed
for the same path and digest. Whatever it does not tell, in time or at all, is proven
here, so nothing depends on it.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from widgetd.catalog.loader import WIDGET_SUFFIX, read_pair
from widgetd.catalog.proof_cache import Proven, line, read
from widgetd.errors import WidgetError
from widgetd.files.folder import opened
from widgetd.files.source import Source, Unsettled
from widgetd.files.walk import HIDDEN, walk
from widgetd.limits import Limits
from widgetd.widget.definition import digest
from widgetd.widget.widget import Proof

MANY = 256
"""Fewer files are proven sooner than a second process has begun to be of use."""

_CHUNK_BYTES = 1 << 20

Prove = Callable[[Source, Source | None], Proof]
"""Source and sidecar to what is known of the widget; raises `WidgetError` where there is none."""


class ParallelProofs:
    """What the other process has proven so far.

    Args:
        descriptor: The end of the pipe to read from.
    """

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._rest = b""
        self._proofs: dict[str, Proven] = {}

    def take(self, path: str, content: str) -> Proof | None:
        """The proof of the file at `path` with this digest, if it is proven by now."""
        with suppress(BlockingIOError):
            heard = self._rest + os.read(self._descriptor, _CHUNK_BYTES)
            *lines, self._rest = heard.split(b"\n")
            self._proofs.update((each.path, each) for each in map(read, lines) if each is not None)
        proven = self._proofs.pop(path, None)
        return proven.proof if proven is not None and proven.digest == content else None


@contextmanager
def proving_in_parallel(
    root: Path, prove: Prove, *, known: int, renew: Callable[[], None] | None = None
) -> Iterator[ParallelProofs | None]:
    """A second process that proves the files of `root`, ended with the block; None without need.

    Args:
        root: The widgets folder.
        prove: What it does with each.
        known: How many of them need no proof.
        renew: Called by the other process before each file, so that a watchdog of its own ends it
            if it stays with one.
    """
    if not _is_worthwhile(root, known):
        yield None
        return
    reading, writing = os.pipe()
    # What is there now is shared by both processes for as long as neither's collector touches it.
    gc.freeze()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run(root, prove, writing, renew)
    os.close(writing)
    try:
        yield ParallelProofs(reading)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _is_worthwhile(root: Path, known: int) -> bool:
    if sys.platform != "linux" or threading.active_count() > 1 or len(os.sched_getaffinity(0)) < 2:
        return False
    count = 0
    for _, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        count += sum(name.endswith(WIDGET_SUFFIX) for name in files)
    return count - known >= MANY


def _run(root: Path, prove: Prove, writing: int, renew: Callable[[], None] | None) -> NoReturn:
    """Be the other process."""
    try:
        signal.set_wakeup_fd(-1)
        with opened(root) as folder, open(writing, "wb") as pipe:
            # The last file first: who waits for these proofs begins with the first.
            for path in sorted(walk(folder, "", (WIDGET_SUFFIX,)).files, reverse=True):
                if renew is not None:
                    renew()
                with suppress(WidgetError, Unsettled, FileNotFoundError):
                    source, sidecar = read_pair(folder, path, limit_bytes=Limits().file_bytes)
                    proof, content = prove(source, sidecar), digest(source, sidecar)
                    proven = Proven(version="", path=path, digest=content, proof=proof)
                    pipe.write(line(proven))
                    pipe.flush()
    except BaseException:  # noqa: BLE001 - what it fails at is done without it
        os._exit(1)
    os._exit(0)
