"""Setting the clock drops nothing that a store in this process keeps."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.system.server.store.replicas import stored_render
from widgetd.base.system import Clock
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store

DAY_S = 86_400.0


@pytest.mark.parametrize("step_s", [2 * DAY_S, -400 * DAY_S, 30 * 365 * DAY_S])
async def test_renders_actions_answers_and_limits_outlive_a_step_of_the_clock(
    monkeypatch: pytest.MonkeyPatch, step_s: float
) -> None:
    now_s = time.time()
    monkeypatch.setattr(Clock, "wall_s", staticmethod(lambda: now_s))
    store = local_store(Bounds(rate_per_s=0.001, burst=1))
    await store.renders.put(stored_render("r1"))
    await store.renders.replace("r1", lambda one: replace(one, text="2"))
    await store.actions.append("r1", "a", {}, idempotency_key="k")
    await store.idempotency.remember("key", {"done": 1})
    await store.answers.put("fed", b"{}", owner="")
    await store.limits.take("ada")

    now_s += step_s
    replaced = await store.renders.replace("r1", lambda one: replace(one, text="3"))

    assert replaced is not None
    assert (replaced.version, replaced.created) == (3, now_s)
    assert len((await store.actions.read("r1", timeout_s=0)).actions) == 1
    assert await store.idempotency.recall("key") == {"done": 1}
    assert await store.answers.get("fed") == b"{}"
    assert not (await store.limits.take("ada")).is_allowed
