"""Call widgets continuously, and check each answer against the oldest revision allowed then."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
from mcp_types import CallToolResult

from stress.churn import WHO, Churn, revision_of
from tests.support.clients import Connection, Era, connect_client

ERAS: tuple[Era, Era] = ("legacy", "modern")


class Tally:
    """The outcomes of calls of widgets that change continuously.

    Attributes:
        outcomes: Number of calls that were `whole`, `torn`, `stale`, `failed`, or `lost`: failed
            while the file was broken, so that its last good version was not served.
    """

    def __init__(self, churn: Churn) -> None:
        self._churn = churn
        self.outcomes: Counter[str] = Counter()

    @property
    def calls(self) -> int:
        """Return the number of calls."""
        return self.outcomes.total()

    async def call(self, client: Connection, name: str) -> None:
        """Make one call, and count its outcome."""
        owed, broken = (
            self._churn.oldest_allowed(name, time.monotonic()),
            name in self._churn.broken,
        )
        try:
            outcome = _classify(await client.call(name, who=WHO), owed)
        except Exception:  # noqa: BLE001 - any reason counts as a failure
            outcome = "failed"
        self.outcomes["lost" if broken and outcome == "failed" else outcome] += 1

    async def keep_calling(self, client: Connection, first: int, over: anyio.Event) -> None:
        """Call one widget after the other until `over` is set.

        Args:
            client: Makes the calls.
            first: Index of the first widget, so that clients call different ones.
            over: Ends the calls.
        """
        names = self._churn.names
        while not over.is_set():
            await self.call(client, names[first % len(names)])
            first += 7


def _classify(result: CallToolResult, owed: int) -> str:
    if result.is_error or result.structured_content is None:
        return "failed"
    revision = revision_of(result.structured_content)
    if revision is None:
        return "torn"
    return "whole" if revision >= owed else "stale"


@asynccontextmanager
async def both_eras(url: str, count: int) -> AsyncIterator[list[Connection]]:
    """Connect `count` clients, of both eras alternately."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(connect_client(url, ERAS[number % 2]))
            for number in range(count)
        ]


async def find_behind(client: Connection, churn: Churn, within_s: float) -> tuple[str, ...]:
    """Return the widgets that still differ from the disk, which is unchanged, after `within_s`."""
    behind = deque(churn.names)
    with anyio.move_on_after(within_s):
        while behind:
            if await read_revision(client, behind[0]) == churn.revisions[behind[0]]:
                behind.popleft()
            else:
                behind.rotate()
    # The calls take time as well, so those that seem late are called once more.
    revisions = churn.revisions
    return tuple([name for name in behind if await read_revision(client, name) != revisions[name]])


async def read_revision(client: Connection, name: str) -> int | None:
    """Return the revision that a widget shows; None if it shows none, or two."""
    tree = (await client.call(name, who=WHO)).structured_content
    return None if tree is None else revision_of(tree)
