"""A daemon for each example, so that one command runs it.

python -m examples.served COMMAND…      runs COMMAND, with the daemon's URL behind it
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

BUNDLED = Path(__file__).resolve().parent.parent / "widgets"


@asynccontextmanager
async def serve_widgets(folder: Path = BUNDLED) -> AsyncIterator[str]:
    """Serve `folder` with `widgetd serve` on a free port and yield its URL."""
    command = [sys.executable, "-m", "widgetd", "serve", str(folder)]
    flags = ["--port", "0", "--log-level", "warning"]
    # The settings in the environment are meant for the reader's own daemon.
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("WIDGETD_")
    }
    process = await anyio.open_process([*command, *flags], env=environment, stderr=None)
    async with process:
        try:
            with anyio.fail_after(30):
                url = await _read_url(process)
            yield url
        finally:
            if process.returncode is None:
                process.terminate()


async def _read_url(process: Process) -> str:
    """Read the URL from the daemon's greeting."""
    assert process.stdout is not None, "anyio opens a pipe for it"  # noqa: S101 - for the types
    said = ""
    async for text in TextReceiveStream(process.stdout):
        said += text
        if found := re.search(r"on (http://\S+)\n", said):
            return found[1]
    raise RuntimeError("widgetd ended before it served anything; it says why above")


async def main(command: list[str]) -> int:
    """Run `command` with the URL of a daemon behind it, and return its exit code."""
    async with serve_widgets() as url:
        result = await anyio.run_process([*command, url], check=False, stdout=None, stderr=None)
    return result.returncode


if __name__ == "__main__":
    sys.exit(anyio.run(main, sys.argv[1:]))
