from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import anyio
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.patience import PATIENCE_S
from tests.system.server.store.replicas import Replicas, replicas, stored_render
from tests.system.server.store.server import Server
from widgetd.base.errors import CallError
from widgetd.server.render.envelope import RenderMark, encode_render, envelope_schema
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import Store, local_store


async def test_render_is_found_unchanged_in_every_replica(backend: Server | None) -> None:
    stored = stored_render(
        tree={"type": "Card", "children": [{"type": "Text", "value": "Zürich ✈"}]},
        text="Pan Am 845: Zürich to Boston",
        data={"uiType": "flight-tracker"},
        ui={"uiType": "flight-tracker"},
        feed={"upstream": "flights"},
        generation="0123456789abcdef",
        digest="f" * 32,
        duration_ms=0.4,
        coerced=("who: 1 became '1'",),
        source="view",
        follow=True,
        state="failed",
        note="The flight is full.",
        labels=("flight_tracker", "travel"),
    )
    async with replicas(backend) as both:
        await both.here.renders.put(stored)

        assert await both.here.renders.get("r1") == stored
        assert await both.there.renders.get("r1") == stored


async def test_store_shows_no_stored_value(backend: Server | None) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render(text="MARKER"))
        await both.here.renders.get("r1")
        await both.here.actions.append("r1", "a", "MARKER", idempotency_key="k")

        assert "MARKER" not in repr(both.here)


def test_metadata_of_a_render_matches_the_public_type() -> None:
    full = stored_render(
        generation="0123456789abcdef",
        digest="f" * 32,
        duration_ms=0.4,
        coerced=("who: 1 became '1'",),
        source="view",
        follow=True,
        version=2,
        state="done",
        note="Booked.",
        repeatable=("counter.add",),
        local=b'{"state":{"all":true},"actions":["all.toggle"]}',
        tell="Board changed",
        press="secret",
    )

    public: dict[str, Any] = {}
    for one in (stored_render(), full):
        public = orjson.loads(encode_render(one, is_for_page=True))
        assert RenderMark.model_validate(public).wire() == public
    assert "press" not in orjson.loads(encode_render(full))
    assert public.keys() == envelope_schema()["$defs"]["RenderMark"]["properties"].keys()


async def test_render_never_changes(backend: Server | None) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render(text="first"))
        await both.here.renders.put(stored_render(text="second"))

        stored = await both.there.renders.get("r1")

        assert stored is not None
        assert stored.text == "first"


async def test_oldest_render_is_evicted_above_the_limit(backend: Server | None) -> None:
    async with replicas(backend, renders=2) as both:
        for render_id in ("r3", "r2", "r1"):
            await both.here.renders.put(stored_render(render_id))

        for store in (both.here, both.there):
            assert await store.renders.get("r3") is None
            assert await store.renders.get("r2") is not None
            assert await store.renders.get("r1") is not None


async def test_oldest_renders_are_evicted_above_the_total_size(backend: Server | None) -> None:
    async with replicas(backend, render_bytes=100_000) as both:
        for render_id, size_bytes in (("r1", 40_000), ("r2", 40_000), ("r3", 60_000)):
            await both.here.renders.put(stored_render(render_id, size_bytes=size_bytes))

        for store in (both.here, both.there):
            assert await store.renders.get("r1") is None
            assert await store.renders.get("r2") is not None
            assert await store.renders.get("r3") is not None


async def test_render_above_the_total_size_is_not_stored(backend: Server | None) -> None:
    async with replicas(backend, render_bytes=100_000) as both:
        await both.here.renders.put(stored_render("large", size_bytes=100_001))
        await both.here.renders.put(stored_render("small", size_bytes=100_000))

        for store in (both.here, both.there):
            assert await store.renders.get("large") is None
            assert await store.renders.get("small") is not None


async def test_render_above_the_total_size_evicts_none_of_its_owner(backend: Server | None) -> None:
    async with replicas(backend, render_bytes=100_000) as both:
        await both.here.renders.put(stored_render("mine", size_bytes=40_000))
        await both.here.renders.put(stored_render("large", size_bytes=100_001))

        for store in (both.here, both.there):
            assert await store.renders.get("mine") is not None


async def test_render_expires(backend: Server | None) -> None:
    async with replicas(backend, render_ttl_s=60.0) as both:
        await both.here.renders.put(stored_render())

        both.later(59.0)
        assert await both.here.renders.get("r1") is not None
        both.later(1.0)
        assert await both.here.renders.get("r1") is None
        assert await both.there.renders.get("r1") is None


async def test_copy_in_another_replica_lives_no_longer_than_the_render(
    backend: Server | None,
) -> None:
    async with replicas(backend, render_ttl_s=60.0) as both:
        await both.here.renders.put(stored_render())
        both.later(50.0)
        assert await both.there.renders.get("r1") is not None

        both.later(11.0)

        assert await both.there.renders.get("r1") is None


