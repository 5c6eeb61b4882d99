"""One upstream, kept connected: what it can do, how it is, and a call of one of its tools.

    connect -> list tools -> listen -> (lost) -> pause -> connect

All kinds are one thing inside, a FastMCP client: over HTTP, over pipes of a child, or in this
process to a server made of an OpenAPI document. Nothing that an upstream says in words goes any
further than this module, but to whoever asks for an answer.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import anyio
import anyio.to_thread
import orjson
from pydantic import ValidationError

from widgetd.errors import CallError, WidgetError
from widgetd.logs import get_logger
from widgetd.schema.validator import Schema, compile_schema
from widgetd.upstreams import wire
from widgetd.upstreams.answers import Answer, answer_of, malformed, too_large
from widgetd.upstreams.breaker import PAUSES_S, Breaker
from widgetd.upstreams.clients import client_of, import_client, server_of
from widgetd.upstreams.declarations import Declaration
from widgetd.upstreams.limits import LIMITS, run_sized
from widgetd.upstreams.listing import Tool, ToolListing

if TYPE_CHECKING:
    from fastmcp import Client

State = Literal["disabled", "connecting", "ready", "empty", "failing", "failed"]

CONNECTION_CLOSED = -32000
"""The code of the SDK's own error where a connection ends."""

PARSE_ERROR = -32700
"""The code of the SDK's own error where a response cannot be parsed."""

_log = get_logger()


class Observer(Protocol):
    """Is told of calls. Called in the event loop; must neither wait nor raise."""

    def upstream_called(self, upstream: str, outcome: str, seconds: float) -> None:
        """A call is over; the outcome is `ok` or a code."""

    def upstream_answered(self, upstream: str, source: str) -> None:
        """A widget was filled from a `call`, a `kept` answer or a `stale` one."""


