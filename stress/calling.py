"""Call widgets all the while, and judge each answer by what was owed when it was asked for."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
from mcp_types import CallToolResult

from stress.churn import WHO, Churn, revision_of
from tests.serving import Connection, Era, connected

ERAS: tuple[Era, Era] = ("legacy", "modern")


class Tally:
    """What calls of churning widgets came to.

    Attributes:
        outcomes: How many were `whole`, `torn`, `stale`, `failed`, or `lost`: failed where the
            file was broken, so that its last good version was not served.
    """

    def __init__(self, churn: Churn) -> None:
        self._churn = churn
        self.outcomes: Counter[str] = Counter()

    @property
    def calls(self) -> int:
        """How many there were."""
        return self.outcomes.total()

    async def call(self, client: Connection, name: str) -> None:
        """Make one call, and count what it comes to."""
        owed, broken = self._churn.owed(name, time.monotonic()), name in self._churn.broken
        try:
            outcome = _judged(await client.call(name, who=WHO), owed)
        except Exception:  # noqa: BLE001 - whatever made a call fail, it failed
            outcome = "failed"
        self.outcomes["lost" if broken and outcome == "failed" else outcome] += 1

    async def keep_calling(self, client: Connection, first: int, over: anyio.Event) -> None:
        """Call one widget after the other until it is over.

        Args:
            client: Who calls.
            first: Where to begin, so that not all clients call the same.
            over: Ends it.
        """
        names = self._churn.names
        while not over.is_set():
            await self.call(client, names[first % len(names)])
            first += 7


def _judged(result: CallToolResult, owed: int) -> str:
    if result.is_error or result.structured_content is None:
        return "failed"
    revision = revision_of(result.structured_content)
    if revision is None:
        return "torn"
    return "whole" if revision >= owed else "stale"


@asynccontextmanager
async def both_eras(url: str, count: int) -> AsyncIterator[list[Connection]]:
    """So many clients, of either era in turn."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(connected(url, ERAS[number % 2]))
            for number in range(count)
        ]


async def converged(client: Connection, churn: Churn, within_s: float) -> tuple[str, ...]:
    """The widgets that still show something else than the disk, which rests, after so long."""
    behind = deque(churn.names)
    with anyio.move_on_after(within_s):
        while behind:
            if await shown(client, behind[0]) == churn.revisions[behind[0]]:
                behind.popleft()
            else:
                behind.rotate()
    # Asking takes time as well, and what is late only in that is not behind.
    revisions = churn.revisions
    return tuple([name for name in behind if await shown(client, name) != revisions[name]])


async def shown(client: Connection, name: str) -> int | None:
    """The revision that a widget shows; None if it shows none, or two."""
    tree = (await client.call(name, who=WHO)).structured_content
    return None if tree is None else revision_of(tree)
