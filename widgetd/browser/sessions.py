"""Sessions: stages that agents drive, one browser context each, one step at a time.

A call that is cancelled lets its step end, and then the session is over: nobody could say in
which state it was left. Whoever does not own a session is told that there is none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

import anyio
import anyio.lowlevel

from widgetd.browser.chromium import Chromium, Theme
from widgetd.browser.keywords import Keyword
from widgetd.browser.stage import Stage
from widgetd.browser.steps import browser_ended, is_gone, perform
from widgetd.errors import CallError
from widgetd.mcp.principal import Caller
from widgetd.mcp.server import Server

MOST = 8
IDLE_S = 300
HARD_S = 3_600
LOOK_S = 5
"""How often it is looked for sessions that nobody uses any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One step that was done, or could not be.

    Attributes:
        keyword: Which.
        ms: How long it took.
        result: What it answered.
        error: Why it could not be done; None where it was.
    """

    keyword: Keyword
    ms: float
    result: Any = None
    error: CallError | None = None


@dataclass(kw_only=True)
class Session:
    """One stage and whose it is.

    Attributes:
        id: By which its owner names it; it cannot be guessed.
        owner: The principal's name.
        stage: What is shown.
        started: When, by the clock of its sessions.
        used: When it was used last.
        turn: Whose turn it is: one call at a time, in the order in which they came.
        ended: Why it is over; None while it is not.
    """

    id: str
    owner: str
    stage: Stage
    started: float
    used: float
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    ended: CallError | None = None


class Sessions:
    """All sessions of one daemon, in one browser.

    Args:
        server: Whose widgets are shown.
        most: Sessions at the same time.
        clock: Tells the time, in seconds.
    """

    def __init__(
        self,
        server: Server,
        *,
        most: int = MOST,
        idle_s: float = IDLE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = server
        self._most = most
        self._idle_s = idle_s
        self._clock = clock
        self._chromium = Chromium()
        self._open: dict[str, Session] = {}
        self._starting = 0

    async def start(
        self,
        caller: Caller,
        first: tuple[Keyword, Mapping[str, Any]],
        *,
        theme: Theme,
        width: int,
        locale: str,
    ) -> Session:
        """A session in which the step `first` was done.

        Raises:
            CallError: There are too many (W4002), or the step cannot be done.
            ConfigError: Playwright or a Chromium is missing (W0011).
        """
        await self.expire()
        running = sum(not is_gone(one.stage) for one in self._open.values())
        if running + self._starting >= self._most:
            waits = [self._left_s(one) for one in self._open.values()]
            problem = f"there are {self._most} sessions already; end one with end_session"
            raise CallError(
                "W4002", problem, recoverable=True, retry_after_s=round(min(waits, default=1), 1)
            )
        self._starting += 1
        try:
            browser = await self._chromium.browser()
            stage = await Stage.open(
                browser, self._server, caller, theme=theme, width=width, locale=locale
            )
            try:
                keyword, arguments = first
                await perform(stage, keyword, dict(arguments), timeout_s=10)
            except BaseException:
                await stage.close()
                raise
        finally:
            self._starting -= 1
        now = self._clock()
        owner = caller.principal.name
        session = Session(id=f"s_{token_hex(16)}", owner=owner, stage=stage, started=now, used=now)
        self._open[session.id] = session
        return session

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
            self.get(session.id, session.owner)  # it may have ended while others had their turn
            try:
                for keyword, arguments in steps:
                    started = time.perf_counter()
                    row: dict[str, Any] = {}
                    with anyio.CancelScope(shield=True):
                        try:
                            row["result"] = await perform(
                                session.stage, keyword, arguments, timeout_s=timeout_s
                            )
                        except CallError as error:
                            row["error"] = error
                    ms = round((time.perf_counter() - started) * 1000, 1)
                    rows.append(Done(keyword=keyword, ms=ms, **row))
                    session.used = self._clock()
                    if "error" in row:
                        break
                    await anyio.lowlevel.checkpoint_if_cancelled()
            except anyio.get_cancelled_exc_class():
                await self.end(session)
                raise
        if rows and rows[-1].error is not None and rows[-1].error.code == "W4003":
            await self.end(session)
        return tuple(rows)

    async def end(self, session: Session) -> None:
        """Close its page; nothing of it is left."""
        self._open.pop(session.id, None)
        with suppress(Exception):  # a browser that ended has nothing to be closed
            await session.stage.close()

    def expires_in_s(self, session: Session) -> float:
        """How long it stays when nobody uses it."""
        return round(self._left_s(session), 1)

    def _left_s(self, session: Session) -> float:
        now = self._clock()
        return max(min(session.used + self._idle_s, session.started + HARD_S) - now, 0)

    async def expire(self) -> None:
        """End those that nobody uses any more."""
        for session in tuple(self._open.values()):
            if self._left_s(session) > 0 or session.turn.statistics().locked:
                continue
            await self.end(session)

    async def run(self) -> None:
        """Keep house until this is cancelled, and end the browser then."""
        try:
            while True:
                await anyio.sleep(LOOK_S)
                await self.expire()
        finally:
            with anyio.CancelScope(shield=True), suppress(Exception):
                await self._chromium.close()
