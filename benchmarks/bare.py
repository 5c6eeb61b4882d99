"""Print the clock whenever a bare `awatch` loop hears of a change; runs in its own process."""

from __future__ import annotations

import sys
import time

import anyio
from watchfiles import awatch


async def main(folder: str) -> None:
    """Watch `folder` until killed."""
    print("ready", flush=True)
    async for _ in awatch(folder, step=10, debounce=50, watch_filter=None):
        print(time.monotonic(), flush=True)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
