"""Save in every style while everybody calls, and count what anybody would have noticed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from stress.calling import Tally, both_eras, converged
from stress.churn import Churn
from stress.styles import STYLES
from stress.table import Row, none_of, told
from tests.process import daemon_process

WIDGETS = 40
PROMISE_S = 1.0
_PAUSE_S = 0.005
_BREAK_EVERY = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a storm of saves came to.

    Attributes:
        tally: What the calls came to.
        breaks: How often a file was left broken for a while.
        behind: The widgets that showed something else than the disk when the storm was over.
    """

    tally: Tally
    breaks: int
    behind: tuple[str, ...]


async def storm(
    folder: Path, *, mutations: int, clients: int, patience_s: float = PROMISE_S
) -> Outcome:
    """Save so often, with so many clients of both eras calling all the while.

    Args:
        folder: An empty folder.
        mutations: How many saves.
        clients: How many clients.
        patience_s: How long after the last save everything may take to equal the disk.
    """
    churn = Churn(folder, widgets=WIDGETS, promise_s=PROMISE_S, break_every=_BREAK_EVERY)
    tally = Tally(churn)
    over = anyio.Event()
    async with (
        daemon_process(folder, "--log-level", "error") as served,
        both_eras(served.url, clients) as connections,
        anyio.create_task_group() as tasks,
    ):
        for number, client in enumerate(connections):
            tasks.start_soon(tally.keep_calling, client, number, over)
        await anyio.to_thread.run_sync(churn.blow, mutations, _PAUSE_S)
        await anyio.to_thread.run_sync(churn.mend)
        over.set()
        behind = await converged(connections[0], churn, patience_s)
    return Outcome(tally=tally, breaks=churn.breaks, behind=behind)


async def rows(folder: Path, *, mutations: int, clients: int) -> list[Row]:
    """The rows of a storm of saves."""
    outcome = await storm(folder, mutations=mutations, clients=clients)
    seen, calls = outcome.tally.outcomes, f"{outcome.tally.calls:,} calls"
    trial = f"{mutations:,} saves in {len(STYLES)} styles, {clients} clients"
    return [
        told(trial, f"{calls} of both eras"),
        none_of("  failed calls", seen["failed"] + seen["lost"], calls),
        none_of("  torn results", seen["torn"], calls),
        none_of("  results stale after 1 s", seen["stale"], calls),
        none_of("  last good version not served", seen["lost"], f"{outcome.breaks:,} broken files"),
        none_of("  widgets unlike the disk 1 s after the end", len(outcome.behind), str(WIDGETS)),
    ]
