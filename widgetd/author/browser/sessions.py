"""Sessions: stages for agents, each with a browser context, driven step by step.

A cancelled call lets its step end and then ends the session, because its state is unknown by then.
Other callers than the owner get the answer for a missing session.

A session keeps the version of its widget unless it follows the catalog. A replaced render
is redrawn in every session with it, as in every host.

To open a page takes longer than to show a widget on it. So after the start of a session, an empty
page is opened for the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from widgetd.author.browser.chromium import Chromium, Theme
from widgetd.author.browser.keywords import Keyword
from widgetd.author.browser.keywords.show import set_theme, set_width
from widgetd.author.browser.limits import LIMITS, BrowserLimits, Charge, compute_share, no_charge
from widgetd.author.browser.stage import Stage
from widgetd.author.browser.steps import ENDINGS, ask, browser_ended, is_gone, perform
from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.server.access.principal import Audience, Caller, Report, report_nothing
from widgetd.server.catalog.change import difference
from widgetd.server.mcp.limits import LIMITS as MCP_LIMITS
from widgetd.server.mcp.server import Server
from widgetd.server.observe.observer import Notice
from widgetd.server.store.owned import OwnedEntries
from widgetd.server.store.waiters import ReplacedRenders

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """The result of a step, or its error.

    Attributes:
        target: The candidate with an element, where the step had several.
    """

    keyword: Keyword
    ms: float
    result: Any
    error: CallError | None
    target: str = ""


@dataclass(kw_only=True)
class Session:
    """A stage and its owner.

    Attributes:
        id: 128 random bits, against guessing.
        owner: Name of the principal.
        started_s: Time of its start, by the clock of the sessions.
        used_s: Time of the last step, by the same clock.
        follow: Redraw the widget with each of its new versions.
        turn: Held by the call doing steps. Others wait in their order.
        stale: A new version of the widget has yet to be reported.
        trace_withheld: Why a recorded trace cannot be read.
        steps: Steps done, with their keywords' arguments.
    """

    owner: str
    stage: Stage
    started_s: float
    used_s: float
    follow: bool = False
    id: str = field(default_factory=lambda: f"s_{SYSTEM.numbers.token_hex(16)}")
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    stale: bool = False
    trace_withheld: str = ""
    steps: list[tuple[Keyword, Mapping[str, Any]]] = field(default_factory=list)

    @property
    def uri(self) -> str:
        return f"widgetd://sessions/{self.id}"


@dataclass(eq=False)
class BrowserSessions:
    """All sessions of a daemon, in one browser."""

    server: Server
    chromium: Chromium = field(default_factory=Chromium)
    limits: BrowserLimits = LIMITS
    charge: Charge = no_charge
    clock: Callable[[], float] = SYSTEM.clock.steady_s
    _open: dict[str, Session] = field(default_factory=dict)
    _traces: OwnedEntries[bytes] = field(init=False)
    _spare: Stage | None = None
    _spare_used: anyio.Event = field(default_factory=anyio.Event)
    _starting: Counter[str] = field(default_factory=Counter)
    _unread: dict[str, Audience] = field(default_factory=dict)
    _has_unread: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        # A trace stays for as long as an unused session would.
        self._traces = OwnedEntries(
            most=self.limits.sessions,
            most_bytes=self.limits.sessions * self.limits.trace_bytes,
            ttl_s=self.limits.session_idle_s,
            clock=self.clock,
        )

    @property
    def count(self) -> int:
        return len(self._open)

    async def start(
        self,
        caller: Caller,
        first: tuple[Keyword, Mapping[str, Any]],
        *,
        theme: Theme,
        width: int,
        locale: str,
        follow: bool = False,
        trace: bool = False,
    ) -> Session:
        """Start a session with the step `first`, to show something.

        With `follow` the widget is redrawn with each of its new versions, with `trace` all steps
        are recorded.

        Raises:
            CallError: There are too many (W4002), or the step cannot be done.
            ConfigError: Playwright or a Chromium is missing (W0011).
        """
        owner = caller.principal.name
        await self.expire()
        await self.chromium.browser()  # the sessions of a dead browser take no place
        await self._require_place(owner)
        self._starting[owner] += 1
        try:
            stage = await self._open_stage(caller, first, theme, width, locale, trace=trace)
        finally:
            self._starting[owner] -= 1
            self._starting = +self._starting
        now = self.clock()
        session = Session(owner=owner, stage=stage, started_s=now, used_s=now, follow=follow)
        session.steps.append(first)
        stage.on_event = partial(self._note_event, session.uri, caller.principal.audience)
        self._open[session.id] = session
        self._spare_used.set()
        await self._update(session)
        return session

    async def _require_place(self, owner: str) -> None:
        own = self.owned_by(owner)
        # Sessions without a browser stay to tell their owner, but not many of them.
        ended = [session for session in own if not self._is_usable(session.stage)]
        quota = compute_share(self.limits.sessions, owner)
        for session in ended[:-quota]:
            await self.end(session)
        running = [session for session in self._open.values() if self._is_usable(session.stage)]
        candidates = running
        if len(running) + self._starting.total() >= self.limits.sessions:
            problem = f"there are {self.limits.sessions} sessions already"
        elif len(own) - len(ended) + self._starting[owner] >= quota:
            problem = f"you have {quota} of {self.limits.sessions} sessions already"
            candidates = [session for session in running if session.owner == owner]
        else:
            return
        waits_s = [self.left_s(session) for session in candidates]
        problem = f"{problem}; end one with end_session"
        retry_after_s = round(min(waits_s, default=1), 1)
        raise CallError("W4002", problem, recoverable=True, retry_after_s=retry_after_s)

    def _is_usable(self, stage: Stage) -> bool:
        return self.chromium.is_running(stage.context.browser) and not is_gone(stage)

    async def _open_stage(
        self,
        caller: Caller,
        first: tuple[Keyword, Mapping[str, Any]],
        theme: Theme,
        width: int,
        locale: str,
        *,
        trace: bool,
    ) -> Stage:
        keyword, arguments = first
        browser = await self.chromium.browser()
        stage = self._spare
        if stage is None or stage.locale != locale or not self._is_usable(stage):
            stage = await Stage.open(
                browser, self.server, caller, locale=locale, limits=self.limits
            )
        else:
            self._spare, stage.caller = None, caller
            self.chromium.spare.discard(stage.context)
        stage.charge = self.charge

        async def prepare() -> None:
            await set_theme(stage, theme)
            await set_width(stage, width)
            if trace:
                await stage.context.tracing.start(snapshots=True)
                stage.traced = True

        try:
            await ask(stage, "Starting", prepare())
            await perform(stage, keyword, arguments, timeout_s=self.limits.answer_s)
        except BaseException:
            await stage.close()
            raise
        return stage

    def get(self, session_id: str, owner: str) -> Session:
        """Return a session of `owner`.

        Raises:
            CallError: There is no such session (W4001), or the browser ended (W4003).
        """
        session = self._open.get(session_id)
        if session is None or session.owner != owner:
            problem = "there is no such session, or not any more; start_session starts one"
            raise CallError("W4001", problem, path="session_id")
        if not self._is_usable(session.stage):
            self._open.pop(session_id, None)
            raise browser_ended()
        return session

    async def read(
        self, session: Session, what: str, read: Callable[[Stage], Awaitable[Answer]]
    ) -> Answer:
        """Ask the page of a session for something. End the session if it does not answer.

        Raises:
            CallError: The page does not answer (W4004), its browser ended (W4003), or the answer
                cannot be had.
        """
        try:
            return await ask(session.stage, what, read(session.stage))
        except CallError as error:
            if error.code in ENDINGS:
                await self.end(session)
            raise

    def owned_by(self, owner: str) -> tuple[Session, ...]:
        return tuple(session for session in self._open.values() if session.owner == owner)

    async def do(
        self,
        session: Session,
        steps: Sequence[tuple[Keyword, dict[str, Any]]],
        timeout_s: float,
        report: Report = report_nothing,
    ) -> tuple[StepResult, ...]:
        results: list[StepResult] = []
        async with session.turn:
            try:
                for keyword, arguments in steps:
                    self.get(session.id, session.owner)  # another call may have ended it meanwhile
                    with anyio.CancelScope(shield=True):
                        step = await self._do_step(session.stage, keyword, arguments, timeout_s)
                    results.append(step)
                    session.used_s = self.clock()
                    if step.error is not None:
                        break
                    session.steps.append((keyword, arguments))
                    await report(len(results), len(steps), keyword.name)
                    await anyio.lowlevel.checkpoint_if_cancelled()
            except anyio.get_cancelled_exc_class():
                await self.end(session)
                raise
        error = results[-1].error if results else None
        if error is not None and error.code in ENDINGS:
            await self.end(session)
        return tuple(results)

    async def _do_step(
        self, stage: Stage, keyword: Keyword, arguments: Mapping[str, Any], timeout_s: float
    ) -> StepResult:
        started_s, result, error = SYSTEM.clock.steady_s(), None, None
        stage.matched = ""
        try:
            result = await perform(stage, keyword, arguments, timeout_s=timeout_s)
        except CallError as raised:
            error = raised
        ms = round((SYSTEM.clock.steady_s() - started_s) * 1000, 1)
        return StepResult(keyword=keyword, ms=ms, result=result, error=error, target=stage.matched)

    async def end(self, session: Session) -> bool:
        """Close the page of a session after the running step. No other step begins.

        Returns:
            Whether its trace can be read for a while.
        """
        if self._open.pop(session.id, None) is None:
            return False
        has_turn = session.turn.statistics().owner == anyio.get_current_task()
        async with nullcontext() if has_turn else session.turn:
            if session.stage.traced:
                await self._store_trace(session)
            await session.stage.close()
        return self.trace(session.id, session.owner) is not None

    async def _store_trace(self, session: Session) -> None:
        if session.stage.secret:
            session.trace_withheld = "the widget has sensitive fields, or asks for a password"
            return
        session.trace_withheld = "the page ended before it could be written"
        with (
            suppress(Exception),  # there is none after the browser's end
            TemporaryDirectory() as folder,
            anyio.fail_after(self.limits.answer_s),
        ):
            path = anyio.Path(folder, "trace.zip")
            await session.stage.context.tracing.stop(path=str(path))
            if (await path.stat()).st_size > self.limits.trace_bytes:
                session.trace_withheld = f"it is longer than {self.limits.trace_bytes:,} bytes"
                return
            trace = await path.read_bytes()
            self._traces.put(session.id, trace, owner=session.owner, size_bytes=len(trace))
            session.trace_withheld = ""

    def trace(self, session_id: str, owner: str) -> bytes | None:
        return self._traces.get(session_id, owner)

    def left_s(self, session: Session) -> float:
        idle_until_s = session.used_s + self.limits.session_idle_s
        until_s = min(idle_until_s, session.started_s + self.limits.session_hard_s)
        return max(until_s - self.clock(), 0)

    async def expire(self) -> None:
        for session in tuple(self._open.values()):
            if self.left_s(session) <= 0 and not session.turn.statistics().locked:
                await self.end(session)
        self._traces.expire()

    async def run(self) -> None:
        """Expire sessions and notify their readers until cancelled, and close the browser then."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._notify, tasks)
                tasks.start_soon(self._watch_catalog, tasks)
                tasks.start_soon(self._watch_renders, tasks)
                tasks.start_soon(self._keep_spare)
                while True:
                    await anyio.sleep(self.limits.expire_s)
                    await self.expire()
        finally:
            await self.chromium.close()

    async def _keep_spare(self) -> None:
        registry = self.server.registry
        while True:
            await self._spare_used.wait()
            self._spare_used = anyio.Event()
            if self._spare is not None and self._is_usable(self._spare):
                continue
            caller = Caller(snapshot=registry.current, registry=registry)
            # The next session reports why a page cannot be opened.
            with suppress(Exception):
                browser = await self.chromium.browser()
                self._spare = await Stage.open(browser, self.server, caller, limits=self.limits)
                self.chromium.spare.add(self._spare.context)

    def _note_event(self, uri: str, audience: Audience) -> None:
        self._unread[f"{uri}/events"] = audience
        self._has_unread.set()

    async def _notify(self, tasks: TaskGroup) -> None:
        while True:
            await self._has_unread.wait()
            self._has_unread = anyio.Event()
            unread, self._unread = self._unread, {}

            def notice_for(audience: Audience, unread: Mapping[str, Audience] = unread) -> Notice:
                return Notice(updated=tuple(uri for uri, to in unread.items() if to == audience))

            for root in tuple(self.server.roots):
                await root.notify(notice_for, tasks)
            await anyio.sleep(MCP_LIMITS.notify_s)

    async def _watch_catalog(self, tasks: TaskGroup) -> None:
        registry = self.server.registry
        current = registry.current
        while True:
            before, current = current, await registry.wait_for_newer(current)
            changed = difference(before, current).tools
            for session in self._open.values():
                if session.stage.subject in changed and not session.stale:
                    session.stale = True
                    tasks.start_soon(self._apply_version, session)

    async def _watch_renders(self, tasks: TaskGroup) -> None:
        replaced = ReplacedRenders()
        with self.server.store.renders.listening(replaced):
            while True:
                render_id = await replaced.next()
                for session in self._open.values():
                    display = session.stage.display
                    if display is not None and display.render_id == render_id:
                        tasks.start_soon(self._update, session)

    async def _update(self, session: Session) -> None:
        # A step may run meanwhile and wait for this. The next step reports a missing page.
        with suppress(CallError):
            await self.read(session, "Redrawing", Stage.update)

    async def _apply_version(self, session: Session) -> None:
        stage = session.stage
        async with session.turn:
            session.stale = False
            if session.id not in self._open or not self._is_usable(stage):
                return
            audience = stage.caller.principal.audience
            snapshot = self.server.views.of(self.server.registry.current, audience)
            facts = {"widget": stage.subject, "generation": snapshot.generation}
            stage.emit("widget.changed", **facts)
            if not session.follow:
                return
            try:
                await ask(stage, "Redrawing", stage.follow(snapshot))
            except CallError as error:
                stage.emit("widget.refused", **facts, code=error.code, message=error.message)
                if error.code in ENDINGS:
                    await self.end(session)
