from __future__ import annotations

from tests.system.server.store.replicas import replicas
from tests.system.server.store.server import Server


async def test_first_answer_is_kept_over_a_second(backend: Server | None) -> None:
    async with replicas(backend) as both:
        assert await both.here.idempotency.remember("k", {"seat": "12A"}) == {"seat": "12A"}
        assert await both.there.idempotency.remember("k", {"seat": "30F"}) == {"seat": "12A"}
        assert await both.there.idempotency.recall("k") == {"seat": "12A"}


async def test_oldest_answer_is_evicted_above_the_limit(backend: Server | None) -> None:
    async with replicas(backend, answers=2) as both:
        for number in range(3):
            await both.here.idempotency.remember(f"k{number}", {"number": number})

        for store in (both.here, both.there):
            assert await store.idempotency.recall("k0") is None
            assert await store.idempotency.recall("k1") == {"number": 1}
            assert await store.idempotency.recall("k2") == {"number": 2}


async def test_answers_are_bounded_in_bytes(backend: Server | None) -> None:
    async with replicas(backend, answer_bytes=150) as both:
        for number in range(2):
            await both.here.idempotency.remember(f"k{number}", {"text": "x" * 80})

        assert await both.there.idempotency.recall("k0") is None
        assert await both.there.idempotency.recall("k1") == {"text": "x" * 80}


async def test_call_is_repeated_after_its_answer_expired(backend: Server | None) -> None:
    async with replicas(backend, answer_ttl_s=60.0) as both:
        await both.here.idempotency.remember("k", {"seat": "12A"})
        both.later(60.0)

        assert await both.here.idempotency.recall("k") is None
        assert await both.there.idempotency.remember("k", {"seat": "30F"}) == {"seat": "30F"}


async def test_keys_with_different_endings_are_different(backend: Server | None) -> None:
    async with replicas(backend) as both:
        await both.here.idempotency.remember("k" * 10_000 + "1", {"seat": "12A"})

        assert await both.here.idempotency.recall("k" * 10_000 + "2") is None


async def test_one_of_two_replicas_claims_a_key(backend: Server | None) -> None:
    async with replicas(backend) as both:
        assert await both.here.idempotency.claim("press", {"by": 1})
        assert not await both.there.idempotency.claim("press", {"by": 2})
        assert not await both.here.idempotency.claim("press", {"by": 3})
        recalled = await both.there.idempotency.recall("press")
        assert recalled is not None
        assert recalled["by"] == 1
