"""The law of the queue: a reader that follows `next` misses nothing, and gets nothing twice."""

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

from tests.system.server.store.replicas import replicas, stored_render
from tests.system.server.store.server import Server
from widgetd.base.errors import CallError
from widgetd.server.store.contract import Awaited
from widgetd.server.store.factory import Store

MOST = 5
SOON_S = 5.0
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
        with anyio.fail_after(SOON_S):
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
