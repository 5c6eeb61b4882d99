"""Servers and watchers in processes of their own, ended when a block ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

ROOT = Path(__file__).resolve().parents[1]

# As installed, byte code is there: the first run of each writes it, whatever this shell prefers.
AS_INSTALLED = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A running process.

    Attributes:
        process: The process.
        says: What it prints.
        hears: What it reads.
        logged: What it writes to stderr.
    """

    process: subprocess.Popen[bytes]
    says: IO[bytes]
    hears: IO[bytes]
    logged: IO[bytes]

    def ask(self, line: str) -> str:
        """Send a line, and take the line that answers it."""
        self.hears.write(line.encode() + b"\n")
        self.hears.flush()
        return self.line()

    def line(self) -> str:
        """Return the next line that the process prints."""
        line = self.says.readline()
        assert line, f"it ended with {self.process.wait()}: {self.last_words()}"
        return line.decode().strip()

    def last_words(self) -> str:
        """Return the end of what it wrote to stderr."""
        self.logged.seek(0)
        return self.logged.read().decode(errors="replace")[-2000:]

    @property
    def rss_bytes(self) -> int:
        """Return the resident memory of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        match = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert match is not None, status
        return int(match.group(1)) * 1024


@contextmanager
def child(command: Sequence[str]) -> Iterator[Child]:
    """Run `command` without the caller's settings, and kill it when the block ends."""
    environment = {name: v for name, v in AS_INSTALLED.items() if not name.startswith("WIDGETD_")}
    with (
        TemporaryFile() as logged,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=logged,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield Child(process=process, says=process.stdout, hears=process.stdin, logged=logged)
        finally:
            process.kill()


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that answers.

    Attributes:
        child: Its process.
        url: Where MCP is served.
    """

    child: Child
    url: str


@contextmanager
def server(command: Sequence[str]) -> Iterator[Server]:
    """Start a server and wait until it prints its URL."""
    with child(command) as running:
        while True:
            url = re.search(r"http://\S+", running.line())
            if url is not None:
                break
        yield Server(child=running, url=url.group())


@contextmanager
def sharing_a_processor(*servers: Server, with_caller: bool = False) -> Iterator[None]:
    """Run the servers of a block on one processor, so that no arm has the faster one.

    Args:
        servers: The arms.
        with_caller: Whether this process, which calls them, has no other either: to wake a
            processor that rests takes up to half as long as a call, whoever serves it.
    """
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(allowed) < 2:
        yield
        return
    for each in servers:
        for thread in Path(f"/proc/{each.child.process.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), allowed[-1:])
    os.sched_setaffinity(0, allowed[-1:] if with_caller else allowed[:-1])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """Build the command that runs a module with this interpreter."""
    return (sys.executable, "-m", module, *arguments)


def daemon_command(
    folder: Path, *flags: str, port: int = 0, command: str = "serve"
) -> tuple[str, ...]:
    """Build the command that serves `folder` with the defaults of the command line."""
    return python("widgetd", command, str(folder), "--port", str(port), *flags)


def widgetd(folder: Path, *flags: str) -> AbstractContextManager[Server]:
    """Start a daemon that serves `folder`."""
    return server(daemon_command(folder, *flags))
