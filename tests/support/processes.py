"""A daemon in a child process, for tests of signals, exits and the command line."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from tests.support.patience import PATIENCE_S

if TYPE_CHECKING:
    from tests.support.forked_daemons import ForkedProcess

WIDGETD = (sys.executable, "-m", "widgetd")


@dataclass
class Served:
    """A running `widgetd serve`.

    Attributes:
        process: The process.
        url: The URL of MCP.
        greeting: The text printed at the start.
    """

    process: Process | ForkedProcess
    url: str
    greeting: str

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def wait_for_end(self, within_s: float = PATIENCE_S) -> int:
        """Wait for the end and return the exit code."""
        with anyio.fail_after(within_s):
            return await self.process.wait()


@asynccontextmanager
async def daemon_process(
    folder: Path,
    *flags: str,
    port: int = 0,
    log: Path | None = None,
    program: Sequence[str] = WIDGETD,
) -> AsyncIterator[Served]:
    """Run `widgetd serve`, and kill it at the end if it still runs.

    Args:
        folder: The folder to serve.
        flags: Further arguments of the command line.
        port: The port; 0 for any free one.
        log: The file to append the log to; None for the test's standard error.
        program: The command of widgetd.
    """
    command = [*program, "serve", str(folder), "--port", str(port), *flags]
    with nullcontext() if log is None else log.open("ab") as stderr:
        process = await anyio.open_process(command, env=daemon_environment(), stderr=stderr)
    try:
        assert process.stdout is not None
        greeting = ""
        with anyio.fail_after(PATIENCE_S):
            async for text in TextReceiveStream(process.stdout):
                greeting += text
                if greeting.count("\n") >= 2:
                    break
        yield Served(process=process, url=served_url(greeting), greeting=greeting)
    finally:
        if process.returncode is None:
            process.kill()
        await process.aclose()


def daemon_environment() -> dict[str, str]:
    """Return this process's environment without settings of widgetd, and without links."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("WIDGETD_")}
    return {**others, "WIDGETD_LINKS": "never"}


def served_url(greeting: str) -> str:
    url = re.search(r"http://\S+", greeting)
    assert url is not None, greeting
    return url.group()
