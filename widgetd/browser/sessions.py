"""Sessions: stages that agents drive, one browser context each, one step at a time.

A call that is cancelled lets its step end, and then the session is over: nobody could say in
which state it was left. Whoever does not own a session is told that there is none.

A session stays with the version of its widget that it began with, unless it follows. A render that
is replaced is redrawn in each, as in every host.

Making a page takes longer than showing a widget on one. So once somebody has started a session,
an empty page is kept ready for the next one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from widgetd.access.principal import Audience, Caller
from widgetd.browser.chromium import Chromium, Theme
from widgetd.browser.keywords import Keyword
from widgetd.browser.keywords.show import set_theme, set_width
from widgetd.browser.limits import LIMITS, BrowserLimits
from widgetd.browser.stage import Stage
from widgetd.browser.steps import ENDINGS, ask, browser_ended, is_gone, perform, redraw
from widgetd.browser.traces import Traces
from widgetd.catalog.change import difference
from widgetd.errors import CallError
from widgetd.mcp.notifications import INTERVAL_S
from widgetd.mcp.server import Server
from widgetd.observe.observer import Notice
from widgetd.store.waiters import Replaced

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One step: what it answered, or why it could not be done."""

    keyword: Keyword
    ms: float
    result: Any
    error: CallError | None


@dataclass(kw_only=True)
class Session:
    """One stage and whose it is.

    Attributes:
        id: By which its owner names it; it cannot be guessed.
        owner: The principal's name.
        started: When, by the clock of its sessions.
        used: When it was used last.
        follow: Whether it goes on with each new version of what it shows.
        turn: Whose turn it is: one call at a time, in the order in which they came.
        stale: Whether it is yet to be told of a new version.
        trace_withheld: Why a trace that was recorded cannot be read.
    """

    owner: str
    stage: Stage
    started: float
    used: float
    follow: bool = False
    id: str = field(default_factory=lambda: f"s_{token_hex(16)}")
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    stale: bool = False
    trace_withheld: str = ""

    @property
    def uri(self) -> str:
        """Where what is seen of it is read."""
        return f"widgetd://sessions/{self.id}"


