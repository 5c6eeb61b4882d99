"""A task that runs beside a block of code and ends with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio


@asynccontextmanager
async def while_running(run: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run a task during the block; the error of either of them is raised as itself.

    A task group raises even a single error within a group, which no `except CallError` around it
    catches. If both fail, their errors are raised in one group.
    """
    failure = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            yield
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        failure = group.exceptions[0]
    # Not in the `except`, where the group would become the context of the error.
    if failure is not None:
        raise failure
