from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.patience import PATIENCE_S
from tests.system.server.store.replicas import Clock, replicas, stored_render
from tests.system.server.store.server import Server
from widgetd.base.errors import CallError
from widgetd.server.store.actions import LocalActions
from widgetd.server.store.cache import Renders, build_local_caches, key_digest
from widgetd.server.store.contract import Action, Awaited, Bounds, Origin
from widgetd.server.store.factory import Store
from widgetd.server.store.waiters import Waiters

NEVER_S = 600.0
NOW = 1_700_000_000.0


async def track(store: Store, number: int, render_id: str = "r1") -> int:
    return await store.actions.append(
        render_id, "flight.track", {"number": number}, idempotency_key=f"key-{number}"
    )


def tracked_action(seq: int, number: int) -> Action:
    return Action(seq=seq, action="flight.track", payload={"number": number}, at=NOW)


@pytest.mark.parametrize("made_up", [-1, 1, 99, 1_000_001])
async def test_unknown_after_loses_nothing(backend: Server | None, made_up: int) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render())
        await track(both.here, 10)

        read = await both.here.actions.read("r1", after=made_up)

        assert read == Awaited(status="actions", next=1, actions=(tracked_action(1, 10),))


async def test_renders_have_separate_queues(backend: Server | None) -> None:
    async with replicas(backend) as both:
        for render_id in ("r1", "r2"):
            await both.here.renders.put(stored_render(render_id))
            await track(both.here, 10, render_id)

        read = await both.here.actions.read("r1")
        await both.here.actions.read("r1", after=read.next, timeout_s=0.0)

        assert (await both.here.actions.read("r2")).actions == (tracked_action(1, 10),)


async def test_action_of_one_render_does_not_wake_readers_of_another(
    backend: Server | None,
) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render())
        await track(both.here, 10, "r2")

        read = await both.here.actions.read("r1", timeout_s=0.01)

        assert read == Awaited(status="timeout", next=0)


async def test_reader_may_ask_again_after_its_timeout(backend: Server | None) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render())
        await track(both.here, 10)
        read = await both.here.actions.read("r1")

        assert await both.here.actions.read("r1", after=read.next, timeout_s=0.0) == Awaited(
            status="timeout", next=read.next
        )


async def test_reader_of_an_unknown_render_does_not_wait(backend: Server | None) -> None:
    async with replicas(backend) as both:
        with anyio.fail_after(PATIENCE_S):
            read = await both.here.actions.read("r1", timeout_s=NEVER_S)

        assert read == Awaited(status="expired", next=0)


async def test_expired_render_has_no_actions(backend: Server | None) -> None:
    async with replicas(backend, render_ttl_s=60.0) as both:
        await both.here.renders.put(stored_render())
        await track(both.here, 10)
        both.later(60.0)

        with anyio.fail_after(PATIENCE_S):
            read = await both.here.actions.read("r1", after=1, timeout_s=NEVER_S)

        assert read == Awaited(status="expired", next=1)


async def test_actions_outlive_the_eviction_of_their_render(backend: Server | None) -> None:
    async with replicas(backend, renders=1) as both:
        await both.here.renders.put(stored_render("r1"))
        await track(both.here, 10)
        await both.here.renders.put(stored_render("r2"))

        read = await both.there.actions.read("r1")
        after = await both.there.actions.read("r1", after=read.next)

        assert read.actions == (tracked_action(1, 10),)
        assert after.status == "expired"


async def test_using_a_queue_prolongs_it(backend: Server | None) -> None:
    async with replicas(backend, render_ttl_s=60.0) as both:
        await both.here.renders.put(stored_render())
        await track(both.here, 10)
        for _ in range(3):
            both.later(40.0)
            assert (await both.here.actions.read("r1")).actions == (tracked_action(1, 10),)


