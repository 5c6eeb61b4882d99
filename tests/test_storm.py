"""Files change all the while, clients call all the while, and nobody notices anything amiss."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.process import daemon_process
from tests.serving import Connection, connected
from tests.storming import Storm, revision_of

MUTATIONS = 2_000
CLIENTS = 16
WIDGETS = 40


@pytest.mark.timeout(180)
async def test_a_storm_of_saves_fails_no_call_tears_no_result_and_leaves_nothing_stale(
    tmp_path: Path,
) -> None:
    storm = Storm(tmp_path, widgets=WIDGETS)
    outcomes: Counter[str] = Counter()
    over = anyio.Event()

    async def keep_calling(client: Connection, number: int) -> None:
        while not over.is_set():
            name = f"w{number % WIDGETS}"
            number += 7
            result = await client.call(name, who="Ada")
            outcomes[_outcome(result.is_error, result.structured_content)] += 1

    async with (
        daemon_process(tmp_path, "--log-level", "error") as served,
        AsyncExitStack() as stack,
    ):
        clients = [
            await stack.enter_async_context(
                connected(served.url, "legacy" if number % 2 else "modern")
            )
            for number in range(CLIENTS)
        ]
        async with anyio.create_task_group() as tasks:
            for number, client in enumerate(clients):
                tasks.start_soon(keep_calling, client, number)
            await anyio.to_thread.run_sync(partial(storm.blow, MUTATIONS, pause_s=0.005))
            await anyio.sleep(1)  # the second that is promised
            over.set()

        shown = {
            name: revision_of((await clients[0].call(name, who="Ada")).structured_content, "Ada")
            for name in storm.revisions
        }

    assert shown == storm.revisions
    assert outcomes.keys() == {"whole"}
    assert outcomes["whole"] > MUTATIONS


def _outcome(is_error: bool, tree: dict[str, object] | None) -> str:
    if is_error or tree is None:
        return "failed"
    return "torn" if revision_of(tree, "Ada") is None else "whole"