@asynccontextmanager
async def while_running(run: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Have `run` go on within; a `CallError` that is raised there is raised as itself."""
    refused = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        try:
            yield
        except CallError as error:  # beside a task that runs, it would be one of a group
            refused = error
        tasks.cancel_scope.cancel()
    if refused is not None:
        raise refused


@dataclass(eq=False)
class Upstream:
    """One upstream.

    Attributes:
        tools: Those that may be called, by name.
        dropped: How many tools of the latest list were left out, by reason; see `ToolListing`.
        reason: Why it is not ready, in one word; empty where it is.
        since: When it came to be so, in seconds since the epoch.
        last_ok: When it last answered, likewise; None where it never did.
        protocol: The version of MCP that is spoken; empty where none is.
        calls: How many were made, and `errors` of them failed.
    """

    declaration: Declaration
    observer: Observer | None = None
    clock: Callable[[], float] = time.monotonic
    is_logged: bool = True
    tools: Mapping[str, Tool] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    state: State = "connecting"
    reason: str = ""
    since: float = field(default_factory=time.time)
    last_ok: float | None = None
    protocol: str = ""
    calls: int = 0
    errors: int = 0
    breaker: Breaker = field(init=False)
    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=256))
    _client: Client[Any] | None = None
    _listing: ToolListing = field(default_factory=lambda: ToolListing(()))
    _schemas: OrderedDict[bytes, Schema | None] = field(default_factory=OrderedDict)
    _wire: wire.Wire | None = None
    _settled: anyio.Event = field(default_factory=anyio.Event)
    _tried: anyio.Event = field(default_factory=anyio.Event)
    _hurried: anyio.Event = field(default_factory=anyio.Event)
    _stirred: anyio.Event = field(default_factory=anyio.Event)
    _relist: bool = False
    _lost: bool = False
    _retry_at: float = 0.0
    _at_once: anyio.CapacityLimiter = field(init=False)
    _running: int = 0
    _idle: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        declared = self.declaration.declared
        self.breaker = Breaker(declared.fail_after, self.clock)
        self._at_once = anyio.CapacityLimiter(declared.at_once)
        if not declared.enabled:
            self.state = "disabled"
            self._settled.set()

    @property
    def name(self) -> str:
        """What feeds call it."""
        return self.declaration.name

    @property
    def has_session(self) -> bool:
        """Whether there is a connection to lose, as MCP has and plain requests have not."""
        return self.declaration.kind in {"mcp", "stdio"}

    def retry_in_s(self) -> float:
        """When a call may succeed."""
        waiting = 0.0 if self._client else max(self._retry_at - self.clock(), 0.0)
        return round(max(self.breaker.retry_in_s(), waiting), 3)

    def percentiles(self) -> tuple[float, float] | None:
        """p50 and p95 of the latest calls, in milliseconds."""
        if not self._seconds:
            return None
        ordered = sorted(self._seconds)
        middle, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
        return round(middle * 1000, 1), round(late * 1000, 1)

    async def run(self) -> None:
        """Keep it connected, until cancelled."""
        if not self.declaration.declared.enabled:
            return
        failures = 0
        while True:
            began, error = self.clock(), None
            try:
                async with self._connected() as client:
                    await self._keep(client)
            except Exception as raised:  # noqa: BLE001 whatever ends a connection, it is made again
                error = raised
            was_ready, self._client = self._client is not None, None
            lasted_s = self.clock() - began
            # What worked for a while and is lost is looked for at once.
            failures = 0 if was_ready and lasted_s > PAUSES_S[0] else failures + 1
            pause_s = PAUSES_S[min(failures, len(PAUSES_S)) - 1] if failures else 0.0
            self._retry_at = self.clock() + pause_s
            self._turn("failed", self._why(error, began))
            self._settled.set()
            self._tried.set()
            self._tried = anyio.Event()
            with anyio.move_on_after(pause_s):
                await self._hurried.wait()
            self._hurried = anyio.Event()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client[Any]]:
        self._lost = self._relist = False
        http = None
        declaration = self.declaration
        secrets, connect_s = declaration.secrets, declaration.connect_s
        # In the loop, everybody's calls would wait for it; and it is no fault of the upstream's.
        await anyio.to_thread.run_sync(import_client, declaration)
        self._wire = line = wire.Wire(
            private=declaration.declared.private,
            is_mcp=declaration.kind == "mcp",
            clock=self.clock,
        )
        service = None
        if declaration.kind in {"openapi", "endpoints"}:
            http = wire.client(line, secrets["headers"], base=secrets["base"])
        try:
            if http is not None:
                service = await anyio.to_thread.run_sync(server_of, declaration, http)
            with anyio.fail_after(connect_s):
                client = client_of(declaration, line, service, self._heard, self._reduce)
                await client.__aenter__()  # type: ignore[no-untyped-call]  # FastMCP's
            try:
                with anyio.fail_after(connect_s):
                    await self._list(client)
                self._client = client
                self.protocol = client.protocol_version or "" if self.has_session else ""
                self._settled.set()
                self._tried.set()
                yield client
            finally:
                self._client = None
                with anyio.CancelScope(shield=True), anyio.move_on_after(connect_s):
                    await client.close()  # type: ignore[no-untyped-call]  # FastMCP's
        finally:
            if http is not None:
                await wire.closed(http)

    async def _keep(self, client: Client[Any]) -> None:
        """Notice what changes, and look after it when nothing was heard for long, until lost."""
        is_modern = self.has_session and client.initialize_result is None
        async with anyio.create_task_group() as tasks:
            if is_modern:
                tasks.start_soon(self._listen, client)
            while not self._lost:
                idle_s = self.declaration.declared.idle_probe_s if self.has_session else None
                with anyio.move_on_after(idle_s):
                    await self._stirred.wait()
                self._stirred = anyio.Event()
                if self._lost:
                    break
                with anyio.fail_after(self.declaration.connect_s):
                    if self._relist:
                        self._relist = False
                        await self._list(client)
                    elif not self.has_session:
                        continue
                    elif is_modern:
                        await client.session.send_discover(self.protocol)
                    else:
                        await client.ping()
            tasks.cancel_scope.cancel()

    async def _listen(self, client: Client[Any]) -> None:
        from mcp import MCPError  # noqa: PLC0415 - most daemons have no upstream
        from mcp.client.subscriptions import SubscriptionLost, listen  # noqa: PLC0415 - likewise

        try:
            async with listen(client.session, tools_list_changed=True) as events:
                async for _ in events:
                    self._stir(relist=True)
        except SubscriptionLost:
            pass
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                return  # it tells nobody of changes
        self._lost = True
        self._stir()

    async def _heard(self, message: Any) -> None:
        """A legacy server says something unasked."""
        root = getattr(message, "root", message)
        if getattr(root, "method", "") == "notifications/tools/list_changed":
            self._stir(relist=True)

    def _stir(self, *, relist: bool = False) -> None:
        self._relist = self._relist or relist
        self._stirred.set()

    def _reduce(self, page: dict[str, Any]) -> None:
        self._listing.reduce(page)

    async def _list(self, client: Client[Any]) -> None:
        """Read the list of tools, page by page, while `_reduce` fills `_listing`."""
        listing = self._listing = ToolListing(self.declaration.declared.tools)
        cursor, cursors = None, set[str]()
        for _ in range(LIMITS.pages):
            cursor = (await client.list_tools_mcp(cursor=cursor)).next_cursor
            if cursor is None or cursor in cursors:
                break
            cursors.add(cursor)
        else:
            listing.drop("pages")
        self.tools = dict(listing.tools)
        if listing.dropped and listing.dropped != self.dropped and self.is_logged:
            _log.warning("upstream.tools_dropped", upstream=self.name, dropped=listing.dropped)
        self.dropped = listing.dropped
        if not self.breaker.is_open:
            self._turn("ready" if self.tools else "empty", "")

    def _turn(self, state: State, reason: str) -> None:
        if (state, reason) == (self.state, self.reason):
            return
        self.state, self.reason, self.since = state, reason, time.time()
        if self.is_logged and state == "ready":
            _log.info("upstream.ready", upstream=self.name)
        elif self.is_logged:
            _log.warning("upstream.failed", upstream=self.name, state=state, reason=reason)

    def _why(self, error: BaseException | None, began: float) -> str:
        """Why it failed, in one word: what was seen on the wire, else what was raised."""
        noted = self._wire.since(began) if self._wire else None
        if noted is not None:
            return "protocol" if noted.reason == wire.TOO_LARGE else noted.reason
        found = wire.reason_of(error) if error is not None else ""
        if self.declaration.kind == "stdio" and found in {"", "protocol"}:
            return "exited"
        return found or "protocol"

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """What a tool of it answers.

        Raises:
            CallError: There is no such tool for us (W5004), it does not take these arguments
                (W5005), it says that it failed (W5010), its answer is too large (W5008) or not MCP
                (W5020), or the upstream is not available (W5002) or too slow (W5003).
        """
        started, outcome = self.clock(), "failed"
        self.calls += 1
        self._running += 1
        try:
            answer = await self._called(tool, arguments)
        except CallError as error:
            outcome = error.code
            self.errors += 1
            raise
        else:
            outcome = "ok"
            self.last_ok = time.time()
            return answer
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()
            seconds = self.clock() - started
            self._seconds.append(seconds)
            if self.observer is not None:
                self.observer.upstream_called(self.name, outcome, seconds)

    async def settled(self) -> None:
        """Wait until the first try to connect has come to something."""
        await self._settled.wait()

    async def retried(self) -> None:
        """Wait for a try to connect that begins now, where it is not connected: somebody asks."""
        await self._settled.wait()
        if self.state == "failed":
            self._hurried.set()
            await self._tried.wait()

    async def idle(self) -> None:
        """Wait until no call is running."""
        while self._running:
            self._idle = anyio.Event()
            await self._idle.wait()

    async def _called(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        began, admitted = self.clock(), False
        call_s = self.declaration.declared.call_s
        try:
            with anyio.fail_after(call_s):
                await self._settled.wait()
                client = self._available()
                given = await self._fitting(tool, arguments)
                async with self._at_once:
                    self._admit()
                    admitted = True
                    result = await client.call_tool_mcp(tool, given)
        except CallError:
            raise
        except TimeoutError:
            if admitted:
                self._failed("timeout")
            problem = f"the upstream '{self.name}' did not answer within {call_s:g} s"
            wait_s = self.retry_in_s()
            raise CallError("W5003", problem, recoverable=True, retry_after_s=wait_s) from None
        except Exception as error:  # noqa: BLE001 - whatever a library raises, the upstream failed
            raise self._judged(error, began) from None
        except BaseException:
            if admitted:
                self.breaker.abandoned()
            raise
        if result.is_error:
            raise self._judged(None, began)
        self._succeeded()
        size = sum(len(getattr(block, "text", "")) for block in result.content)
        return await run_sized(size, answer_of, result, self.name)

    def _judged(self, error: Exception | None, began: float) -> CallError:
        """What a call failed of, which the breaker is told if it says something of the upstream."""
        noted = self._wire.since(began) if self._wire else None
        if noted is not None and noted.reason == wire.TOO_LARGE:
            self._succeeded()
            return too_large(self.name)
        code = getattr(error, "code", None)
        if noted is None and (code == PARSE_ERROR or isinstance(error, ValidationError)):
            self._succeeded()
            return malformed(self.name, "the SDK cannot read it")
        answered = error is None or (isinstance(code, int) and code != CONNECTION_CLOSED)
        if noted is None and answered:
            self._succeeded()
            problem = f"the tool of the upstream '{self.name}' says that it failed"
            return CallError("W5010", problem)
        reason = self._why(error, began)
        if noted is None or noted.counts:
            self._failed(reason)
        else:
            self._succeeded()
        return self.unavailable(reason)

    def _succeeded(self) -> None:
        was_open = self.breaker.is_open
        self.breaker.succeeded()
        if was_open or self.state == "failing":
            self._turn("ready" if self.tools else "empty", "")

    def _failed(self, reason: str) -> None:
        self.breaker.failed()
        if self.breaker.is_open:
            self._turn("failing", reason)
        if self.has_session:
            self._stir()  # whether the connection is still good is found out beside the calls

    async def _fitting(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        found = self.tools.get(tool)
        if found is None:
            problem = f"the upstream '{self.name}' has no tool '{tool[:80]}' that may be called"
            names = ", ".join(sorted(self.tools)[:20])
            raise CallError("W5004", f"{problem}; it has {names or 'none'}", path="tool")
        given = dict(arguments)
        schema = await self._compiled(found)
        if schema is None:
            return given
        try:
            return schema.check(given).arguments
        except CallError as error:
            problem = f"the tool '{tool}' of the upstream '{self.name}' takes other arguments"
            wrong = error.invalid_arguments
            said = f"{problem}: {'; '.join(map(str, wrong)) or error.message}"
            raise CallError("W5005", said, path=error.path, invalid_arguments=wrong) from None

    async def _compiled(self, tool: Tool) -> Schema | None:
        """Return what decides about a tool's arguments; None where its schema cannot be used.

        Compiled at the first call, not when the tools are listed: a list may hold minutes of
        work and gigabytes of patterns in tools that no feed uses.
        """
        key = tool.schema_json
        if key not in self._schemas:
            self._schemas[key] = await anyio.to_thread.run_sync(_compile, key)
        self._schemas.move_to_end(key)
        if len(self._schemas) > LIMITS.compiled_schemas:
            self._schemas.popitem(last=False)
        return self._schemas[key]

    def _available(self) -> Client[Any]:
        if self._client is None:
            raise self.unavailable()
        return self._client

    def _admit(self) -> None:
        if not self.breaker.admit():
            raise self.unavailable()

    def unavailable(self, reason: str = "") -> CallError:
        """It cannot be asked now (W5002)."""
        why, retry_s = reason or self.reason or self.state, self.retry_in_s()
        problem = f"the upstream '{self.name}' is not available ({why})"
        return CallError("W5002", problem, recoverable=True, retry_after_s=retry_s)


def _compile(schema_json: bytes) -> Schema | None:
    with suppress(WidgetError):
        return compile_schema(orjson.loads(schema_json))
    return None
