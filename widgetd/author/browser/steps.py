"""Questions to a page, each with a deadline, and the steps made of them."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import anyio

from widgetd.author.browser.keywords import Keyword
from widgetd.author.browser.stage import Stage
from widgetd.base.errors import CallError
from widgetd.base.text_search import compile_pattern, read_tokens

Answer = TypeVar("Answer")

_LOG_LINE = compile_pattern(r"(?m)^[^\S\n]*+- ++(\S.*)$")
"""A line of Playwright's log; some say why an element cannot be acted on."""

ENDINGS = frozenset({"W4003", "W4004"})
"""Codes after which a page is gone."""


async def perform(
    stage: Stage,
    keyword: Keyword,
    arguments: Mapping[str, Any],
    *,
    timeout_s: float,
    file: str = "",
    line: int = 0,
) -> Any:
    """Do a step and return the keyword's result. The trace has its place in the file.

    Raises:
        CallError: The step cannot be done, or something is not as expected, or the browser ended
            (W4003) or the page does not answer (W4004). Neither counts as something missing.
    """

    async def step() -> Any:
        if not stage.traced:
            return await keyword.function(stage, **arguments)
        location: Any = {"file": file, "line": line} if file else None
        await stage.context.tracing.group(keyword.name, location=location)
        try:
            return await keyword.function(stage, **arguments)
        finally:
            with suppress(Exception):  # the error of the step is the one to report
                await stage.context.tracing.group_end()

    stage.deadline = anyio.current_time() + timeout_s
    try:
        return await ask(stage, keyword.name, step(), timeout_s)
    finally:
        stage.deadline = 0


async def ask(stage: Stage, what: str, answer: Awaitable[Answer], timeout_s: float = 0) -> Answer:
    """Await the answer of a page, and close the page if there is none in time.

    Every question goes through here, because most of Playwright's reading calls have no timeout.
    Any page may be busy for ever: a caller's backtracking pattern is enough. Such a page answers no
    later question either.

    Args:
        stage: Holds the page.
        what: Begins the sentence of an error.
        answer: Awaited.
        timeout_s: Time for the question itself. The page has `answer_s` more.

    Raises:
        CallError: Something cannot be done (W4203), the browser ended (W4003), or the page did not
            answer and is closed (W4004).
    """
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    most_s = timeout_s + stage.limits.answer_s
    try:
        with anyio.fail_after(most_s):
            return await answer
    except Error as error:
        # The connection may learn of the browser's end after the failed call.
        text = str(error)
        if is_gone(stage) or "has been closed" in text or "Target crashed" in text:
            raise browser_ended() from None
        reasons = [reason for line in read_tokens(_LOG_LINE, text) if (reason := _reason(line[1]))]
        why = reasons[-1] if reasons else text.partition("Call log:")[0]
        problem = f"{what} cannot be done in time: {' '.join(why.split())}"
        raise CallError("W4203", problem) from None
    except TimeoutError:
        await stage.close()
        problem = f"{what}: the page did not answer within {most_s:g} s and is closed"
        advice = "start_session starts another one"
        raise CallError("W4004", f"{problem}; {advice}", recoverable=True) from None


def _reason(line: str) -> str:
    state = line.partition("element is ")[2]
    if line.startswith("element is ") and state.startswith(("not ", "outside of the viewport")):
        return f"it is {state}"
    before, hides, _ = line.partition(" intercepts pointer events")
    if hides:
        return before + hides
    return line if " not a" in line and "element" in line else ""


def browser_ended() -> CallError:
    problem = "the browser ended, and the session with it; start_session starts another one"
    return CallError("W4003", problem, recoverable=True)


def is_gone(stage: Stage) -> bool:
    browser = stage.context.browser
    return stage.crashed or stage.page.is_closed() or not (browser and browser.is_connected())
