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
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from widgetd.access.principal import Audience, Caller
from widgetd.browser.chromium import Chromium, Theme
from widgetd.browser.keywords import Keyword
from widgetd.browser.keywords.show import set_theme, set_width
from widgetd.browser.stage import DRAWN_S, Stage
from widgetd.browser.steps import browser_ended, followed, has_ended, is_gone, perform
from widgetd.catalog.change import difference
from widgetd.errors import CallError
from widgetd.mcp.notifications import INTERVAL_S
from widgetd.mcp.server import Server
from widgetd.observe.observer import Notice
from widgetd.store.waiters import Replaced

HARD_S = 3_600
LOOK_S = 5
"""How often it is looked for sessions that nobody uses any more."""


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
    """

    owner: str
    stage: Stage
    started: float
    used: float
    follow: bool = False
    id: str = field(default_factory=lambda: f"s_{token_hex(16)}")
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    stale: bool = False

    @property
    def uri(self) -> str:
        """Where what is seen of it is read."""
        return f"widgetd://sessions/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What was done in a session that is over, as `playwright show-trace` reads it.

    Attributes:
        until: How long it is kept, by the clock of the sessions.
        content: A ZIP file.
    """

    owner: str
    until: float
    content: bytes


@dataclass(eq=False)
class Sessions:
    """All sessions of one daemon, in one browser.

    Attributes:
        most: Sessions at the same time.
        idle_s: How long one stays that nobody uses.
        clock: In seconds.
    """

    server: Server
    chromium: Chromium = field(default_factory=Chromium)
    most: int = 8
    idle_s: float = 300
    clock: Callable[[], float] = time.monotonic
    _open: dict[str, Session] = field(default_factory=dict)
    _traces: dict[str, Trace] = field(default_factory=dict)
    _ready: Stage | None = None
    _unready: anyio.Event = field(default_factory=anyio.Event)
    _starting: int = 0
    _eventful: dict[str, Audience] = field(default_factory=dict)
    _happened: anyio.Event = field(default_factory=anyio.Event)

    @property
    def count(self) -> int:
        """How many there are, whosever they are."""
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
        """A session in which the step `first` was done, which shows something.

        With `follow` it goes on with each new version of that; with `trace` all is recorded.

        Raises:
            CallError: There are too many (W4002), or the step cannot be done.
            ConfigError: Playwright or a Chromium is missing (W0011).
        """
        await self.expire()
        running = sum(not is_gone(one.stage) for one in self._open.values())
        if running + self._starting >= self.most:
            waits = [self.left_s(one) for one in self._open.values()]
            problem = f"there are {self.most} sessions already; end one with end_session"
            raise CallError(
                "W4002", problem, recoverable=True, retry_after_s=round(min(waits, default=1), 1)
            )
        opened = partial(self._opened, caller, first, theme, width, locale, trace=trace)
        self._starting += 1
        try:
            stage = await opened()
        except Exception as error:
            # Of a browser that ended it may be heard only when something is asked of it.
            if not has_ended(error):
                raise
            self.chromium.forget()
            stage = await opened()
        finally:
            self._starting -= 1
        now = self.clock()
        session = Session(
            owner=caller.principal.name, stage=stage, started=now, used=now, follow=follow
        )
        stage.told = partial(self._tell, session.uri, caller.principal.audience)
        self._open[session.id] = session
        self._unready.set()
        await self._update(session)
        return session

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
        if stage is None or stage.locale != locale or is_gone(stage):
            stage = await Stage.open(browser, self.server, caller, locale=locale)
        else:
            self._ready, stage.caller = None, caller
            self.chromium.spare.discard(stage.context)
        try:
            await set_theme(stage, theme)
            await set_width(stage, width)
            if trace:
                await stage.context.tracing.start(snapshots=True)
                stage.traced = True
            await perform(stage, keyword, arguments, timeout_s=10)
        except BaseException:
            with suppress(Exception):  # a browser that ended has nothing to be closed
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
        if is_gone(session.stage):
            self._open.pop(session_id, None)
            raise browser_ended()
        return session

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
        if rows and rows[-1].error is not None and rows[-1].error.code == "W4003":
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
            with suppress(Exception):  # a browser that ended has nothing to be closed
                try:
                    if session.stage.traced and not session.stage.secret:
                        await self._keep_trace(session)
                finally:
                    await session.stage.close()
        return session.id in self._traces

    async def _keep_trace(self, session: Session) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "trace.zip"
            await session.stage.context.tracing.stop(path=path)
            content = await anyio.Path(path).read_bytes()
        until = self.clock() + self.idle_s
        self._traces[session.id] = Trace(owner=session.owner, until=until, content=content)
        while len(self._traces) > self.most:
            self._traces.pop(next(iter(self._traces)))

    def trace(self, session_id: str, owner: str) -> bytes | None:
        """The trace of a session that is over, as long as it is kept, for whose it was."""
        kept = self._traces.get(session_id)
        return kept.content if kept is not None and kept.owner == owner else None

    def left_s(self, session: Session) -> float:
        """How long it stays when nobody uses it."""
        now = self.clock()
        return max(min(session.used + self.idle_s, session.started + HARD_S) - now, 0)

    async def expire(self) -> None:
        """End those that nobody uses any more."""
        for session in tuple(self._open.values()):
            if self.left_s(session) <= 0 and not session.turn.statistics().locked:
                await self.end(session)
        for session_id, trace in tuple(self._traces.items()):
            if trace.until <= self.clock():
                del self._traces[session_id]

    async def run(self) -> None:
        """Keep house and tell what happens until this is cancelled, and end the browser then."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._notify, tasks)
                tasks.start_soon(self._follow, tasks)
                tasks.start_soon(self._hear_of_renders, tasks)
                tasks.start_soon(self._make_ready)
                while True:
                    await anyio.sleep(LOOK_S)
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
            if self._ready is not None and not is_gone(self._ready):
                continue
            caller = Caller(snapshot=registry.current, registry=registry)
            # The next session says why a page cannot be made.
            with suppress(Exception), anyio.fail_after(DRAWN_S):
                browser = await self.chromium.browser()
                self._ready = await Stage.open(browser, self.server, caller)
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
        # A step that is under way goes on: it may wait for what this shows. Whoever does the next
        # one is told that the browser ended.
        with suppress(Exception), anyio.move_on_after(DRAWN_S):
            await session.stage.update()

    async def _take_over(self, session: Session) -> None:
        stage = session.stage
        async with session.turn:
            session.stale = False
            if session.id not in self._open or is_gone(stage):
                return
            audience = stage.caller.principal.audience
            snapshot = self.server.views.of(self.server.registry.current, audience)
            facts = {"widget": stage.subject, "generation": snapshot.generation}
            stage.happen("widget.changed", **facts)
            if not session.follow:
                return
            try:
                await followed(stage, snapshot)
            except CallError as error:
                stage.happen("widget.refused", **facts, code=error.code, message=error.message)
