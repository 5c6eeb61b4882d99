from __future__ import annotations

from tests.system.store.rooms import room
from tests.system.store.server import Server


async def test_an_answer_is_recalled_in_every_replica(backend: Server | None) -> None:
    async with room(backend) as room_:
        await room_.here.idempotency.remember("k", {"status": "accepted", "next": None})

        assert await room_.here.idempotency.recall("k") == {"status": "accepted", "next": None}
        assert await room_.there.idempotency.recall("k") == {"status": "accepted", "next": None}


async def test_a_call_that_was_never_made_has_no_answer(backend: Server | None) -> None:
    async with room(backend) as room_:
        assert await room_.here.idempotency.recall("k") is None


async def test_the_first_answer_stands_whoever_gives_another(backend: Server | None) -> None:
    async with room(backend) as room_:
        assert await room_.here.idempotency.remember("k", {"seat": "12A"}) == {"seat": "12A"}
        assert await room_.there.idempotency.remember("k", {"seat": "30F"}) == {"seat": "12A"}
        assert await room_.there.idempotency.recall("k") == {"seat": "12A"}


async def test_the_oldest_answer_is_forgotten_when_there_are_too_many(
    backend: Server | None,
) -> None:
    async with room(backend, answers=2) as room_:
        for number in range(3):
            await room_.here.idempotency.remember(f"k{number}", {"number": number})

        for store in (room_.here, room_.there):
            assert await store.idempotency.recall("k0") is None
            assert await store.idempotency.recall("k1") == {"number": 1}
            assert await store.idempotency.recall("k2") == {"number": 2}


async def test_answers_are_bounded_in_bytes(backend: Server | None) -> None:
    async with room(backend, answer_bytes=150) as room_:
        for number in range(2):
            await room_.here.idempotency.remember(f"k{number}", {"text": "x" * 80})

        assert await room_.there.idempotency.recall("k0") is None
        assert await room_.there.idempotency.recall("k1") == {"text": "x" * 80}


async def test_a_call_can_be_made_anew_when_its_answer_is_over(backend: Server | None) -> None:
    async with room(backend, answer_ttl_s=60.0) as room_:
        await room_.here.idempotency.remember("k", {"seat": "12A"})
        room_.later(60.0)

        assert await room_.here.idempotency.recall("k") is None
        assert await room_.there.idempotency.remember("k", {"seat": "30F"}) == {"seat": "30F"}


async def test_keys_that_differ_only_at_their_end_are_different_keys(
    backend: Server | None,
) -> None:
    async with room(backend) as room_:
        await room_.here.idempotency.remember("k" * 10_000 + "1", {"seat": "12A"})

        assert await room_.here.idempotency.recall("k" * 10_000 + "2") is None
