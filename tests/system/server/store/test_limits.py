from __future__ import annotations

import anyio
import pytest

from tests.system.server.store.replicas import replicas
from tests.system.server.store.server import Server
from widgetd.base.errors import CallError
from widgetd.server.store.contract import Decision


async def test_without_limits_everybody_may_go_on(backend: Server | None) -> None:
    async with replicas(backend) as both:
        for _ in range(1_000):
            assert (await both.here.limits.take("ann")).is_allowed
        async with both.here.limits.slot("ann") as verdict:
            assert verdict.is_allowed


async def test_burst_is_allowed_once_across_replicas(backend: Server | None) -> None:
    async with replicas(backend, rate_per_s=2.0, burst=3.0) as both:
        for store in (both.here, both.there, both.here):
            assert await store.limits.take("ann") == Decision()

        for store in (both.here, both.there):
            assert await store.limits.take("ann") == Decision(code="W2201", retry_after_s=0.5)


async def test_retry_at_the_stated_time_is_admitted(backend: Server | None) -> None:
    async with replicas(backend, rate_per_s=7.0, burst=1.0) as both:
        for _ in range(20):
            assert (await both.here.limits.take("ann")).is_allowed
            refused = await both.here.limits.take("ann")
            assert not refused.is_allowed

            both.clock.now += refused.retry_after_s


async def test_refusal_costs_nothing(backend: Server | None) -> None:
    async with replicas(backend, rate_per_s=1.0, burst=2.0) as both:
        assert (await both.here.limits.take("ann")).is_allowed
        assert not (await both.here.limits.take("ann", cost=2.0)).is_allowed
        assert (await both.here.limits.take("ann")).is_allowed


async def test_long_rest_gives_one_burst_and_no_more(backend: Server | None) -> None:
    async with replicas(backend, rate_per_s=1.0, burst=2.0) as both:
        assert (await both.here.limits.take("ann")).is_allowed
        both.later(1_000.0)

        assert (await both.here.limits.take("ann", cost=2.0)).is_allowed
        assert not (await both.here.limits.take("ann")).is_allowed


async def test_cost_above_the_burst_can_be_paid(backend: Server | None) -> None:
    async with replicas(backend, rate_per_s=1.0, burst=2.0) as both:
        assert (await both.here.limits.take("ann", cost=50.0)).is_allowed
        assert not (await both.here.limits.take("ann")).is_allowed


async def test_principals_have_separate_rates(backend: Server | None) -> None:
    async with replicas(backend, rate_per_s=1.0, burst=1.0, at_once=1) as both:
        await both.here.limits.take("ann")

        assert (await both.here.limits.take("bob")).is_allowed
        async with both.here.limits.slot("ann"), both.here.limits.slot("bob") as verdict:
            assert verdict.is_allowed


async def test_clock_set_back_takes_nothing(backend: Server | None) -> None:
    async with replicas(backend, rate_per_s=1.0, burst=2.0) as both:
        assert (await both.here.limits.take("ann")).is_allowed
        both.clock.now -= 3_600.0

        assert (await both.here.limits.take("ann")).is_allowed


async def test_only_so_many_calls_run_at_once_over_all_replicas(backend: Server | None) -> None:
    async with replicas(backend, at_once=2) as both:
        here, there = both.here.limits, both.there.limits
        async with here.slot("ann"), there.slot("ann"), here.slot("ann") as third:
            assert third == Decision(code="W2202", retry_after_s=1.0)

        async with there.slot("ann") as verdict, there.slot("ann") as other:
            assert verdict.is_allowed
            assert other.is_allowed


async def test_call_refused_a_place_returns_none(backend: Server | None) -> None:
    async with replicas(backend, at_once=1) as both, both.here.limits.slot("ann"):
        async with both.here.limits.slot("ann"):
            pass
        async with both.here.limits.slot("ann") as verdict:
            assert not verdict.is_allowed


async def test_failed_call_returns_its_place(backend: Server | None) -> None:
    async with replicas(backend, at_once=1) as both:
        with pytest.raises(ZeroDivisionError):
            async with both.here.limits.slot("ann"):
                raise ZeroDivisionError

        async with both.there.limits.slot("ann") as verdict:
            assert verdict.is_allowed


async def test_cancelled_call_returns_its_place(backend: Server | None) -> None:
    async with replicas(backend, at_once=1) as both:
        with anyio.CancelScope() as scope:
            async with both.here.limits.slot("ann"):
                scope.cancel()
                await anyio.sleep_forever()

        async with both.there.limits.slot("ann") as verdict:
            assert verdict.is_allowed


async def test_places_of_a_killed_replica_are_returned(shared_server: Server) -> None:
    async with replicas(shared_server, at_once=1) as both, both.here.limits.slot("ann"):
        both.clock.now += 121.0
        async with both.there.limits.slot("ann") as verdict:
            assert verdict.is_allowed


async def test_only_recent_principals_are_remembered() -> None:
    async with replicas(None, rate_per_s=1.0, burst=1.0, principals=2) as both:
        for principal in ("ann", "bob", "ann", "cem"):
            await both.here.limits.take(principal)

        assert not (await both.here.limits.take("ann")).is_allowed
        assert not (await both.here.limits.take("cem")).is_allowed
        assert (await both.here.limits.take("bob")).is_allowed


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        (Decision(code="W2201", retry_after_s=1 / 3), "too many calls; try again in 0.333 s"),
        (
            Decision(code="W2202", retry_after_s=1.0),
            "too many calls at the same time; try again in 1 s",
        ),
    ],
)
def test_refusal_names_the_time_of_the_next_attempt(verdict: Decision, message: str) -> None:
    with pytest.raises(CallError) as caught:
        verdict.check()

    assert str(caught.value) == message
    assert caught.value.code == verdict.code
    assert caught.value.recoverable
    assert caught.value.retry_after_s == round(verdict.retry_after_s, 3)


async def test_slowest_rate_is_positive(backend: Server | None) -> None:
    async with replicas(backend, rate_per_s=1e-30, burst=2.0) as both:
        verdicts = [(await both.here.limits.take("ann")).is_allowed for _ in range(3)]

    assert verdicts == [True, True, False]
