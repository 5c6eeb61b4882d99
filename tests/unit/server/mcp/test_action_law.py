"""The law of actions: each action reaches a reader that continues to read, exactly once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client

from tests.support.form import ARGUMENTS, order
from tests.support.widgets import snapshot_of
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.store.factory import local_store

PATIENCE_S = 60
STEPS = st.lists(
    st.sampled_from(
        ["act", "act again", "act wrongly", "read", "lose the answer", "hang up", "wait"]
    ),
    max_size=25,
)
ORDER = snapshot_of(order())


@dataclass
class Story:
    """One render, the pages that act in it, and a reader that follows `next`.

    Attributes:
        page: Acts.
        reader: Reads, and is another one after it hung up.
        render_id: What they speak of.
        taken: The payloads that were accepted, in order.
        read: The payloads that the reader has, in order.
        cursor: What it gives as `after`.
    """

    page: Client
    reader: Client
    render_id: str
    taken: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    cursor: int = 0

    async def act(self) -> None:
        number = len(self.taken) + 1
        answer = await self._act(number, str(number))
        assert answer == {"status": "accepted", "next": number}
        self.taken.append(number)

    async def act_again(self) -> None:
        for number in self.taken[-1:]:
            answer = await self._act(number, str(number))
            assert answer == {"status": "accepted", "next": number, "repeated": True}

    async def act_wrongly(self) -> None:
        answer = await self._act("many", f"wrong {len(self.taken)}")
        assert answer["status"] == "invalid"

    async def take(self) -> None:
        answer = await self._read()
        self.read += [one["payload"]["count"] for one in answer["actions"]]
        self.cursor = answer["next"]

    async def lose_the_answer(self) -> None:
        await self._read()

    async def hang_up(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(self._read, timeout_s=60))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    async def wait(self) -> None:
        """Wait for an action that comes later, unless there is one already."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._wait)
            await anyio.wait_all_tasks_blocked()
            await self.act()

    async def _wait(self) -> None:
        answer = await self._read(timeout_s=60)
        self.read += [one["payload"]["count"] for one in answer["actions"]]
        self.cursor = answer["next"]

    async def _act(self, count: Any, key: str) -> dict[str, Any]:
        payload = {"order": "o1", "buyer": {"email": "ada@example.com"}, "count": count}
        arguments = {
            "render_id": self.render_id,
            "action": "order.send",
            "payload": payload,
            "idempotency_key": key,
        }
        return (await self.page.call_tool("widget_action", arguments)).structured_content or {}

    async def _read(self, timeout_s: float = 0) -> dict[str, Any]:
        arguments = {"render_id": self.render_id, "after": self.cursor, "timeout_s": timeout_s}
        result = await self.reader.call_tool("await_widget_action", arguments)
        return result.structured_content or {}


async def tell(steps: list[str]) -> None:
    server = build(Registry(ORDER), local_store())
    lowlevel = sdk.lowlevel_of(server.mcp)
    async with Client(lowlevel) as page, Client(lowlevel) as reader:
        result = await page.call_tool("order", ARGUMENTS)
        assert result.meta is not None
        story = Story(page, reader, result.meta["widgetd/render"]["id"])
        does = {
            "act": story.act,
            "act again": story.act_again,
            "act wrongly": story.act_wrongly,
            "read": story.take,
            "lose the answer": story.lose_the_answer,
            "hang up": story.hang_up,
            "wait": story.wait,
        }
        with anyio.fail_after(PATIENCE_S):
            for step in steps:
                await does[step]()
                assert story.read == story.taken[: len(story.read)]
            await story.take()

    assert story.read == story.taken


@given(steps=STEPS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_action_is_lost_or_doubled_between_the_two_tools(steps: list[str]) -> None:
    anyio.run(tell, steps)
