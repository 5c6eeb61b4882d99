from __future__ import annotations

import anyio

from tests.support.patience import PATIENCE_S
from widgetd.base.files.hints import EVERYWHERE, Hint, Hints
from widgetd.base.files.limits import LIMITS


async def test_pending_hints_are_merged() -> None:
    hints = Hints()
    hints.add({"a.widget"})
    hints.add({"b.widget"})

    assert await take(hints) == Hint(paths=frozenset({"a.widget", "b.widget"}))


async def test_taken_hint_is_not_returned_again() -> None:
    hints = Hints()
    hints.add({"a.widget"})
    await take(hints)
    hints.add({"b.widget"})

    assert await take(hints) == Hint(paths=frozenset({"b.widget"}))
    assert not await has_hint(hints)


async def test_hint_at_everything_absorbs_the_others() -> None:
    hints = Hints()
    hints.add({"a.widget"})
    hints.add()
    hints.add({"b.widget"})

    assert await take(hints) == EVERYWHERE


async def test_so_many_paths_are_everywhere() -> None:
    hints = Hints()
    hints.add(f"{n}.widget" for n in range(LIMITS.hinted_paths + 1))

    assert await take(hints) == EVERYWHERE


async def test_file_stays_finished_until_its_next_event() -> None:
    hints = Hints()
    hints.add({"a.widget", "b.widget"}, finished={"a.widget", "b.widget"})
    hints.add({"b.widget", "c.widget"}, finished={"c.widget"})

    assert await take(hints) == Hint(
        paths=frozenset({"a.widget", "b.widget", "c.widget"}),
        finished=frozenset({"a.widget", "c.widget"}),
    )


async def test_cancelled_wait_takes_nothing() -> None:
    hints = Hints()
    assert not await has_hint(hints)
    hints.add({"a.widget"})
    with anyio.CancelScope() as scope:
        scope.cancel()
        await hints.wait()

    assert await take(hints) == Hint(paths=frozenset({"a.widget"}))


async def test_waiter_is_woken() -> None:
    hints = Hints()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take, hints)
        await anyio.lowlevel.checkpoint()
        hints.add()


async def take(hints: Hints) -> Hint:
    with anyio.fail_after(PATIENCE_S):
        return await hints.wait()


async def has_hint(hints: Hints) -> bool:
    with anyio.move_on_after(0.01):
        await hints.wait()
        return True
    return False
