"""One upstream, kept connected: its tools, its state, and calls of its tools.

    connect -> list tools -> listen -> (lost) -> pause -> connect

All kinds are a FastMCP client here: over HTTP, over a child's pipes, or in this process to a
server made of an OpenAPI document. Texts of an upstream leave this module only as answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

import anyio
from pydantic import ValidationError

from widgetd.base.errors import CallError
from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM
from widgetd.server.render.action_callers import ActionAnswer
from widgetd.upstreams.announcements import (
    CONNECTION_CLOSED,
    ResourceListeners,
    follow_resource,
    follow_tools,
)
from widgetd.upstreams.answers import (
    REFUSED_META,
    UpstreamAnswer,
    content_size,
    malformed_error,
    to_answer,
    to_blocks,
    too_large_error,
    words_for_people,
    words_of,
)
from widgetd.upstreams.breaker import Breaker, pause_s
from widgetd.upstreams.declarations import Declaration
from widgetd.upstreams.limits import LIMITS, run_sized
from widgetd.upstreams.listing import ToolListing, ToolSchemas, UpstreamTool
from widgetd.upstreams.transport import (
    CALL_FAILURES,
    KEY_META,
    TOO_LARGE,
    Fate,
    RecordingTransport,
    TransportFailure,
    close_client,
    failure_reason,
    http_client,
)

if TYPE_CHECKING:
    from fastmcp import Client

State = Literal["disabled", "connecting", "ready", "empty", "failing", "failed"]

PARSE_ERROR = -32700
"""The code of the SDK's own error where a response cannot be parsed."""

_log = get_logger()


class UpstreamObserver(Protocol):
    """Receives calls, in the event loop. Must neither wait nor raise."""

    def upstream_called(self, upstream: str, outcome: str, seconds: float) -> None:
        """Receive the end of a call. The outcome is `ok` or a code."""

    def upstream_answered(self, upstream: str, source: str) -> None:
        """Receive the source of a widget's data: a `call`, a `kept` or a `stale` answer."""


def import_client(declaration: Declaration) -> None:
    """Import what a client needs: half a second, saved by daemons without upstreams."""
    import_module("widgetd.upstreams.clients")
    if not declaration.kind.has_session:
        import_module("fastmcp.server.providers.openapi")


