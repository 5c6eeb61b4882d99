"""However presses, retries, mounts, replicas and ends interleave, an upstream is called once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
import orjson
import pytest

from tests.system.mcp.booking import GIVEN, Airline, airport
from widgetd.access.principal import LOCAL
from widgetd.mcp.http_calls import caller_for
from widgetd.mcp.server import Server
from widgetd.render.action_callers import ActionAnswer
from widgetd.render.result import Result
from widgetd.store.contract import Bounds
from widgetd.store.factory import Store, local_store

INTERLEAVINGS = int(os.environ.get("INTERLEAVINGS", "500"))
DEADLINE_S = 600


class EndedError(BaseException):
    """The process ends here: nothing behind this point is done."""


@dataclass
class Interleaved:
    """A part of the store whose calls are put off for a random number of turns."""

    part: Any
    random: Random
    ends: bool = False

    def __getattr__(self, name: str) -> Any:
        """Return a method of the part, which others may overtake."""
        method = getattr(self.part, name)
        if name == "listening":
            return method

        async def call(*arguments: Any, **named: Any) -> Any:
            await wait(self.random)
            answer = await method(*arguments, **named)
            if self.ends and name == "claim" and self.random.random() < 0.1:
                raise EndedError
            await wait(self.random)
            return answer

        return call


async def wait(random: Random) -> None:
    """Let others run."""
    for _ in range(random.choice((0, 0, 1, 3))):
        await anyio.lowlevel.checkpoint()


@dataclass
class EndingAirline(Airline):
    """An upstream during whose calls the process may end, before or after it booked."""

    random: Random = Random(0)  # noqa: RUF009 - each test sets its own

    async def call_action(
        self,
        upstream: str,  # noqa: ARG002 - the protocol's
        tool: str,  # noqa: ARG002 - likewise
        arguments: Mapping[str, Any],
        *,
        key: str,  # noqa: ARG002 - likewise
        principal: str,  # noqa: ARG002 - likewise
    ) -> ActionAnswer:
        """Count the seat, which names the version that was shown."""
        await wait(self.random)
        self.calls[str(arguments["seat"])] += 1
        await wait(self.random)
        if self.random.random() < 0.15:
            raise EndedError
        return ActionAnswer(is_done=True, value={"seat": {"code": "12A"}})


def content(result: Result) -> dict[str, Any]:
    """Return the structured content."""
    document: dict[str, Any] = orjson.loads(result.structured or b"{}")
    return document


@dataclass
class View:
    """A page that shows a version of the render, on one of the replicas."""

    server: Server
    render_id: str
    press: str
    version: int

    async def push(self, key: str = "") -> dict[str, Any]:
        """Press the button, agree, and return the answer; one press has one key, as in the view."""
        arguments = {
            "render_id": self.render_id,
            "action": "seat.book",
            "payload": {"seat": f"v{self.version}", "pin": ""},
            "state": {},
            "press": self.press,
            "version": self.version,
            **({"idempotency_key": key} if key else {}),
        }
        caller = caller_for(self.server, LOCAL)
        answer = content(await self.server.call("widget_action", arguments, caller))
        if answer.get("status") == "confirm":
            agreed = {**arguments, "token": answer["token"]}
            answer = content(await self.server.call("widget_action", agreed, caller))
        return answer


async def interleave(seed: int, servers: tuple[Server, Server], airline: Airline) -> None:
    """Press a button in several views, at several times and on two replicas."""
    random, first = Random(seed), servers[0]
    widget = first.registry.current.widgets["seats"]
    render = await first.rendering.render(widget, GIVEN, "", owner="")
    views = [View(random.choice(servers), render.id, render.press, 1) for _ in range(2)]
    airline.confirms = random.random() < 0.5
    airline.patience = random.choice((60.0, -1e9))
    answers: list[dict[str, Any]] = []

    async def press(view: View, key: str) -> None:
        with suppress(EndedError):
            answers.append(await view.push(key))

    async with anyio.create_task_group() as tasks:
        for _ in range(random.randint(2, 6)):
            view = random.choice(views)
            match random.choice(("press", "retry", "keyless", "other", "remount")):
                case "press" | "retry":
                    tasks.start_soon(press, view, f"{render.id} {view.version}")
                case "keyless":
                    tasks.start_soon(press, view, "")
                case "other":  # another view of the same version, with a key of its own
                    tasks.start_soon(press, view, f"{random.random()}")
                case "remount":
                    newest = await first.store.renders.get(render.id)
                    assert newest is not None
                    views.append(replace(view, version=newest.version))
            await wait(random)
            if airline.patience > 0:
                # No one waits a minute for the outcome of a process that has ended.
                airline.patience = -1e9 if random.random() < 0.5 else 60.0
        tasks.cancel_scope.deadline = anyio.current_time() + 0.02

    repeated = {seat: count for seat, count in airline.calls.items() if count > 1}
    assert not repeated, f"seed {seed}: {repeated}"
    if any(answer.get("status") == "done" for answer in answers):
        assert airline.calls, f"seed {seed}: done without a call"
    airline.calls.clear()


@pytest.mark.timeout(DEADLINE_S)
async def test_one_user_action_calls_the_upstream_at_most_once() -> None:
    random = Random(1)
    bounds = Bounds(versions_per_s=1e6)
    plain = local_store(bounds)
    airline = EndingAirline(calls=Counter(), random=random)

    def replica() -> Server:
        jumbled: dict[str, Any] = {
            name: Interleaved(getattr(plain, name), random, ends=True)
            for name in ("renders", "actions", "idempotency")
        }
        store: Store = replace(plain, **jumbled)
        return airport(airline, store)

    servers = replica(), replica()
    with anyio.fail_after(DEADLINE_S):
        for seed in range(INTERLEAVINGS):
            await interleave(seed, servers, airline)
