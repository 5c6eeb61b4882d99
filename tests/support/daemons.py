"""A daemon over a real folder, for tests; every wait is inside `anyio.fail_after`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.patience import PATIENCE_S
from widgetd.daemon.serve import serve
from widgetd.server.wing import Wing
from widgetd.settings import Settings

try:
    from widgetd.daemon.wings import WINGS
except ImportError:  # in `make test-core`
    WINGS: Sequence[Wing[Any]] = ()  # type: ignore[no-redef]

needs_wings = pytest.mark.skipif(not WINGS, reason="what it looks at is a wing's")


@asynccontextmanager
async def serving(folder: Path, **settings: Any) -> AsyncIterator[str]:
    """Serve `folder` until the block ends and yield the URL of MCP."""
    url = ""
    stop, started = anyio.Event(), anyio.Event()

    def on_start(served_url: str, _widgets: int) -> None:
        nonlocal url
        url = served_url
        started.set()

    # Most tests read the text of a widget alone.
    chosen = Settings(**{"dir": folder, "port": 0, "links": "never", **settings})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(serve, chosen, folder, started=on_start, wings=WINGS, stop=stop))
        with anyio.fail_after(PATIENCE_S):
            await started.wait()
        try:
            yield url
        finally:
            stop.set()
