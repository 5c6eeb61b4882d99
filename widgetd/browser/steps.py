"""One step on a stage: a keyword with its arguments, within a time; why it could not be done."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio

from widgetd.browser.keywords import Keyword
from widgetd.browser.stage import Stage
from widgetd.errors import CallError

if TYPE_CHECKING:
    from widgetd.catalog.snapshot import Snapshot

_REASONS = re.compile(
    r"- +(?:element is (not \w+)|(.* intercepts pointer events)"
    r"|element is (outside of the viewport)|(.*not an? <?\w+>?.*element.*))"
)
"""What Playwright's log says of an element that cannot be acted on."""

GRACE_S = 10
"""How much longer than its time a step may take before the page counts as hung."""


async def perform(
    stage: Stage,
    keyword: Keyword,
    arguments: Mapping[str, Any],
    *,
    timeout_s: float,
    file: str = "",
    line: int = 0,
) -> Any:
    """Do one step, and answer what the keyword answers; the trace says where it was written.

    Raises:
        CallError: It could not be done, or something was not as expected; or the browser ended
            (W4003), which is never taken for something that is not there.
    """
    tracing = stage.context.tracing
    if stage.traced:
        location: Any = {"file": file, "line": line} if file else None
        await tracing.group(keyword.name, location=location)
    try:
        return await _within(stage, keyword.name, keyword.function(stage, **arguments), timeout_s)
    finally:
        if stage.traced:
            with suppress(Exception):  # what ends a step is never that its trace has no end
                await tracing.group_end()


async def followed(stage: Stage, snapshot: Snapshot) -> None:
    """Redraw what is shown as `snapshot` has it.

    Raises:
        CallError: It is served no more, or what it was called with does not fit any more.
    """
    await _within(stage, "Following", stage.follow(snapshot), GRACE_S)


async def _within(stage: Stage, what: str, doing: Awaitable[Any], timeout_s: float) -> Any:
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    stage.deadline = anyio.current_time() + timeout_s
    try:
        with anyio.fail_after(timeout_s + GRACE_S):
            return await doing
    except Error as error:
        # The connection may still be told of it when the call that died with it is.
        if is_gone(stage) or has_ended(error):
            raise browser_ended() from None
        text = str(error)
        reasons = [next(filter(None, one)) for one in _REASONS.findall(text)]
        why = reasons[-1] if reasons else text.partition("Call log:")[0]
        if reasons and why.startswith(("not", "out")):
            why = f"it is {why}"
        problem = f"{what} cannot be done in time: {' '.join(why.split())}"
        raise CallError("W4203", problem) from None
    except TimeoutError:
        raise CallError("W4203", f"{what}: the page does not answer") from None
    finally:
        stage.deadline = 0


def browser_ended() -> CallError:
    """What whoever had a session in it is told."""
    problem = "the browser ended, and the session with it; start_session starts another one"
    return CallError("W4003", problem, recoverable=True)


def has_ended(error: Exception) -> bool:
    """Whether `error` says that the browser ended, or the page by itself."""
    if isinstance(error, CallError):
        return error.code == "W4003"
    return any(said in str(error) for said in ("has been closed", "Target crashed"))


def is_gone(stage: Stage) -> bool:
    """Whether there is no page any more to do anything on."""
    browser = stage.context.browser
    return stage.crashed or stage.page.is_closed() or not (browser and browser.is_connected())