@dataclass(eq=False)
class Upstream:
    """One upstream.

    Attributes:
        tools: The callable tools, by name.
        actions: The tools for actions of users, by name.
        dropped: Number of tools left out of the latest list, by reason. See `ToolListing`.
        unmarked: Number of tools left out of it because they may change something.
        reason: Why it is not ready, in one word, or empty if it is.
        settled: Set by the outcome of the first attempt to connect.
        since: Time of the latest change of state, in seconds since the epoch.
        last_ok: Time of the latest answer, in seconds since the epoch, or None.
        protocol: Version of MCP, or empty where none is spoken.
        calls: Number of calls, `errors` of which failed.
    """

    declaration: Declaration
    observer: UpstreamObserver | None = None
    clock: Callable[[], float] = SYSTEM.clock.steady_s
    is_logged: bool = True
    tools: Mapping[str, UpstreamTool] = field(default_factory=dict)
    actions: Mapping[str, UpstreamTool] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    unmarked: int = 0
    state: State = "connecting"
    reason: str = ""
    settled: anyio.Event = field(default_factory=anyio.Event)
    since: float = field(default_factory=SYSTEM.clock.wall_s)
    last_ok: float | None = None
    protocol: str = ""
    calls: int = 0
    errors: int = 0
    breaker: Breaker = field(init=False)
    _durations_s: deque[float] = field(default_factory=lambda: deque(maxlen=256))
    _client: Client[Any] | None = None
    _listing: ToolListing = field(default_factory=lambda: ToolListing(()))
    _schemas: ToolSchemas = field(default_factory=ToolSchemas)
    _recorder: RecordingTransport | None = None
    _attempted: anyio.Event = field(default_factory=anyio.Event)
    _retry_now: anyio.Event = field(default_factory=anyio.Event)
    _woken: anyio.Event = field(default_factory=anyio.Event)
    _needs_listing: bool = False
    _retry_at: float = 0.0
    _slots: anyio.CapacityLimiter = field(init=False)
    _fates: dict[str, Fate] = field(default_factory=dict)
    _resource_listeners: ResourceListeners = field(default_factory=ResourceListeners)
    _lost: anyio.Event = field(default_factory=anyio.Event)
    _running: int = 0
    _idle: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        table = self.declaration.table
        self.breaker = Breaker(table.fail_after, self.clock)
        self._slots = anyio.CapacityLimiter(table.at_once)
        if not table.enabled:
            self.state = "disabled"
            self.settled.set()

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def has_session(self) -> bool:
        return self.declaration.kind.has_session

    @property
    def advice(self) -> str:
        """Return advice where it has tools, but no callable ones, else nothing."""
        if self.state != "empty" or not self.unmarked:
            return ""
        tools = "1 tool" if self.unmarked == 1 else f"{self.unmarked} tools"
        return f"{tools}, none says that it only reads. Write tools = [...]"

    def describe(self) -> dict[str, Any]:
        description = {
            "name": self.name,
            "state": self.state,
            "reason": self.reason,
            "unmarked": self.unmarked,
            "advice": self.advice,
        }
        return {key: value for key, value in description.items() if value}

    def retry_in_s(self) -> float:
        waiting = 0.0 if self._client else max(self._retry_at - self.clock(), 0.0)
        return round(max(self.breaker.retry_in_s(), waiting), 3)

    def percentiles_ms(self) -> tuple[float, float] | None:
        if not self._durations_s:
            return None
        ordered = sorted(self._durations_s)
        middle, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
        return round(middle * 1000, 1), round(late * 1000, 1)

    async def run(self) -> None:
        if not self.declaration.table.enabled:
            return
        failures = 0
        while True:
            began, error = self.clock(), None
            try:
                async with self._connection() as client:
                    await self._watch(client)
            except Exception as raised:  # noqa: BLE001 - whatever ends a connection, connect again
                error = raised
            was_ready, self._client = self._client is not None, None
            lasted_s = self.clock() - began
            # A connection lost after a while of work is replaced at once.
            failures = 0 if was_ready and lasted_s > pause_s(1) else failures + 1
            wait_s = pause_s(failures) if failures else 0.0
            self._retry_at = self.clock() + wait_s
            self._set_state("failed", self._reason(error, began))
            self.settled.set()
            self._attempted.set()
            self._attempted = anyio.Event()
            with anyio.move_on_after(wait_s):
                await self._retry_now.wait()
            self._retry_now = anyio.Event()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Client[Any]]:
        self._needs_listing = False
        http = service = None
        declaration = self.declaration
        secrets, connect_s = declaration.secrets, declaration.connect_s
        # In a thread, or all calls would wait. Before the timeout, for it is not the upstream's.
        await SYSTEM.threads.run_blocking(import_client, declaration)
        from widgetd.upstreams.clients import (  # noqa: PLC0415 - see `import_client`
            build_client,
            build_service,
        )

        self._recorder = recorder = RecordingTransport(
            private=declaration.table.private,
            is_mcp=self.has_session,
            watched=self._fates,
            clock=self.clock,
            reduce=self._reduce if self.has_session else None,
        )
        try:
            if not self.has_session:
                http = http_client(recorder, secrets["headers"], base=secrets["base"])
                service = await SYSTEM.threads.run_blocking(build_service, declaration, http)
            with anyio.fail_after(connect_s):
                client = build_client(
                    declaration, recorder, service, self._on_message, self._reduce
                )
                await client.__aenter__()  # type: ignore[no-untyped-call]  # FastMCP's
            try:
                with anyio.fail_after(connect_s):
                    await self._list_tools(client)
                self._client, self._lost = client, anyio.Event()
                self.protocol = client.protocol_version or "" if self.has_session else ""
                self.settled.set()
                self._attempted.set()
                yield client
            finally:
                self._client = None
                self._lost.set()
                with anyio.CancelScope(shield=True), anyio.move_on_after(connect_s):
                    await client.close()  # type: ignore[no-untyped-call]  # FastMCP's
        finally:
            if http is not None:
                await close_client(http)

    async def _watch(self, client: Client[Any]) -> None:
        """Follow changes of the tools, and probe a silent server, until an error shows its loss."""
        is_modern = self.has_session and client.initialize_result is None
        idle_s = self.declaration.table.idle_probe_s if self.has_session else None
        async with anyio.create_task_group() as tasks:
            if is_modern:  # FastMCP's client never subscribes by itself
                tasks.start_soon(self._listen, client)
            while True:
                with anyio.move_on_after(idle_s):
                    await self._woken.wait()
                self._woken = anyio.Event()
                with anyio.fail_after(self.declaration.connect_s):
                    if self._needs_listing:
                        self._needs_listing = False
                        await self._list_tools(client)
                    elif is_modern:
                        await client.session.send_discover(self.protocol)
                    elif self.has_session:
                        await client.ping()

    async def _listen(self, client: Client[Any]) -> None:
        if await follow_tools(client, partial(self._wake, needs_listing=True)):
            raise anyio.EndOfStream  # ends `_watch`

    async def _on_message(self, message: Any) -> None:
        root = getattr(message, "root", message)
        if getattr(root, "method", "") == "notifications/tools/list_changed":
            self._wake(needs_listing=True)
        elif getattr(root, "method", "") == "notifications/resources/updated":
            self._resource_listeners.notify(str(root.params.uri))

    def _wake(self, *, needs_listing: bool = False) -> None:
        self._needs_listing = self._needs_listing or needs_listing
        self._woken.set()

    def _reduce(self, page: dict[str, Any]) -> None:
        self._listing.reduce(page)

    async def _list_tools(self, client: Client[Any]) -> None:
        table = self.declaration.table
        listing = self._listing = ToolListing(table.tools, table.action_rules)
        cursor, cursors = None, set[str]()
        for _ in range(LIMITS.pages):
            cursor = (await client.list_tools_mcp(cursor=cursor)).next_cursor
            if cursor is None or cursor in cursors:
                break
            cursors.add(cursor)
        else:
            listing.drop("pages")
        listed = listing.tools.items()
        self.tools = {n: tool for n, tool in listed if listing.is_callable(n, tool.is_read_only)}
        self.actions = {n: tool for n, tool in listed if n in table.action_rules}
        if listing.dropped and listing.dropped != self.dropped and self.is_logged:
            _log.warning("upstream.tools_dropped", upstream=self.name, dropped=listing.dropped)
        self.dropped = listing.dropped
        self.unmarked = self.declaration.unmarked + listing.unmarked
        if not self.breaker.is_open:
            self._set_usable()

    def _set_usable(self) -> None:
        self._set_state("ready" if self.tools or self.actions else "empty", "")

    def _set_state(self, state: State, reason: str) -> None:
        if (state, reason) == (self.state, self.reason):
            return
        self.state, self.reason, self.since = state, reason, SYSTEM.clock.wall_s()
        if self.is_logged and state == "ready":
            _log.info("upstream.ready", upstream=self.name)
        elif self.is_logged:
            _log.warning("upstream.failed", upstream=self.name, state=state, reason=reason)

    def _failure_since(self, began: float) -> TransportFailure | None:
        return self._recorder.failure_since(began) if self._recorder else None

    def _reason(self, error: BaseException | None, began: float) -> str:
        failure = self._failure_since(began)
        if failure is not None:
            return "protocol" if failure.reason == TOO_LARGE else failure.reason
        reason = failure_reason(error) if error is not None else ""
        return self.declaration.kind.loss if reason in {"", "protocol"} else reason

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, has_blocks: bool = False
    ) -> UpstreamAnswer:
        """Call a tool and return its answer.

        Args:
            tool: The tool.
            arguments: Its arguments.
            has_blocks: Whether the answer has all blocks of the result, see `to_blocks`.

        Raises:
            CallError: The tool does not exist or is not allowed (W5004), it does not take these
                arguments (W5005), it reports a failure (W5010), its answer is too large (W5008,
                W5016) or not MCP (W5020), or the upstream is not available (W5002) or too slow
                (W5003).
        """
        with self._observe():
            began, result = await self._send(tool, arguments)
            if result.is_error:
                failure = self._failed_call(result, began)
                if failure.code == "W5010":
                    failure.words = words_of(result)
                raise failure
            self._record_success()
            read = to_blocks if has_blocks else to_answer
            return await run_sized(content_size(result), read, result, self.name)

    async def call_action(
        self, tool: str, arguments: Mapping[str, Any], *, key: str, principal: str
    ) -> ActionAnswer:
        """Call a tool for actions of users, once.

        Args:
            tool: The tool. The operator allows it as an action.
            arguments: Its arguments.
            key: Identifies the press. With it, an upstream can ignore a repeated press.
            principal: A stand-in for the name of the principal.

        Raises:
            CallError: Nothing was done (as for `call`), or it is unknown whether something was
                (W5013).
        """
        meta = {KEY_META: key, "widgetd/principal": principal}
        # A child's pipes do not tell what was read from them.
        self._fates[key] = "sent" if self.declaration.table.command else "undelivered"
        with self._observe(), ExitStack() as ending:
            ending.callback(self._fates.pop, key, None)
            began, result = await self._send(tool, arguments, meta)
            if not result.is_error:
                self._record_success()
                value = None
                with suppress(CallError):  # it was done, with or without an answer
                    value = to_answer(result, self.name).value(self.name)
                return ActionAnswer(is_done=True, value=value, words=words_for_people(result))
            if self.has_session:
                self._record_success()
            else:  # its server answers for the service, even if the service was never reached
                error = self._failed_call(result, began)
                if self._fates[key] == "sent":
                    raise self._may_be_done()
                if self._fates[key] == "undelivered":
                    raise error
            return ActionAnswer(is_done=False, words=words_for_people(result))

    @contextmanager
    def _observe(self) -> Iterator[None]:
        started, outcome, failures = self.clock(), "failed", CALL_FAILURES.set([])
        self.calls += 1
        self._running += 1
        try:
            yield
        except CallError as error:
            outcome = error.code
            self.errors += 1
            raise
        else:
            outcome = "ok"
            self.last_ok = SYSTEM.clock.wall_s()
        finally:
            CALL_FAILURES.reset(failures)
            self._running -= 1
            if not self._running:
                self._idle.set()
            duration_s = self.clock() - started
            self._durations_s.append(duration_s)
            if self.observer is not None:
                self.observer.upstream_called(self.name, outcome, duration_s)

    async def listen_to(self, uri: str, notify: Callable[[], None]) -> None:
        """Call `notify` at each announced change of a resource, while it is connected."""
        await self.settled.wait()
        lost = self._lost
        with self._resource_listeners.adding(uri, notify):
            if self._client and await follow_resource(self._client, uri, notify):
                await lost.wait()

    async def ensure_attempt(self) -> None:
        """Attempt to connect at once where it is not connected, and wait for the outcome."""
        await self.settled.wait()
        if self.state == "failed":
            self._retry_now.set()
            await self._attempted.wait()

    async def wait_idle(self) -> None:
        while self._running:
            self._idle = anyio.Event()
            await self._idle.wait()

    def _may_be_done(self) -> CallError:
        return CallError("W5013", f"the upstream '{self.name}' was called, and did not answer")

    async def _send(
        self,
        name: str,
        arguments: Mapping[str, Any],
        meta: Mapping[str, Any] | None = None,
    ) -> tuple[float, Any]:
        """Call a tool. Return the time of the call's start, and the result.

        With `meta` it is a tool for actions and may change something. So an error after sending is
        W5013, unless the request is known not to have arrived.
        """
        began, is_admitted = self.clock(), False
        call_s = self.declaration.table.call_s
        try:
            with anyio.fail_after(call_s):
                await self.settled.wait()
                client = self._require_client()
                tools = self.tools if meta is None else self.actions
                checked = await self._schemas.check(self.name, name, tools, arguments)
                async with self._slots:
                    self._require_admission()
                    is_admitted = True
                    if meta is None:
                        return began, await self._call_or_retry(client, name, checked, began)
                    # Never a second time, whatever the upstream says.
                    return began, await client.call_tool_mcp(name, checked, meta=dict(meta))
        except CallError:
            raise
        except TimeoutError:
            if is_admitted:
                self._record_failure("timeout")
                if meta is not None:
                    raise self._may_be_done() from None
            problem = f"the upstream '{self.name}' did not answer within {call_s:g} s"
            wait_s = self.retry_in_s()
            raise CallError("W5003", problem, recoverable=True, retry_after_s=wait_s) from None
        except Exception as error:  # noqa: BLE001 - whatever a library raises, the upstream failed
            failure = self._to_error(error, began)
            is_sent = meta is not None and self._fates.get(meta[KEY_META]) != "undelivered"
            if is_sent and is_admitted:
                raise self._may_be_done() from None
            raise failure from None
        except BaseException:
            if is_admitted:
                self.breaker.abandon()
            raise

    async def _call_or_retry(
        self, client: Client[Any], name: str, arguments: dict[str, Any], began: float
    ) -> Any:
        """Call a tool. After HTTP 503, wait and call again if a repeat is harmless."""
        try:
            result = await client.call_tool_mcp(name, arguments)
            if not result.is_error or (pause_s := self._retry_pause_s(name, began)) is None:
                return result
        except Exception:  # what a library makes of a status
            if (pause_s := self._retry_pause_s(name, began)) is None:
                raise
        await anyio.sleep(pause_s)
        CALL_FAILURES.set([])
        return await client.call_tool_mcp(name, arguments)

    def _retry_pause_s(self, name: str, began: float) -> float | None:
        failure = self._failure_since(began)
        if failure is None or failure.reason != "http_503" or not self.tools[name].is_read_only:
            return None
        left_s = anyio.current_effective_deadline() - anyio.current_time()
        return failure.retry_after_s if failure.retry_after_s < left_s else None

    def _failed_call(self, result: Any, began: float) -> CallError:
        if self.has_session or REFUSED_META not in (result.meta or {}):
            return self._to_error(None, began)
        self._record_success()
        problem = f"the service of the upstream '{self.name}' refused the request"
        return CallError("W5010", problem)

    def _to_error(self, error: Exception | None, began: float) -> CallError:
        failure = self._failure_since(began)
        if failure is not None and failure.reason == TOO_LARGE:
            self._record_success()
            self._wake()  # a program is cut off in the middle of its line
            return too_large_error(self.name)
        code = getattr(error, "code", None)
        if failure is None and (code == PARSE_ERROR or isinstance(error, ValidationError)):
            self._record_success()
            return malformed_error(self.name, "the SDK cannot read it")
        is_answer = error is None or (isinstance(code, int) and code != CONNECTION_CLOSED)
        if failure is None and is_answer:
            self._record_success()
            problem = f"the tool of the upstream '{self.name}' says that it failed"
            return CallError("W5010", problem)
        reason = self._reason(error, began)
        self._record_failure(reason)
        return self.unavailable_error(reason)

    def _record_success(self) -> None:
        was_open = self.breaker.is_open
        self.breaker.record_success()
        if was_open or self.state == "failing":
            self._set_usable()

    def _record_failure(self, reason: str) -> None:
        self.breaker.record_failure()
        if self.breaker.is_open:
            self._set_state("failing", reason)
        if self.has_session:
            self._wake()  # the probe tells whether the connection is still good

    def _require_client(self) -> Client[Any]:
        if self._client is None:
            raise self.unavailable_error()
        return self._client

    def _require_admission(self) -> None:
        if not self.breaker.admit():
            raise self.unavailable_error()

    def unavailable_error(self, reason: str = "") -> CallError:
        word, retry_s = reason or self.reason or self.state, self.retry_in_s()
        problem = f"the upstream '{self.name}' is not available ({word})"
        return CallError("W5002", problem, recoverable=True, retry_after_s=retry_s)
