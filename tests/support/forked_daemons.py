"""Daemons forked from a process that has imported widgetd, for tests of signals and exits.

They are `widgetd serve` as `tests.support.processes` starts it, without the second of processor
time that its imports take. Tests of the command line itself, of memory and of what `ps` shows
start a process of their own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import anyio

from tests.support.patience import PATIENCE_S
from tests.support.processes import WIDGETD, Served, daemon_environment, served_url

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["widgetd.daemon.serve", "widgetd.cli.serve"])


class ForkedProcess:
    """A forked child with the methods of `anyio.abc.Process` that tests use."""

    def __init__(self, process: ForkServerProcess, output: Connection) -> None:
        assert process.pid is not None
        self._process = process
        self._output = output
        self.pid: int = process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def receive(self) -> bytes:
        """Return the next bytes of standard output, as a stream of anyio does."""
        await anyio.wait_readable(self._output)
        if not (data := os.read(self._output.fileno(), 65_536)):
            raise anyio.EndOfStream
        return data

    async def wait(self) -> int:
        """Wait for the end and return the exit code, negative for a signal."""
        if self.returncode is None:
            await anyio.wait_readable(self._process.sentinel)
            self._process.join()
        assert self.returncode is not None
        return self.returncode


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    log: Path | None
    before: str


@asynccontextmanager
async def forked_daemon(
    folder: Path | None,
    *flags: str,
    command: str = "serve",
    port: int = 0,
    log: Path | None = None,
    environment: Mapping[str, str] | None = None,
    before: str = "",
) -> AsyncIterator[Served]:
    """Run `widgetd serve` in a fork, and kill it at the end if it still runs.

    Args:
        folder: The folder to serve; None for the one that the command begins with.
        flags: Further arguments of the command line.
        command: The command that serves.
        port: The port; 0 for any free one.
        log: The file to append the log to; None for the test's standard error.
        environment: Further variables of its environment.
        before: A program that the fork runs first, as to put in a fault.
    """
    folders = () if folder is None else (str(folder),)
    child, reader = _start(
        _Command(
            arguments=(command, *folders, "--port", str(port), *flags),
            environment={**daemon_environment(), **(environment or {})},
            folder=Path.cwd(),
            log=log,
            before=before,
        )
    )
    with reader:
        process = ForkedProcess(child, reader)
        try:
            greeting = ""
            with anyio.fail_after(PATIENCE_S), suppress(anyio.EndOfStream):
                while greeting.count("\n") < 2:
                    greeting += (await process.receive()).decode()
            yield Served(process=process, url=served_url(greeting), greeting=greeting)
        finally:
            process.kill()
            child.join()


async def run_forked(
    *arguments: str,
    log: Path | None = None,
    environment: Mapping[str, str] | None = None,
    before: str = "",
) -> int:
    """Run `widgetd` with `arguments` in a fork until it ends, and return its exit code.

    Args:
        arguments: The command line.
        log: The file to append standard error to; None for the test's own.
        environment: Further variables of its environment.
        before: A program that the fork runs first.
    """
    command = _Command(
        arguments=arguments,
        environment={**daemon_environment(), **(environment or {})},
        folder=Path.cwd(),
        log=log,
        before=before,
    )
    child, reader = _start(command)
    with reader, anyio.fail_after(3 * PATIENCE_S):
        try:
            return await ForkedProcess(child, reader).wait()
        finally:
            child.kill()
            child.join()


def _start(command: _Command) -> tuple[ForkServerProcess, Connection]:
    reader, writer = FORKS.Pipe(duplex=False)
    with writer:
        child = FORKS.Process(target=_run, args=(command, writer))
        child.start()
    return child, reader


def _run(command: _Command, output: Connection) -> None:
    """Become `widgetd` with these arguments; everything else is as in a new process."""
    from widgetd.__main__ import main

    os.dup2(output.fileno(), 1)
    output.close()
    if command.log is not None:
        with command.log.open("ab") as file:
            os.dup2(file.fileno(), 2)
    # The inherited ones know what was open before: a file that can be sought.
    sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
    os.environ.clear()
    os.environ.update(command.environment)
    os.chdir(command.folder)
    sys.argv = ["widgetd", *command.arguments]
    sys.orig_argv = [*WIDGETD, *command.arguments]  # `widgetd dev` restarts itself with it
    exec(command.before, {})
    sys.exit(main())