async def test_full_queue_is_reported_and_loses_nothing(backend: Server | None) -> None:
    async with replicas(backend, actions=2) as both:
        await both.here.renders.put(stored_render())
        await track(both.here, 10)
        await track(both.here, 20)

        with pytest.raises(CallError) as caught:
            await track(both.there, 30)
        repeated = await track(both.here, 20)
        read = await both.here.actions.read("r1")
        await both.here.actions.read("r1", after=read.next, timeout_s=0.0)
        accepted = await track(both.here, 30)

        assert str(caught.value) == (
            "2 actions of this render are unread; try again when await_widget_action has read them"
        )
        assert (caught.value.code, caught.value.recoverable) == ("W2402", True)
        assert repeated == 2
        assert read.actions == (tracked_action(1, 10), tracked_action(2, 20))
        assert accepted == 3


async def test_oversized_payload_is_refused(backend: Server | None) -> None:
    async with replicas(backend, payload_bytes=10) as both:
        await both.here.renders.put(stored_render())

        with pytest.raises(CallError) as caught:
            await both.here.actions.append("r1", "a", "123456789", idempotency_key="k")
        await both.here.actions.append("r1", "a", "12345678", idempotency_key="k")

        assert str(caught.value) == "expected at most 10 bytes of JSON, got 11"
        assert (caught.value.code, caught.value.path) == ("W2403", "payload")


async def test_only_so_many_idempotency_keys_are_remembered(backend: Server | None) -> None:
    async with replicas(backend, actions=1) as both:
        await both.here.renders.put(stored_render())
        for number in range(1, 18):
            await track(both.here, number)
            await both.here.actions.read("r1")
            await both.here.actions.read("r1", after=number, timeout_s=0.0)

        assert await track(both.here, 2) == 2
        assert await track(both.here, 1) == 18


async def test_draining_answers_waiting_and_new_readers(backend: Server | None) -> None:
    async with replicas(backend) as both:
        await both.here.renders.put(stored_render())
        answers: list[Awaited] = []

        async def wait() -> None:
            answers.append(await both.here.actions.read("r1", after=7, timeout_s=NEVER_S))

        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
                both.here.actions.drain()
            await wait()

        assert answers == [Awaited(status="draining", next=7)] * 4


async def test_stopping_process_refuses_actions_that_would_be_lost() -> None:
    async with replicas(None) as both:
        seq = await track(both.here, 10)
        both.here.actions.drain()
        with pytest.raises(CallError) as caught:
            await track(both.here, 20)

        assert await track(both.here, 10) == seq
        assert (caught.value.code, caught.value.recoverable) == ("W2405", True)
        assert str(caught.value) == (
            "this process ends, and would take the action with it; "
            "try again with the same idempotency_key"
        )


async def test_queues_without_unread_actions_are_evicted_first() -> None:
    async with replicas(None, queues=2) as both:
        for render_id in ("r1", "r2"):
            await track(both.here, 10, render_id)
        with pytest.raises(CallError) as caught:
            await track(both.here, 10, "r3")
        read = await both.here.actions.read("r2")
        await both.here.actions.read("r2", after=read.next, timeout_s=0.0)

        assert await track(both.here, 10, "r3") == 1
        assert str(caught.value) == (
            "2 renders have unread actions; try again when await_widget_action has read some"
        )
        assert (caught.value.code, caught.value.recoverable) == ("W2402", True)
        assert (await both.here.actions.read("r1")).actions == (tracked_action(1, 10),)


async def test_longest_unused_queue_without_unread_actions_makes_room() -> None:
    async with replicas(None, queues=2) as both:
        for render_id in ("r1", "r2"):
            await track(both.here, 10, render_id)
            await both.here.actions.read(render_id)
            await both.here.actions.read(render_id, after=1, timeout_s=0.0)
        await both.here.actions.read("r1", after=1, timeout_s=0.0)
        await track(both.here, 10, "r3")

        # Whose keys are remembered has its queue still.
        await both.here.actions.read("r1", after=1, timeout_s=0.0)
        assert await track(both.here, 10, "r1") == 1
        assert (await both.here.actions.read("r1", after=1, timeout_s=0.0)).actions == ()


