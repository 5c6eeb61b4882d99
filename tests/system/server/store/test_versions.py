"""A render that is replaced: its versions have one order, and the last one is there everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import anyio
import pytest

from tests.system.server.store.replicas import replicas, stored_render
from tests.system.server.store.server import Server
from widgetd.base.errors import CallError
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import Store, local_store


def says(text: str) -> Callable[[StoredRender], StoredRender]:
    return lambda standing: replace(standing, text=text)


async def test_version_replaces_the_previous_one_in_every_replica(
    backend: Server | None,
) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render(text="first", owner="alice"))
        assert await both.there.renders.get("r1") is not None  # which keeps a copy

        second = await both.here.renders.replace("r1", says("second"))
        third = await both.there.renders.replace("r1", says("third"), after=2)

        assert second is not None
        assert third is not None
        assert (second.version, third.version) == (2, 3)
        assert third.metadata()["version"] == 3
        for store in (both.here, both.there):
            stored = await store.renders.get("r1")
            assert stored == third
            assert stored is not None
            assert (stored.text, stored.owner) == ("third", "alice")


async def test_version_after_an_outdated_one_is_refused(
    backend: Server | None,
) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render(text="first"))
        await both.here.renders.replace("r1", says("second"), after=1)

        with pytest.raises(CallError, match="expected 2, the newest version") as refused:
            await both.there.renders.replace("r1", says("late"), after=1)

        assert (refused.value.code, refused.value.path) == ("W2406", "after")
        stored = await both.there.renders.get("r1")
        assert stored is not None
        assert stored.text == "second"


async def test_versions_of_the_same_instant_are_ordered(
    backend: Server | None,
) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render())
        numbers: list[int] = []

        async def once(store: Store, text: str) -> None:
            replaced = await store.renders.replace("r1", says(text))
            assert replaced is not None
            numbers.append(replaced.version)

        async with anyio.create_task_group() as tasks:
            for at in range(8):
                tasks.start_soon(once, both.here if at % 2 else both.there, str(at))

        assert sorted(numbers) == [2, 3, 4, 5, 6, 7, 8, 9]
        here, there = await both.here.renders.get("r1"), await both.there.renders.get("r1")
        assert here == there
        assert here is not None
        assert here.version == 9


async def test_expired_value_is_not_replaced(backend: Server | None) -> None:
    async with replicas(backend) as both:
        assert await both.here.renders.replace("r1", says("nothing")) is None


async def test_version_lives_as_long_as_a_new_render(backend: Server | None) -> None:
    async with replicas(backend, render_ttl_s=100) as both:
        await both.here.renders.put(stored_render())
        both.later(90)
        await both.here.renders.replace("r1", says("second"))
        both.later(90)

        assert await both.there.renders.get("r1") is not None
        both.later(11)
        assert await both.there.renders.get("r1") is None


async def test_versions_per_second_are_limited_across_replicas(backend: Server | None) -> None:
    async with replicas(backend, versions_per_s=4) as both:
        await both.here.renders.put(stored_render())
        for store in (both.here, both.there) * 2:
            await store.renders.replace("r1", says("soon"))

        with pytest.raises(CallError, match="at most 4 new versions a second") as refused:
            await both.here.renders.replace("r1", says("too soon"))
        both.later(0.25)
        replaced = await both.here.renders.replace("r1", says("later"))

        assert (refused.value.code, refused.value.retry_after_s) == ("W2201", 0.25)
        assert replaced is not None
        assert replaced.version == 6


async def test_waiting_reader_gets_the_newest_version_from_any_replica(
    backend: Server | None,
) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render())
        states: list[str] = []
        generations: list[object] = []

        async def wait() -> None:
            generations.append(await both.there.renders.wait_for_newer("r1", after=1, timeout_s=60))

        with both.there.renders.listening(states.append), anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                replaced = await both.here.renders.replace("r1", says("second"))
            again = await both.there.renders.wait_for_newer("r1", after=1, timeout_s=0)
            none = await both.there.renders.wait_for_newer("r1", after=2, timeout_s=0)
            both.there.actions.drain()
            draining = await both.there.renders.wait_for_newer("r1", after=2, timeout_s=60)
            missing = await both.there.renders.wait_for_newer("r2", after=1, timeout_s=60)

        assert generations == [replaced]
        assert again == replaced
        assert (none, draining, missing) == ("timeout", "draining", "expired")
        assert states == ["r1"]


async def test_ten_thousand_versions_take_the_room_of_one() -> None:
    clock = iter(range(1_700_000_000, 1_800_000_000))
    store = local_store(
        Bounds(render_bytes=3_000, render_ttl_s=1e9), clock=lambda: float(next(clock))
    )
    await store.renders.put(stored_render(text="other", render_id="r0"))
    await store.renders.put(stored_render())

    for at in range(10_000):
        await store.renders.replace("r1", says(f"{at:05}"))

    last = await store.renders.get("r1")
    assert last is not None
    assert (last.text, last.version) == ("09999", 10_001)
    assert await store.renders.get("r0") is not None  # nothing had to make room
