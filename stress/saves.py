"""Save in every style while clients call, and count what a client would notice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from stress.calling import Tally, both_eras, find_behind
from stress.churn import Churn
from stress.styles import STYLES
from stress.table import Row, info_row, zero_row
from tests.support.processes import daemon_process

WIDGETS = 40
PROMISE_S = 1.0
_PAUSE_S = 0.005
_BREAK_EVERY = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a storm of saves.

    Attributes:
        tally: Outcomes of the calls.
        breaks: Number of times that a file was left broken for a while.
        behind: The widgets that differed from the disk after the storm.
    """

    tally: Tally
    breaks: int
    behind: tuple[str, ...]


async def storm(
    folder: Path, *, mutations: int, clients: int, patience_s: float = PROMISE_S
) -> Outcome:
    """Save repeatedly while clients of both eras call.

    Args:
        folder: An empty folder.
        mutations: Number of saves.
        clients: Number of clients.
        patience_s: Time after the last save until every widget must equal the disk.
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
        await anyio.to_thread.run_sync(churn.run, mutations, _PAUSE_S)
        await anyio.to_thread.run_sync(churn.repair)
        over.set()
        behind = await find_behind(connections[0], churn, patience_s)
    return Outcome(tally=tally, breaks=churn.breaks, behind=behind)


async def measure(folder: Path, *, mutations: int, clients: int) -> list[Row]:
    """Measure a storm of saves."""
    outcome = await storm(folder, mutations=mutations, clients=clients)
    outcomes, calls = outcome.tally.outcomes, f"{outcome.tally.calls:,} calls"
    trial = f"{mutations:,} saves in {len(STYLES)} styles, {clients} clients"
    return [
        info_row(trial, f"{calls} of both eras"),
        zero_row("  failed calls", outcomes["failed"] + outcomes["lost"], calls),
        zero_row("  torn results", outcomes["torn"], calls),
        zero_row("  results stale after 1 s", outcomes["stale"], calls),
        zero_row(
            "  last good version not served", outcomes["lost"], f"{outcome.breaks:,} broken files"
        ),
        zero_row("  widgets unlike the disk 1 s after the end", len(outcome.behind), str(WIDGETS)),
    ]