async def test_expired_render_occupies_no_room(backend: Server | None) -> None:
    async with replicas(backend, renders=3, render_bytes=100_000, render_ttl_s=60.0) as both:
        await both.here.renders.put(stored_render("old", size_bytes=60_000))
        both.later(30.0)
        await both.here.renders.put(stored_render("mid", size_bytes=10_000))
        both.later(30.0)
        await both.here.renders.put(stored_render("old", size_bytes=60_000))
        await both.here.renders.put(stored_render("new", size_bytes=30_000))

        for store in (both.here, both.there):
            for render_id in ("old", "mid", "new"):
                assert await store.renders.get(render_id) is not None


OWNERS = ("ann", "bob", "cy")


async def find_kept(store: Store, renders: Iterable[StoredRender]) -> list[str]:
    """Return the ids of those that are found."""
    return [each.id for each in renders if await store.renders.get(each.id) is not None]


async def standing(both: Replicas, renders: Iterable[StoredRender]) -> list[str]:
    """Return the ids of those in the shared store, and not only as a copy."""
    if both.server is None:
        return await find_kept(both.here, renders)
    with both.server.client() as client:
        name = f"{{{both.prefix}:1}}:renders:value:"
        return [each.id for each in renders if client.exists(name + each.id)]


async def test_single_principal_may_use_all_the_room_and_gives_it_back(
    backend: Server | None,
) -> None:
    async with replicas(backend, renders=6) as both:
        anns = [stored_render(f"ann{number}", owner="ann") for number in range(6)]
        bobs = [stored_render(f"bob{number}", owner="bob") for number in range(6)]
        for each in anns:
            await both.here.renders.put(each)
        assert len(await find_kept(both.here, anns)) == 6
        for each in bobs:
            await both.here.renders.put(each)

        for store in (both.here, both.there):
            assert await find_kept(store, anns) == ["ann3", "ann4", "ann5"]
            assert await find_kept(store, bobs) == ["bob3", "bob4", "bob5"]


async def test_expired_entries_make_room_before_any_other(backend: Server | None) -> None:
    async with replicas(backend, renders=4, render_ttl_s=60.0) as both:
        for number in range(3):
            await both.here.renders.put(stored_render(f"old{number}", owner="ann"))
        both.later(61.0)
        new = [stored_render(f"new{number}", owner="bob") for number in range(4)]
        for each in new:
            await both.here.renders.put(each)

        for store in (both.here, both.there):
            assert await find_kept(store, new) == [each.id for each in new]


PUTS = st.lists(
    st.tuples(st.sampled_from(OWNERS), st.integers(0, 40_000), st.integers(0, 5)), max_size=40
)


@given(puts=PUTS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_principal_below_an_equal_share_never_loses_anything(
    backend: Server | None, puts: list[tuple[str, int, int]]
) -> None:
    most, most_bytes = 9, 90_000

    async def check() -> None:
        async with replicas(backend, renders=most, render_bytes=most_bytes) as both:
            had: dict[str, StoredRender] = {}
            for owner, size_bytes, key in puts:
                put = stored_render(f"{owner}{key}", owner=owner, size_bytes=size_bytes)
                await both.here.renders.put(put)
                all_of_it = {**had, put.id: had.get(put.id, put)}
                survivors = set(await standing(both, all_of_it.values()))
                for lost in all_of_it.keys() - survivors:
                    whose = all_of_it[lost].owner
                    theirs = [each for each in all_of_it.values() if each.owner == whose]
                    share = len({each.owner for each in all_of_it.values()})
                    assert (
                        len(theirs) * share > most
                        or sum(len(each.json()) for each in theirs) * share > most_bytes
                    )
                had = {each: all_of_it[each] for each in survivors}
                assert len(had) <= most
                assert sum(len(each.json()) for each in had.values()) <= most_bytes

    anyio.run(check)


def says(text: str) -> Callable[[StoredRender], StoredRender]:
    return lambda standing: replace(standing, text=text)


async def test_version_replaces_the_previous_one_in_every_replica(backend: Server | None) -> None:
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


async def test_version_after_an_outdated_one_is_refused(backend: Server | None) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render(text="first"))
        await both.here.renders.replace("r1", says("second"), after=1)

        with pytest.raises(CallError, match="expected 2, the newest version") as refused:
            await both.there.renders.replace("r1", says("late"), after=1)

        assert (refused.value.code, refused.value.path) == ("W2406", "after")
        stored = await both.there.renders.get("r1")
        assert stored is not None
        assert stored.text == "second"


async def test_versions_of_the_same_instant_are_ordered(backend: Server | None) -> None:
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

        with both.there.renders.listening(states.append), anyio.fail_after(PATIENCE_S):
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
