from __future__ import annotations

import anyio

from tests.system.server.store.replicas import replicas
from tests.system.server.store.server import Server
from widgetd.server.store import confirmations
from widgetd.server.store.cache import Idempotency

CALL = {"tool": "save_widget", "arguments": {"file": "Card"}}


async def test_token_is_redeemed_once_by_concurrent_callers(backend: Server | None) -> None:
    calls = []
    async with replicas(backend) as both:
        here, there = both.here.idempotency, both.there.idempotency
        token = await confirmations.ask(here, CALL, owner="ada")

        async def take(answers: Idempotency) -> None:
            calls.append(await confirmations.take(answers, token, owner="ada"))

        async with anyio.create_task_group() as presses:
            for _ in range(5):
                presses.start_soon(take, here)
                presses.start_soon(take, there)

    assert [call for call in calls if call is not None] == [CALL]


async def test_token_is_worthless_to_another_owner_or_after_its_expiry(
    backend: Server | None,
) -> None:
    async with replicas(backend, answer_ttl_s=60.0) as both:
        answers = both.here.idempotency
        token = await confirmations.ask(answers, CALL, owner="ada")
        stolen = await confirmations.take(answers, token, owner="bob")
        guessed = await confirmations.take(answers, "c_none", owner="ada")
        both.later(60.0)
        late = await confirmations.take(answers, token, owner="ada")

    assert (stolen, guessed, late) == (None, None, None)
