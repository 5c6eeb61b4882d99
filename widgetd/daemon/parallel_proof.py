"""Proofs made by forks while a start imports its libraries.

A start draws nothing without a proof itself: the forks do, within limits of the kernel. They
are created while there is a single thread and before the server's libraries are imported, which
takes as long as a small folder. Each reads its share of the folder and writes proofs to a file in
memory, in the format of the state folder. A proof counts for the same path and digest. Files left
out by the forks, because a content ended a fork or the file changed, go to the parser process.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from select import select
from typing import NoReturn

from widgetd.base.errors import WidgetError
from widgetd.base.files.folder import open_folder
from widgetd.base.files.source import Source, Unsettled
from widgetd.base.files.walk import HIDDEN, walk
from widgetd.base.limits import Limits
from widgetd.base.processes import limit_resources
from widgetd.core.widget.definition import compute_digest
from widgetd.core.widget.widget import Proof, Widget
from widgetd.daemon import watchdog
from widgetd.daemon.limits import LIMITS
from widgetd.daemon.parser_process import LIMITS as PARSER_LIMITS
from widgetd.daemon.parser_process import REPLY_S, draw_samples
from widgetd.daemon.startup import gc_tuned
from widgetd.server.catalog.loader import WIDGET_SUFFIXES, read_pair
from widgetd.server.catalog.proof_cache import ProofRecord, decode, encode

Prove = Callable[[Source, Source | None], Widget]
"""Proves a widget from its source and sidecar; raises `WidgetError` if it cannot be served."""


@dataclass(slots=True, kw_only=True)
class ProvingFork:
    """A fork with a share of the folder to prove.

    Attributes:
        pid: Its process id.
        file: The descriptor of its output file.
        written: The end of a pipe with a byte for each line, closed with the fork.
        read_bytes: The length of the file read so far.
        rest: The beginning of a line not yet complete.
    """

    pid: int
    file: int
    written: int
    read_bytes: int = 0
    rest: bytes = b""

    def read(self) -> Iterator[bytes]:
        """Yield the new lines, without their ends."""
        while chunk := os.pread(self.file, LIMITS.proof_chunk_bytes, self.read_bytes):
            self.read_bytes += len(chunk)
            *lines, self.rest = (self.rest + chunk).split(b"\n")
            yield from lines


class ParallelProofs:
    """The proofs of the forks, each awaited when it is requested."""

    def __init__(self, forks: Sequence[ProvingFork]) -> None:
        self._forks = list(forks)
        self._working = {fork.written for fork in forks}
        self._proofs: dict[str, ProofRecord] = {}
        self._done: set[str] = set()

    def take(self, path: str, content: str) -> Proof | None:
        """Return the proof of the file at `path` with this digest, None if no fork made it.

        Blocks until a fork has tried the file, or all have ended.
        """
        self._read()
        while path not in self._done and self._wait():
            self._read()
        record = self._proofs.pop(path, None)
        return record.proof if record is not None and record.digest == content else None

    def _read(self) -> None:
        for fork in self._forks:
            for line in fork.read():
                if (record := decode(line)) is not None:
                    self._proofs[record.path] = record
                    self._done.add(record.path)
                else:
                    self._done.add(line.decode(errors="replace"))

    def _wait(self) -> bool:
        """Wait until a fork has written a line or ended. False if none is left."""
        if not self._working:
            return False
        ready, _, _ = select(self._working, [], [], REPLY_S)
        self._working -= {pipe for pipe in ready if not os.read(pipe, LIMITS.proof_chunk_bytes)}
        if not ready:
            self._working.clear()
        # The last lines of a fork are read after its end.
        return True

    def end(self) -> None:
        """End the forks and forget their proofs."""
        self._working.clear()
        while self._forks:
            fork = self._forks.pop()
            os.kill(fork.pid, signal.SIGKILL)
            os.waitpid(fork.pid, 0)
            os.close(fork.file)
            os.close(fork.written)
        self._proofs.clear()


@contextmanager
def proving_in_parallel(
    root: Path, prove: Prove, *, proof_count: int
) -> Iterator[ParallelProofs | None]:
    """Prove the files of `root` in forks while the block runs.

    Args:
        root: The widgets folder.
        prove: Proves a file.
        proof_count: The number of proofs of earlier processes.

    Yields:
        The proofs, None if nothing is to prove, or this process cannot fork.
    """
    processes = _process_count(root, proof_count)
    if not processes:
        yield None
        return
    parent, forks = os.getpid(), list[ProvingFork]()
    # The forks share the memory of existing objects until a collection writes to it.
    gc.freeze()
    for number in range(processes):
        file = os.memfd_create("proofs")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            for fork in forks:
                os.close(fork.written)
            os.close(reader)
            share = slice(number, None, processes)
            _run(root, prove, file, writer, share=share, parent=parent)
        os.close(writer)
        forks.append(ProvingFork(pid=child, file=file, written=reader))
    proofs = ParallelProofs(forks)
    try:
        yield proofs
    finally:
        proofs.end()


def _process_count(root: Path, proof_count: int) -> int:
    if sys.platform != "linux" or threading.active_count() > 1:
        return 0
    count = -proof_count
    for _, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        count += sum(name.endswith(WIDGET_SUFFIXES) for name in files)
    wanted = 0 if count <= 0 else 1 + count // LIMITS.proof_files_each
    return min(wanted, len(os.sched_getaffinity(0)), LIMITS.proof_processes)


def _run(root: Path, prove: Prove, file: int, pipe: int, *, share: slice, parent: int) -> NoReturn:
    """Prove a share of the folder in a fork, and end it."""
    try:
        signal.set_wakeup_fd(-1)
        os.set_blocking(pipe, False)
        with gc_tuned(), open_folder(root) as folder, open(file, "wb", buffering=0) as proofs:
            # The first file first, because the start waits for it.
            for path in sorted(walk(folder, "", WIDGET_SUFFIXES).files)[share]:
                if os.getppid() != parent:
                    break
                # The kernel ends the process if a file takes too long.
                watchdog.renew()
                limit_resources(PARSER_LIMITS)
                line = path.encode() + b"\n"
                with suppress(WidgetError, Unsettled, FileNotFoundError):
                    source, sidecar = read_pair(folder, path, limit_bytes=Limits().file_bytes)
                    widget, content = prove(source, sidecar), compute_digest(source, sidecar)
                    draw_samples(widget)
                    proof = widget.prove()
                    record = ProofRecord(version="", path=path, digest=content, proof=proof)
                    line = encode(record)
                proofs.write(line)
                # In a full pipe there is something to read in any case.
                with suppress(BlockingIOError):
                    os.write(pipe, b".")
            os._exit(0)
    except BaseException:  # noqa: BLE001 - the parser process tries whatever is missing
        os._exit(1)