@dataclass(eq=False)
class Sessions:
    """All sessions of one daemon, in one browser.

    Attributes:
        clock: Seconds, monotonic.
    """

    server: Server
    chromium: Chromium = field(default_factory=Chromium)
    limits: BrowserLimits = LIMITS
    clock: Callable[[], float] = time.monotonic
    _open: dict[str, Session] = field(default_factory=dict)
    _traces: Traces = field(init=False)
    _ready: Stage | None = None
    _unready: anyio.Event = field(default_factory=anyio.Event)
    _starting: Counter[str] = field(default_factory=Counter)
    _eventful: dict[str, Audience] = field(default_factory=dict)
    _happened: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        """Make room for traces within the same limits."""
        self._traces = Traces(limits=self.limits, clock=self.clock)

    @property
    def count(self) -> int:
        """The number of sessions of all owners."""
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
        """Start a session with the step `first`, which shows something.

        With `follow` it goes on with each new version of that; with `trace` all is recorded.

        Raises:
            CallError: There are too many (W4002), or the step cannot be done.
            ConfigError: Playwright or a Chromium is missing (W0011).
        """
        owner = caller.principal.name
        await self.expire()
        await self.chromium.browser()  # the sessions of one that died take no place
        await self._demand_place(owner)
        self._starting[owner] += 1
        try:
            stage = await self._opened(caller, first, theme, width, locale, trace=trace)
        finally:
            self._starting[owner] -= 1
            self._starting = +self._starting
        now = self.clock()
        session = Session(owner=owner, stage=stage, started=now, used=now, follow=follow)
        stage.told = partial(self._tell, session.uri, caller.principal.audience)
        self._open[session.id] = session
        self._unready.set()
        await self._update(session)
        return session

    async def _demand_place(self, owner: str) -> None:
        """Return if `owner` may start another session.

        Raises:
            CallError: There are too many, of all owners or of this one (W4002).
        """
        own = self.of(owner)
        # One whose browser ended stays for its owner to hear of it, but not many of them.
        ended = [one for one in own if not self._is_usable(one.stage)]
        quota = self.limits.sessions_of(owner)
        for session in ended[:-quota]:
            await self.end(session)
        running = [one for one in self._open.values() if self._is_usable(one.stage)]
        waiting = running
        if len(running) + self._starting.total() >= self.limits.sessions:
            problem = f"there are {self.limits.sessions} sessions already"
        elif len(own) - len(ended) + self._starting[owner] >= quota:
            problem = f"you have {quota} of {self.limits.sessions} sessions already"
            waiting = [one for one in running if one.owner == owner]
        else:
            return
        waits_s = [self.left_s(one) for one in waiting]
        problem = f"{problem}; end one with end_session"
        retry_after_s = round(min(waits_s, default=1), 1)
        raise CallError("W4002", problem, recoverable=True, retry_after_s=retry_after_s)

    def _is_usable(self, stage: Stage) -> bool:
        return self.chromium.is_running(stage.context.browser) and not is_gone(stage)

    async def _opened(
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
        stage = self._ready
        if stage is None or stage.locale != locale or not self._is_usable(stage):
            stage = await Stage.open(
                browser, self.server, caller, locale=locale, limits=self.limits
            )
        else:
            self._ready, stage.caller = None, caller
            self.chromium.spare.discard(stage.context)

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
        """The session of that id, if it is the owner's.

        Raises:
            CallError: There is none (W4001), or the browser ended (W4003).
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
        """Ask the page of a session for something; end the session if it does not answer.

        Raises:
            CallError: The page does not answer (W4004), its browser ended (W4003), or what was
                asked for cannot be had.
        """
        try:
            return await ask(session.stage, what, read(session.stage))
        except CallError as error:
            if error.code in ENDINGS:
                await self.end(session)
            raise

    def of(self, owner: str) -> tuple[Session, ...]:
        """The owner's sessions."""
        return tuple(one for one in self._open.values() if one.owner == owner)

    async def do(
        self, session: Session, steps: Sequence[tuple[Keyword, dict[str, Any]]], timeout_s: float
    ) -> tuple[Done, ...]:
        """Do the steps in turn, until one cannot be done."""
        rows: list[Done] = []
        async with session.turn:
            try:
                for keyword, arguments in steps:
                    self.get(session.id, session.owner)  # somebody may have ended it meanwhile
                    started, result, error = time.perf_counter(), None, None
                    doing = perform(session.stage, keyword, arguments, timeout_s=timeout_s)
                    with anyio.CancelScope(shield=True):
                        try:
                            result = await doing
                        except CallError as raised:
                            error = raised
                    ms = round((time.perf_counter() - started) * 1000, 1)
                    rows.append(Done(keyword=keyword, ms=ms, result=result, error=error))
                    session.used = self.clock()
                    if error is not None:
                        break
                    await anyio.lowlevel.checkpoint_if_cancelled()
            except anyio.get_cancelled_exc_class():
                await self.end(session)
                raise
        if rows and rows[-1].error is not None and rows[-1].error.code in ENDINGS:
            await self.end(session)
        return tuple(rows)

    async def end(self, session: Session) -> bool:
        """Close its page once the step that runs is done; no other one begins.

        Returns:
            Whether a trace of it can be read for a while.
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
            suppress(Exception),  # of a browser that ended there is none
            TemporaryDirectory() as folder,
            anyio.fail_after(self.limits.answer_s),
        ):
            path = anyio.Path(folder, "trace.zip")
            await session.stage.context.tracing.stop(path=str(path))
            if (await path.stat()).st_size > self.limits.trace_bytes:
                session.trace_withheld = f"it is longer than {self.limits.trace_bytes:,} bytes"
                return
            self._traces.put(session.id, session.owner, await path.read_bytes())
            session.trace_withheld = ""

    def trace(self, session_id: str, owner: str) -> bytes | None:
        """Return the trace of a session of `owner` that has ended, while there is one."""
        return self._traces.get(session_id, owner)

    def left_s(self, session: Session) -> float:
        """Return how long the session stays if nothing more is done in it, in seconds."""
        idle_until = session.used + self.limits.session_idle_s
        return max(min(idle_until, session.started + self.limits.session_hard_s) - self.clock(), 0)

    async def expire(self) -> None:
        """End the unused sessions and drop the traces that are due."""
        for session in tuple(self._open.values()):
            if self.left_s(session) <= 0 and not session.turn.statistics().locked:
                await self.end(session)
        self._traces.expire()

    async def run(self) -> None:
        """Keep house and tell what happens until this is cancelled, and end the browser then."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._notify, tasks)
                tasks.start_soon(self._follow, tasks)
                tasks.start_soon(self._hear_of_renders, tasks)
                tasks.start_soon(self._make_ready)
                while True:
                    await anyio.sleep(self.limits.expire_s)
                    await self.expire()
        finally:
            with anyio.CancelScope(shield=True), suppress(Exception):
                await self.chromium.close()

    async def _make_ready(self) -> None:
        """Keep a page for the next session after each that starts."""
        registry = self.server.registry
        while True:
            await self._unready.wait()
            self._unready = anyio.Event()
            if self._ready is not None and self._is_usable(self._ready):
                continue
            caller = Caller(snapshot=registry.current, registry=registry)
            # The next session says why a page cannot be made.
            with suppress(Exception):
                browser = await self.chromium.browser()
                self._ready = await Stage.open(browser, self.server, caller, limits=self.limits)
                self.chromium.spare.add(self._ready.context)

    def _tell(self, uri: str, audience: Audience) -> None:
        self._eventful[f"{uri}/events"] = audience
        self._happened.set()

    async def _notify(self, tasks: TaskGroup) -> None:
        """Tell whoever subscribed to the events of a session that there are new ones."""
        while True:
            await self._happened.wait()
            self._happened = anyio.Event()
            due, self._eventful = self._eventful, {}

            def notice_for(audience: Audience, due: Mapping[str, Audience] = due) -> Notice:
                return Notice(updated=tuple(uri for uri, one in due.items() if one == audience))

            for root in tuple(self.server.roots):
                await root.tell(notice_for, tasks)
            await anyio.sleep(INTERVAL_S)

    async def _follow(self, tasks: TaskGroup) -> None:
        """Tell each session of new versions of what it shows."""
        registry = self.server.registry
        served = registry.current
        while True:
            before, served = served, await registry.newer_than(served)
            changed = difference(before, served).tools
            for session in self._open.values():
                if session.stage.subject in changed and not session.stale:
                    session.stale = True
                    tasks.start_soon(self._take_over, session)

    async def _hear_of_renders(self, tasks: TaskGroup) -> None:
        """Redraw each render that is replaced where it is shown."""
        replaced = Replaced()
        with self.server.store.renders.hearing(replaced):
            while True:
                render_id = await replaced.next()
                for session in self._open.values():
                    scene = session.stage.scene
                    if scene is not None and scene.render_id == render_id:
                        tasks.start_soon(self._update, session)

    async def _update(self, session: Session) -> None:
        # A step that is under way goes on: it may wait for what this shows. The next one says if
        # the page is gone.
        with suppress(CallError):
            await self.read(session, "Redrawing", Stage.update)

    async def _take_over(self, session: Session) -> None:
        stage = session.stage
        async with session.turn:
            session.stale = False
            if session.id not in self._open or not self._is_usable(stage):
                return
            audience = stage.caller.principal.audience
            snapshot = self.server.views.of(self.server.registry.current, audience)
            facts = {"widget": stage.subject, "generation": snapshot.generation}
            stage.happen("widget.changed", **facts)
            if not session.follow:
                return
            try:
                await redraw(stage, snapshot)
            except CallError as error:
                stage.happen("widget.refused", **facts, code=error.code, message=error.message)
                if error.code in ENDINGS:
                    await self.end(session)