async def test_repeated_action_is_queued_once_after_its_withdrawal() -> None:
    clock, bounds = Clock(), Bounds(queues=1)
    renders = Renders(build_local_caches(bounds, clock)[0])
    actions = LocalActions(
        waiters=Waiters(), bounds=bounds, clock=clock, renders=renders, timer=clock
    )
    await actions.append("r1", "a", 1, idempotency_key="one")
    away = actions.release()
    await actions.append("r2", "a", 0, idempotency_key="zero")  # r1's queue made room for it
    actions.release()
    await actions.append("r1", "a", 2, idempotency_key="two")
    await actions.append("r1", "a", 1, idempotency_key="one")
    actions.restore(away)

    queued = [(one.key, one.action.payload) for one in actions.release()]

    assert queued == [(key_digest("two"), 2), (key_digest("one"), 1)]


async def test_everything_on_the_server_ends_by_itself(shared_server: Server) -> None:
    async with replicas(shared_server, rate_per_s=1.0, at_once=1) as both:
        (bell_ms,) = shared_server.lives(both.prefix).values()
        await both.here.renders.put(stored_render())
        await track(both.here, 10)
        await both.here.idempotency.remember("k", {})
        await both.here.limits.take("ann")
        async with both.here.limits.slot("ann"):
            lives = shared_server.lives(both.prefix)

        assert bell_ms > 0
        assert len(lives) == 18
        assert all(0 < life_ms <= 86_400_000 for life_ms in lives.values()), lives


async def test_action_remembers_its_render_after_eviction(backend: Server | None) -> None:
    origin = Origin(owner="ann", elevated=True, labels=("orders", "secret"))
    async with replicas(backend, render_ttl_s=60) as both:
        await both.here.renders.put(stored_render())
        both.later(50)
        await both.here.actions.append("r1", "go", {}, idempotency_key="once", origin=origin)
        both.later(50)

        assert await both.there.renders.get("r1") is None
        waiting = await both.there.actions.read("r1", timeout_s=0)

    assert [one.origin for one in waiting.actions] == [origin]


async def test_principal_with_most_queues_makes_room_for_the_one_with_least() -> None:
    async with replicas(None, queues=4) as both:

        async def act(owner: str, render_id: str) -> str:
            await both.here.renders.put(stored_render(render_id))
            try:
                await both.here.actions.append(
                    render_id, "go", {}, idempotency_key="once", origin=Origin(owner=owner)
                )
            except CallError as error:
                return error.code
            return ""

        bobs = [await act("bob", f"b{number}") for number in range(5)]
        anns = [await act("ann", f"a{number}") for number in range(3)]
        queued = [
            bool((await both.here.actions.read(at, timeout_s=0)).actions)
            for at in ("b0", "b1", "b2", "b3", "a0", "a1", "a2")
        ]

    assert bobs == ["", "", "", "", "W2402"]
    assert anns == ["", "", "W2402"]
    assert queued == [False, False, True, True, True, True, False]


MOST = 5
REPLICAS = st.sampled_from(["here", "there"])


