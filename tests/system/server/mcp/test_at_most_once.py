"""However presses, retries, mounts, replicas and ends interleave, an upstream is called once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
import orjson
import pytest

from tests.support.examples import SCALE
from tests.system.server.mcp.booking import GIVEN, Airline, airport
from tests.system.server.store.failing import FailingServer
from widgetd.server.access.principal import LOCAL
from widgetd.server.mcp.http_calls import caller_for
from widgetd.server.mcp.server import Server
from widgetd.server.render.action_callers import ActionAnswer
from widgetd.server.render.result import Result
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import Store, local_store

INTERLEAVINGS = round(500 * SCALE)
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
    """Return the structured content; of an error, its code as the status."""
    document: dict[str, Any] = orjson.loads(result.structured or b"{}")
    return {"status": result.code, **document}


@dataclass
class View:
    """A page that shows a version of the render, on one of the replicas."""

    server: Server
    render_id: str
    press: str
    version: int
    sends_version: bool = True

    async def push(self, key: str = "") -> dict[str, Any]:
        """Press the button, agree, and return the answer; one press has one key, as in the view."""
        arguments = {
            "render_id": self.render_id,
            "action": "seat.book",
            "payload": {"seat": f"v{self.version}", "pin": ""},
            "state": {},
            "press": self.press,
            **({"version": self.version} if self.sends_version else {}),
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
        return airport(airline, jumble(plain, random, ends=True))

    servers = replica(), replica()
    with anyio.fail_after(DEADLINE_S):
        for seed in range(INTERLEAVINGS):
            await interleave(seed, servers, airline)


AWAY = (1, 2, 3, 1_000)
"""Number of calls in a row that fail."""

REFUSED = {
    "W5017",  # the store is away
    "W5015",  # the token was taken by an attempt that was refused
}


@pytest.mark.parametrize("identity", ["key", "version", "key and version"])
@pytest.mark.parametrize("confirms", [False, True])
@pytest.mark.parametrize("is_late", [False, True], ids=["before", "after"])
async def test_press_is_one_operation_at_whichever_call_its_store_fails(
    identity: str, *, confirms: bool, is_late: bool
) -> None:
    shared, airline = FailingServer(is_late=is_late), Airline(confirms=confirms)
    airline.patience = -1e9  # no one waits a minute for the outcome of a claim that failed
    servers = replicas(airline, shared)
    with anyio.fail_after(DEADLINE_S):
        for length in AWAY:
            first, is_over = 1, False
            while not is_over:
                view = await show(servers, shared)
                shared.calls, shared.failures = 0, range(first, first + length)
                answers = [await attempt(view, server, identity) for server in servers * 2]
                is_over, shared.failures = shared.calls < first, ()
                answers.append(await attempt(view, servers[1], identity))
                check(airline, answers, f"calls {first} to {first + length - 1} fail")
                first += 1


@pytest.mark.parametrize("identity", ["key", "version", "key and version"])
async def test_presses_on_two_replicas_are_one_operation_at_whichever_call_the_store_fails(
    identity: str,
) -> None:
    shared, airline, random = FailingServer(), Airline(patience=-1e9), Random(1)
    servers = replicas(airline, shared, random)
    with anyio.fail_after(DEADLINE_S):
        for seed in range(INTERLEAVINGS // 5):
            view = await show(servers, shared)
            airline.confirms, shared.is_late = random.random() < 0.5, random.random() < 0.5
            first = random.randint(1, 40)
            shared.calls, shared.failures = 0, range(first, first + random.choice(AWAY))
            answers: list[str] = []

            async def press(server: Server, view: View = view, answers: Any = answers) -> None:
                answers.append(await attempt(view, server, identity))

            async with anyio.create_task_group() as tasks:
                for server in servers * 2:
                    tasks.start_soon(press, server)
            shared.failures = ()
            answers.append(await attempt(view, random.choice(servers), identity))
            check(airline, answers, f"seed {seed}")


def replicas(airline: Airline, shared: FailingServer, random: Random | None = None) -> list[Server]:
    """Return two replicas; with `random`, others may overtake the calls of their stores."""
    stores = [shared.open_replica(Bounds(versions_per_s=1e6)) for _ in range(2)]
    return [
        airport(airline, store if random is None else jumble(store, random)) for store in stores
    ]


def jumble(store: Store, random: Random, *, ends: bool = False) -> Store:
    """Return the store with its calls put off at random."""
    parts: dict[str, Any] = {
        name: Interleaved(getattr(store, name), random, ends=ends)
        for name in ("renders", "actions", "idempotency")
    }
    return replace(store, **parts)


async def show(servers: Sequence[Server], shared: FailingServer) -> View:
    """Show the widget, of which both replicas have a copy."""
    shared.calls, shared.failures = 0, ()
    widget = servers[0].registry.current.widgets["seats"]
    render = await servers[0].rendering.render(widget, GIVEN, "", owner="")
    for server in servers:
        assert await server.store.renders.get(render.id) is not None
    assert shared.calls
    return View(servers[0], render.id, render.press, 1)


async def attempt(view: View, server: Server, identity: str) -> str:
    """Press on a replica; return the status, or the code of the error."""
    view = replace(view, server=server, sends_version="version" in identity)
    return str((await view.push("k" if "key" in identity else ""))["status"])


def check(airline: Airline, answers: Sequence[str], case: str) -> None:
    """Check the answers by what the upstream received; at the last, the store had returned."""
    booked = Counter(str(arguments["seat"]) for arguments, _ in airline.requests)
    assert booked.total() <= 1, f"{case}: {answers}, {booked}"
    assert booked or "done" not in answers, f"{case}: {answers}"
    assert set(answers) <= {"done", "unsure", *REFUSED}, f"{case}: {answers}"
    assert answers[-1] in {"done", "unsure"}, f"{case}: {answers}"
    airline.requests.clear()
