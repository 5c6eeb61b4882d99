"""Owners take turns at the threads for expensive work, however much one of them asks for."""

from __future__ import annotations

import anyio
from hypothesis import given
from hypothesis import strategies as st

from tests.support.patience import PATIENCE_S
from widgetd.base.system import SYSTEM, FairThreads


@given(
    owners=st.lists(st.sampled_from("abc"), min_size=1, max_size=12),
    cancelled=st.sets(st.integers(0, 11)),
)
def test_each_owner_waits_for_one_turn_of_each_other_at_most(
    owners: list[str], cancelled: set[int]
) -> None:
    async def run() -> list[str]:
        threads, done, go = FairThreads(1, SYSTEM.threads), list[str](), anyio.Event()

        async def work(number: int, owner: str) -> None:
            with scopes[number]:
                await threads.run_blocking(owner, done.append, owner)

        async def hold() -> None:
            await threads.run_blocking("first", anyio.from_thread.run, go.wait)

        scopes = [anyio.CancelScope() for _ in owners]
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(hold)
                await anyio.wait_all_tasks_blocked()
                for number, owner in enumerate(owners):
                    tasks.start_soon(work, number, owner)
                await anyio.wait_all_tasks_blocked()
                for number in cancelled & {*range(len(owners))}:
                    scopes[number].cancel()
                await anyio.wait_all_tasks_blocked()
                go.set()
            await threads.run_blocking("last", done.append, "last")
        return done

    *done, last = anyio.run(run)
    left = [owner for number, owner in enumerate(owners) if number not in cancelled]
    assert (sorted(done), last) == (sorted(left), "last")
    turn = {owner: [at for at, name in enumerate(done) if name == owner] for owner in set(left)}
    for owner, turns in turn.items():
        for number, at in enumerate(turns):
            # Others had no more turns than this one before it, and one more at most.
            others = [done[:at].count(other) for other in turn if other != owner]
            assert all(count <= number + 1 for count in others)
