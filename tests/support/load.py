"""Calls all the time while something else happens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc

from tests.support.clients import connect_client
from tests.support.patience import PATIENCE_S

CALLERS = 3
LAST_CALLS = 5
"""Calls of each caller after the block has done its work."""


@asynccontextmanager
async def under_load(url: str, tool: str, **arguments: Any) -> AsyncIterator[list[object]]:
    """Call a tool one call after the other, by several clients; yield the content of failures."""
    counts = [0] * CALLERS
    failures: list[object] = []

    async def call(caller: int, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with connect_client(url, "modern") as client:
            task_status.started()
            while True:
                result = await client.call(tool, **arguments)
                counts[caller] += 1
                if result.is_error:
                    failures.append(result.content)

    async with anyio.create_task_group() as tasks:
        for caller in range(CALLERS):
            await tasks.start(call, caller)
        yield failures
        before = list(counts)
        with anyio.fail_after(PATIENCE_S):
            while min(now - was for now, was in zip(counts, before, strict=True)) < LAST_CALLS:  # noqa: ASYNC110 - a caller tells nothing
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
