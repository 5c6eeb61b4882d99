from __future__ import annotations

from types import MappingProxyType

from tests.system.store.replicas import render, replicas
from tests.system.store.server import Server


async def test_a_render_is_found_as_it_was_put_in_every_replica(backend: Server | None) -> None:
    stored = render(
        tree={"type": "Card", "children": [{"type": "Text", "value": "Zürich ✈"}]},
        text="Pan Am 845: Zürich to Boston",
        facts={"uiType": "flight-tracker"},
        ui={"uiType": "flight-tracker"},
        mark={"id": "r1", "ms": 0.4},
    )
    async with replicas(backend) as both:
        await both.here.renders.put(stored)

        assert await both.here.renders.get("r1") == stored
        assert await both.there.renders.get("r1") == stored


async def test_a_render_that_was_never_put_is_not_found(backend: Server | None) -> None:
    async with replicas(backend) as both:
        assert await both.here.renders.get("r1") is None


async def test_a_render_that_was_put_here_is_kept_by_reference(backend: Server | None) -> None:
    stored = render()
    async with replicas(backend) as both:
        await both.here.renders.put(stored)

        assert await both.here.renders.get("r1") is stored


async def test_a_render_whose_parts_are_read_only_can_be_kept(backend: Server | None) -> None:
    stored = render(facts=MappingProxyType({"total": 3}))
    async with replicas(backend) as both:
        await both.here.renders.put(stored)

        found = await both.there.renders.get("r1")

        assert found is not None
        assert found.facts == {"total": 3}


async def test_a_render_never_changes(backend: Server | None) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(render(text="first"))
        await both.here.renders.put(render(text="second"))

        found = await both.there.renders.get("r1")

        assert found is not None
        assert found.text == "first"


async def test_the_oldest_render_makes_room_when_there_are_too_many(backend: Server | None) -> None:
    async with replicas(backend, renders=2) as both:
        for render_id in ("r3", "r2", "r1"):
            await both.here.renders.put(render(render_id))

        for store in (both.here, both.there):
            assert await store.renders.get("r3") is None
            assert await store.renders.get("r2") is not None
            assert await store.renders.get("r1") is not None


async def test_the_oldest_renders_make_room_when_they_are_too_large_together(
    backend: Server | None,
) -> None:
    async with replicas(backend, render_bytes=100) as both:
        for render_id, size_bytes in (("r1", 40), ("r2", 40), ("r3", 60)):
            await both.here.renders.put(render(render_id, size_bytes=size_bytes))

        for store in (both.here, both.there):
            assert await store.renders.get("r1") is None
            assert await store.renders.get("r2") is not None
            assert await store.renders.get("r3") is not None


async def test_a_render_larger_than_all_the_room_is_not_kept(backend: Server | None) -> None:
    async with replicas(backend, render_bytes=100) as both:
        await both.here.renders.put(render("large", size_bytes=101))
        await both.here.renders.put(render("small", size_bytes=100))

        for store in (both.here, both.there):
            assert await store.renders.get("large") is None
            assert await store.renders.get("small") is not None


async def test_a_render_is_gone_when_its_time_is_over(backend: Server | None) -> None:
    async with replicas(backend, render_ttl_s=60.0) as both:
        await both.here.renders.put(render())

        both.later(59.0)
        assert await both.here.renders.get("r1") is not None
        both.later(1.0)
        assert await both.here.renders.get("r1") is None
        assert await both.there.renders.get("r1") is None


async def test_a_copy_in_another_replica_lives_no_longer_than_the_render(
    backend: Server | None,
) -> None:
    async with replicas(backend, render_ttl_s=60.0) as both:
        await both.here.renders.put(render())
        both.later(50.0)
        assert await both.there.renders.get("r1") is not None

        both.later(11.0)

        assert await both.there.renders.get("r1") is None


async def test_a_render_that_is_over_takes_no_room(backend: Server | None) -> None:
    async with replicas(backend, renders=3, render_bytes=100, render_ttl_s=60.0) as both:
        await both.here.renders.put(render("old", size_bytes=60))
        both.later(30.0)
        await both.here.renders.put(render("mid", size_bytes=10))
        both.later(30.0)
        await both.here.renders.put(render("old", size_bytes=60))
        await both.here.renders.put(render("new", size_bytes=30))

        for store in (both.here, both.there):
            for render_id in ("old", "mid", "new"):
                assert await store.renders.get(render_id) is not None
