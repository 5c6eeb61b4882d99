"""Clients of both eras, listing after notices only, and people pressing buttons."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import anyio
import orjson
from mcp import Client
from mcp.client.subscriptions import ToolsListChanged
from mcp_types import ToolListChangedNotification

from simulation.model import Model
from simulation.replica import Replica
from simulation.world import World
from widgetd.base.errors import CallError
from widgetd.server.access.principal import Principal
from widgetd.server.mcp import sdk
from widgetd.server.mcp.http_calls import caller_for
from widgetd.server.render.action_callers import ActionAnswer, ActionCaller, ActionTerms
from widgetd.server.store.contract import StoredRender

SEATS = "seats.widget"
PAUSES_S = (0, 0.001, 0.01, 0.3)
FOLLOWED_S = 5.0  # a page must show what came of its press so soon
TERMINAL = ("done", "failed", "unsure")

_TEMPLATE = """{"type":"Card","asForm":true,"children":[
 {"type":"Text","value":{{ booked | default("none") | tojson }}},
 {"type":"Input","name":"seat","required":true},
 {"type":"Button","submit":true,"label":"Book","onClickAction":{"type":"seat.book"}}]}"""

_SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "string"}, "booked": {"type": "string", "maxLength": 4}},
    "required": ["number"],
    "additionalProperties": False,
}

SEATS_FILE = json.dumps(
    {"version": "1.0", "name": "seats", "template": _TEMPLATE, "jsonSchema": _SCHEMA}
).encode()

SEATS_SIDECAR = b"""
[actions."seat.book"]
upstream = "airline"
tool = "book_seat"
confirm = "Book {{ payload.seat }}?"
[actions."seat.book".arguments]
flight = "number"
seat = "payload.seat"
[actions."seat.book".result]
booked = "seat.code"
"""


@dataclass(eq=False)
class Airline(ActionCaller):
    """An upstream with delays, refusals, repeated calls, lost answers and changing terms."""

    world: World
    model: Model
    random: Random
    confirms: bool
    booked: set[str] = field(default_factory=set)

    def find_terms(self, _upstream: str, _tool: str) -> ActionTerms | None:
        """Allow the tool, except while the upstream announces terms: new, or the same again."""
        if self.random.random() < 0.05:
            self.confirms = self.random.random() < 0.5
            return None
        return ActionTerms(confirm=self.confirms, title="Book a seat", patience_s=60)

    async def call_action(
        self,
        upstream: str,  # noqa: ARG002 - the only upstream
        tool: str,  # noqa: ARG002 - likewise
        arguments: Mapping[str, Any],
        *,
        key: str,
        principal: str,
    ) -> ActionAnswer:
        """Book a seat."""
        # A defect may make two keys, so the judge counts seats.
        self.world.counts["upstream calls"] += 1
        if self.random.random() < 0.1:
            raise CallError("W5012", "the flight is full")
        for _ in range(self.random.choice((1, 1, 2))):  # a network may repeat a call
            await anyio.sleep(self.random.choice((0, 0.003, 0.05)))
            if not key or key not in self.booked:
                self.booked.add(key)
                self.world.note("booked", seat=arguments["seat"])
                self.model.call(str(arguments["seat"]), dict(arguments), principal)
        await anyio.sleep(self.random.choice((0, 0.003, 0.05)))
        if self.random.random() < 0.1:
            raise CallError("W5013", "the answer was lost")
        return ActionAnswer(is_done=True, value={"seat": {"code": "12A"}})


@dataclass(eq=False)
class Person:
    """A person at one render: presses its button, again after an error."""

    world: World
    model: Model
    random: Random
    replicas: list[Replica]
    number: int
    is_done: bool = False
    seen: asyncio.Event = field(default_factory=asyncio.Event)

    async def press(self) -> None:
        """Press in several views at once, and let a stranger try the same."""
        principal, stranger = Principal(name="ada"), Principal(name="eve")
        replica = self._pick()
        if replica is None:
            return
        server = replica.server
        widget = server.registry.current.widgets.get("seats")
        if widget is None:
            return
        flight = f"PA {self.number}"
        generation = server.registry.current.generation
        render = await server.rendering.store(
            await server.rendering.compute(
                widget, {"number": flight}, generation, owner=principal.name
            )
        )
        seat = f"s{self.number}"
        arguments = {
            "render_id": render.id,
            "action": "seat.book",
            "payload": {"seat": seat},
            "press": render.press,
            # Pages send a key and the displayed version. Other clients send either.
            **self.random.choice(({}, {"version": 1})),
            "idempotency_key": f"key of {seat}",
        }
        if "version" in arguments and self.random.random() < 0.3:
            del arguments["idempotency_key"]
        self.model.agree(seat, {"flight": flight, "seat": seat}, principal.name)
        starts = self.world.counts["starts"]
        following = asyncio.ensure_future(self._follow(render.id, principal))
        async with anyio.create_task_group() as tasks:
            for _ in range(self.random.randint(1, 3)):
                tasks.start_soon(self._insist, arguments, principal, seat)
                await anyio.sleep(self.random.choice(PAUSES_S))
            if self.random.random() < 0.3:
                theirs = {**arguments, "press": "guess", "idempotency_key": "of eve"}
                tasks.start_soon(self._insist, theirs, stranger, "")
        if self.is_done:
            with anyio.move_on_after(FOLLOWED_S):
                await self.seen.wait()
            # A process that ends while the store is away cannot hand its outcome over.
            if not self.seen.is_set() and starts == self.world.counts["starts"]:
                self.model.violate("a page shows what came of its press", seat)
        following.cancel()

    def _pick(self) -> Replica | None:
        ready = [replica for replica in self.replicas if replica.ready.is_set()]
        return self.random.choice(ready) if ready else None

    async def _follow(self, render_id: str, principal: Principal) -> None:
        """Follow the render at one replica after another, as a page does."""
        while not self.seen.is_set():
            if replica := self._pick():
                caller = caller_for(replica.server, principal)
                with suppress(CallError):
                    newer = await replica.server.rendering.wait_for_newer(
                        render_id, caller, after=1, timeout_s=60
                    )
                    if isinstance(newer, StoredRender):
                        self.seen.set()
            await anyio.sleep(0.3)

    async def _insist(self, arguments: Mapping[str, Any], principal: Principal, seat: str) -> None:
        for _ in range(5):
            replica = self._pick()
            if replica is not None:
                status = await self._send(replica, arguments, principal)
                self.world.note("answer", seat=seat, status=status, replica=replica.name)
                if seat:
                    self.model.answer(seat, status)
                    self.is_done |= status == "done"
                if status in TERMINAL:
                    return
            await anyio.sleep(self.random.choice(PAUSES_S))

    async def _send(
        self, replica: Replica, arguments: Mapping[str, Any], principal: Principal
    ) -> str:
        """Send a press, and agree if a question comes."""
        self.world.counts["presses"] += 1
        process, caller = replica.process, caller_for(replica.server, principal)
        answer: dict[str, Any] = {}
        try:
            for _ in range(2):
                if self.number % 3 == 0:
                    await self._steal(replica, arguments)
                result = await replica.server.call("widget_action", arguments, caller)
                answer = orjson.loads(result.structured or b"{}")
                if answer.get("status") != "confirm":
                    break
                arguments = {**arguments, "token": answer["token"]}
        except CallError as error:
            return error.code
        if not process.is_alive:
            return "reset"
        return str(answer.get("status", "refused"))

    async def _steal(self, replica: Replica, arguments: Mapping[str, Any]) -> None:
        """Let a stranger send a press in her own name, with every secret of its owner."""
        caller = caller_for(replica.server, Principal(name="eve"))
        with suppress(CallError):
            await replica.server.call("widget_action", arguments, caller)


@dataclass(eq=False)
class Listener:
    """A client: lists its tools at first and after each notice only.

    Attributes:
        tools: Its last list. None before the first.
        listed_s: When it listed last.
        notices: Number of notices since it connected.
        swaps: Number of snapshots served before that connection.
    """

    world: World
    model: Model
    replica: Replica
    era: str
    tools: list[str] | None = None
    listed_s: float = 0.0
    notices: int = 0
    swaps: int = 0
    _notices: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Connect, and again whenever the daemon is another process."""
        self.task = asyncio.ensure_future(self._stay())

    async def stop(self) -> None:
        """Vanish."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait([self.task])

    async def _stay(self) -> None:
        while True:
            self.tools = None
            await self.replica.ready.wait()
            listening = asyncio.ensure_future(self._listen())
            try:
                await self.replica.process.ended.wait()
            finally:
                listening.cancel()
                await asyncio.wait([listening])

    async def _listen(self) -> None:
        async def receive(message: object) -> None:
            if self.era == "legacy" and isinstance(message, ToolListChangedNotification):
                self._notice()

        mode: Any = "legacy" if self.era == "legacy" else "auto"
        async with AsyncExitStack() as stack:
            server = sdk.lowlevel_of(self.replica.server.mcp)
            client = await stack.enter_async_context(
                Client(server, mode=mode, message_handler=receive)
            )
            if self.era != "legacy":
                stream = await stack.enter_async_context(client.listen(tools_list_changed=True))
                tasks = await stack.enter_async_context(anyio.create_task_group())
                tasks.start_soon(self._take, stream)
            self.notices, self.swaps = 0, self.replica.swaps
            while True:
                self._notices.clear()
                self.listed_s = self.world.clock.now_s
                self.tools = await self.read_tools(client)
                self.world.counts["lists"] += 1
                await self._notices.wait()

    async def _take(self, stream: Any) -> None:
        async for event in stream:
            if isinstance(event, ToolsListChanged):
                self._notice()

    def _notice(self) -> None:
        self.notices += 1
        self._notices.set()
        self.model.count(self.era, self.notices, self.replica.swaps - self.swaps)

    @staticmethod
    async def read_tools(client: Client) -> list[str]:
        """Return the entries of the list."""
        tools = (await client.list_tools()).tools
        return sorted(tool.model_dump_json(exclude_none=True) for tool in tools)

    async def look(self) -> list[str]:
        """Return the current list, by another connection."""
        mode: Any = "legacy" if self.era == "legacy" else "auto"
        async with Client(sdk.lowlevel_of(self.replica.server.mcp), mode=mode) as client:
            return await self.read_tools(client)