class Queue(RuleBasedStateMachine):
    """One render's queue, one reader that follows `next`, and everything that can go wrong.

    Attributes:
        accepted: What was queued, in order: the model.
        received: What the reader has, in order.
        cursor: What it gives as `after`.
        acknowledged: The highest `after` that reached the store.
    """

    def __init__(self, backend: Server | None) -> None:
        super().__init__()
        self._closing = ExitStack()
        self._portal = self._closing.enter_context(start_blocking_portal())
        opened = self._portal.wrap_async_context_manager(replicas(backend, actions=MOST))
        self._room = self._closing.enter_context(opened)
        self._portal.call(self._room.here.renders.put, stored_render())
        self.accepted: list[int] = []
        self.received: list[int] = []
        self.cursor = 0
        self.acknowledged = 0
        self.draining: set[int] = set()

    @rule(replica=REPLICAS)
    def append(self, replica: str) -> None:
        number = len(self.accepted) + 1
        if self._room.server is None and self.draining:
            with pytest.raises(CallError, match="this process ends"):
                self._append(replica, number)
        elif len(self.accepted) - self.acknowledged == MOST:
            with pytest.raises(CallError, match="5 actions of this render are unread"):
                self._append(replica, number)
        else:
            assert self._append(replica, number) == number
            self.accepted.append(number)

    @precondition(lambda self: self.accepted)
    @rule(replica=REPLICAS, data=st.data())
    def append_again(self, replica: str, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(self.accepted))
        assert self._append(replica, number) == number

    @rule(replica=REPLICAS)
    def read(self, replica: str) -> None:
        answer = self._read(replica, self.cursor)
        self.received += [action.payload for action in answer.actions]
        self.cursor = answer.next

    @rule(replica=REPLICAS)
    def read_and_lose_the_answer(self, replica: str) -> None:
        self._read(replica, self.cursor)

    @rule(replica=REPLICAS, data=st.data())
    def read_with_a_cursor_of_before(self, replica: str, data: st.DataObject) -> None:
        self._read(replica, data.draw(st.integers(-1, self.cursor)))

    @rule(replica=REPLICAS)
    def disconnect_while_reading(self, replica: str) -> None:
        self._portal.call(self._give_up, self._store(replica))
        self.acknowledged = max(self.acknowledged, self.cursor)

    @precondition(lambda self: self.acknowledged == self.cursor == len(self.accepted))
    @rule(reader=REPLICAS, writer=REPLICAS)
    def wait_for_an_action(self, reader: str, writer: str) -> None:
        if id(self._store(reader)) in self.draining:
            return
        answer = self._portal.call(self._wait_and_append, self._store(reader), writer)
        self.received += [action.payload for action in answer.actions]
        self.cursor = answer.next

    @rule(replica=REPLICAS)
    def drain(self, replica: str) -> None:
        self._portal.call(self._store(replica).actions.drain)
        self.draining.add(id(self._store(replica)))

    @invariant()
    def the_reader_has_what_was_accepted_in_order(self) -> None:
        assert self.received == self.accepted[: len(self.received)]

    def teardown(self) -> None:
        """Let a reader continue, and assert that it gets every remaining action."""
        try:
            self.read("here")
            self.read("there")
            assert self.received == self.accepted
        finally:
            self._closing.close()

    def _store(self, replica: str) -> Store:
        store: Store = getattr(self._room, replica)
        return store

    def _append(self, replica: str, number: int) -> int:
        append = partial(self._store(replica).actions.append, idempotency_key=str(number))
        return self._portal.call(append, "r1", "tap", number)

    def _read(self, replica: str, after: int) -> Awaited:
        """Read, and compare the answer with the model."""
        store = self._store(replica)
        answer = self._portal.call(partial(store.actions.read, after=after, timeout_s=0.0), "r1")
        self.acknowledged = max(self.acknowledged, after)
        unread = self.accepted[self.acknowledged :]
        assert [action.payload for action in answer.actions] == unread
        assert [action.seq for action in answer.actions] == unread
        assert answer.next == (unread[-1] if unread else after)
        idle = "draining" if id(store) in self.draining else "timeout"
        assert answer.status == ("actions" if unread else idle)
        return answer

    async def _give_up(self, store: Store) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(store.actions.read, "r1", after=self.cursor))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    async def _wait_and_append(self, store: Store, writer: str) -> Awaited:
        answers: list[Awaited] = []

        async def wait() -> None:
            answers.append(await store.actions.read("r1", after=self.cursor))

        number: Any = len(self.accepted) + 1
        append = partial(self._store(writer).actions.append, idempotency_key=str(number))
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
                await append("r1", "tap", number)
        self.accepted.append(number)
        return answers[0]


def test_no_action_is_lost_or_doubled_or_reordered(backend: Server | None) -> None:
    class QueueThere(Queue):
        def __init__(self) -> None:
            super().__init__(backend)

    run_state_machine_as_test(
        QueueThere,
        settings=settings(
            max_examples=60 if backend is None else 8,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
