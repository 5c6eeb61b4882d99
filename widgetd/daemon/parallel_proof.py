"""Proofs made by other processes while a start makes its own, from the folder's other end.

Proving holds the interpreter's lock, so threads would not help. The processes are forks,
created while there is one thread and before the server's libraries are imported, which
takes as long as a small folder. Each reads its share of the folder and writes proofs to a
file in memory, in the format of the state folder; a proof counts for the same path and
digest. The start proves whatever is missing itself, so nothing depends on the processes.
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

from widgetd.base.errors import WidgetError
from widgetd.base.files.folder import open_folder
from widgetd.base.files.source import Source, Unsettled
from widgetd.base.files.walk import HIDDEN, walk
from widgetd.base.limits import Limits
from widgetd.core.widget.definition import compute_digest
from widgetd.core.widget.widget import Proof
from widgetd.daemon import watchdog
from widgetd.daemon.limits import LIMITS
from widgetd.daemon.parser_process import limit_resources
from widgetd.daemon.startup import gc_tuned
from widgetd.server.catalog.loader import WIDGET_SUFFIXES, read_pair
from widgetd.server.catalog.proof_cache import ProofRecord, decode, encode

Prove = Callable[[Source, Source | None], Proof]
"""Proves a widget from its source and sidecar; raises `WidgetError` if it cannot be served."""


class ParallelProofs:
    """The proofs that the other processes have made so far.

    Args:
        files: The descriptor that each of them writes to.
        children: Their process ids.
    """

    def __init__(self, files: Sequence[int], children: Sequence[int] = ()) -> None:
        self._files = list(files)
        self._children = list(children)
        self._read_bytes = dict.fromkeys(files, 0)
        self._rest = dict.fromkeys(files, b"")
        self._proofs: dict[str, ProofRecord] = {}

    def take(self, path: str, content: str) -> Proof | None:
        """Return the proof of the file at `path` with this digest; None if there is none yet."""
        for file in self._files:
            if chunk := os.pread(file, LIMITS.proof_chunk_bytes, self._read_bytes[file]):
                self._read_bytes[file] += len(chunk)
                *lines, self._rest[file] = (self._rest[file] + chunk).split(b"\n")
                records = filter(None, map(decode, lines))
                self._proofs.update((record.path, record) for record in records)
        proven = self._proofs.pop(path, None)
        return proven.proof if proven is not None and proven.digest == content else None

    def end(self) -> None:
        while self._children:
            child = self._children.pop()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        while self._files:
            os.close(self._files.pop())
        self._proofs.clear()


@contextmanager
def proving_in_parallel(root: Path, prove: Prove, *, known: int) -> Iterator[ParallelProofs | None]:
    """Prove the files of `root` in other processes while the block runs.

    Args:
        root: The widgets folder.
        prove: Proves one file.
        known: The number of files that need no proof.

    Yields:
        The proofs; None if other processes would not pay.
    """
    processes = _process_count(root, known)
    if not processes:
        yield None
        return
    parent, files, children = os.getpid(), [], []
    # The forks share the memory of existing objects until a collection writes to it.
    gc.freeze()
    for number in range(processes):
        file = os.memfd_create("proofs")
        child = os.fork()
        if child == 0:
            _run(root, prove, file, share=slice(number, None, processes), parent=parent)
        files.append(file)
        children.append(child)
    proofs = ParallelProofs(files, children)
    try:
        yield proofs
    finally:
        proofs.end()


def _process_count(root: Path, known: int) -> int:
    """Return how many further processes pay for `root`."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 0
    count = -known
    for _, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        count += sum(name.endswith(WIDGET_SUFFIXES) for name in files)
    wanted = 0 if count < LIMITS.proof_files else 1 + count // LIMITS.proof_files_each
    return min(wanted, len(os.sched_getaffinity(0)) - 1, LIMITS.proof_processes)


def _run(root: Path, prove: Prove, file: int, *, share: slice, parent: int) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        with gc_tuned(), open_folder(root) as folder, open(file, "wb", buffering=0) as proofs:
            # The last file first, because the start itself begins with the first.
            for path in sorted(walk(folder, "", WIDGET_SUFFIXES).files, reverse=True)[share]:
                if os.getppid() != parent:
                    break
                # The kernel ends the process if one file takes too long.
                watchdog.renew()
                limit_resources()
                with suppress(WidgetError, Unsettled, FileNotFoundError):
                    source, sidecar = read_pair(folder, path, limit_bytes=Limits().file_bytes)
                    proof, content = prove(source, sidecar), compute_digest(source, sidecar)
                    proofs.write(
                        encode(ProofRecord(version="", path=path, digest=content, proof=proof))
                    )
            os._exit(0)
    except BaseException:  # noqa: BLE001 - the start proves whatever is missing
        os._exit(1)
