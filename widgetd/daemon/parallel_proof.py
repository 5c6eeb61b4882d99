"""Prove a folder from its other end, in other processes, while a start does from this one.

Proving holds the interpreter's lock, so a thread would be no help. The processes are
forks, made while there is but one thread, and before the libraries of the server are
imported, which takes as long as a small folder does. Each reads its share of the folder
by itself, and writes what it proved to a file in memory: proofs as the state directory
keeps them, believed for the same path and digest. Whatever it does not tell, in time or
at all, is proven here, so nothing depends on it.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from widgetd.catalog.loader import WIDGET_SUFFIXES, read_pair
from widgetd.catalog.proof_cache import Proven, line, read
from widgetd.daemon.parser_process import limit_resources
from widgetd.daemon.startup import gc_tuned
from widgetd.errors import WidgetError
from widgetd.files.folder import open_folder
from widgetd.files.source import Source, Unsettled
from widgetd.files.walk import HIDDEN, walk
from widgetd.limits import Limits
from widgetd.widget.definition import digest
from widgetd.widget.widget import Proof

MANY = 8
"""Fewer files are proven sooner than a second process has begun to be of use."""

EACH = 256
"""For so many files more there is one process more, as far as there are processors."""

MOST = 3
"""Processes beside this one; each takes memory of its own."""

_CHUNK_BYTES = 1 << 20

Prove = Callable[[Source, Source | None], Proof]
"""Source and sidecar to what is known of the widget; raises `WidgetError` where there is none."""


class ParallelProofs:
    """What the other processes have proven so far.

    Args:
        files: What each of them writes to.
        children: Which processes they are.
    """

    def __init__(self, files: Sequence[int], children: Sequence[int] = ()) -> None:
        self._files = list(files)
        self._children = list(children)
        self._read_bytes = dict.fromkeys(files, 0)
        self._rest = dict.fromkeys(files, b"")
        self._proofs: dict[str, Proven] = {}

    def take(self, path: str, content: str) -> Proof | None:
        """The proof of the file at `path` with this digest, if it is proven by now."""
        for file in self._files:
            if heard := os.pread(file, _CHUNK_BYTES, self._read_bytes[file]):
                self._read_bytes[file] += len(heard)
                *lines, self._rest[file] = (self._rest[file] + heard).split(b"\n")
                told = filter(None, map(read, lines))
                self._proofs.update((proven.path, proven) for proven in told)
        proven = self._proofs.pop(path, None)
        return proven.proof if proven is not None and proven.digest == content else None

    def end(self) -> None:
        """End the processes, and forget what they told."""
        while self._children:
            child = self._children.pop()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        while self._files:
            os.close(self._files.pop())
        self._proofs.clear()


@contextmanager
def proving_in_parallel(
    root: Path, prove: Prove, *, known: int, renew: Callable[[], None] | None = None
) -> Iterator[ParallelProofs | None]:
    """Other processes that prove the files of `root`, ended with the block; None without need.

    Args:
        root: The widgets folder.
        prove: What they do with each.
        known: How many of them need no proof.
        renew: Called by each of these processes before each file, so that a watchdog of its own
            ends it if it stays with one.
    """
    processes = _processes(root, known)
    if not processes:
        yield None
        return
    parent, files, children = os.getpid(), [], []
    # What is there now is shared by all of them for as long as no collector touches it.
    gc.freeze()
    for number in range(processes):
        file = os.memfd_create("proofs")
        child = os.fork()
        if child == 0:
            share = slice(number, None, processes)
            _run(root, prove, file, share=share, parent=parent, renew=renew)
        files.append(file)
        children.append(child)
    proofs = ParallelProofs(files, children)
    try:
        yield proofs
    finally:
        proofs.end()


def _processes(root: Path, known: int) -> int:
    """How many processes are worth their while."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 0
    count = -known
    for _, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        count += sum(name.endswith(WIDGET_SUFFIXES) for name in files)
    wanted = 0 if count < MANY else 1 + count // EACH
    return min(wanted, len(os.sched_getaffinity(0)) - 1, MOST)


def _run(
    root: Path,
    prove: Prove,
    file: int,
    *,
    share: slice,
    parent: int,
    renew: Callable[[], None] | None,
) -> NoReturn:
    """Be one of the other processes."""
    try:
        signal.set_wakeup_fd(-1)
        with gc_tuned(), open_folder(root) as folder, open(file, "wb", buffering=0) as told:
            # The last file first: who waits for these proofs begins with the first.
            for path in sorted(walk(folder, "", WIDGET_SUFFIXES).files, reverse=True)[share]:
                if os.getppid() != parent:
                    break
                if renew is not None:
                    renew()
                limit_resources()
                with suppress(WidgetError, Unsettled, FileNotFoundError):
                    source, sidecar = read_pair(folder, path, limit_bytes=Limits().file_bytes)
                    proof, content = prove(source, sidecar), digest(source, sidecar)
                    told.write(line(Proven(version="", path=path, digest=content, proof=proof)))
            os._exit(0)
    except BaseException:  # noqa: BLE001 - what it fails at is done without it
        os._exit(1)
