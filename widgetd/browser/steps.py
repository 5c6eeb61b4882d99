"""One step on a stage: a keyword with its arguments, within a time; why it could not be done."""

from __future__ import annotations

import re
from typing import Any

import anyio

from widgetd.browser.keywords import Keyword
from widgetd.browser.stage import Stage
from widgetd.errors import CallError

_REASONS = re.compile(
    r"- +(?:element is (not \w+)|(.* intercepts pointer events)"
    r"|element is (outside of the viewport)|(.*not an? <?\w+>?.*element.*))"
)
"""What Playwright's log says of an element that cannot be acted on."""

GRACE_S = 10
"""How much longer than its time a step may take before the page counts as hung."""


async def perform(
    stage: Stage, keyword: Keyword, arguments: dict[str, Any], *, timeout_s: float
) -> Any:
    """Do one step, and answer what the keyword answers.

    Raises:
        CallError: It could not be done, or something was not as expected; or the browser ended
            (W4003), which is never taken for something that is not there.
    """
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    stage.deadline = anyio.current_time() + timeout_s
    try:
        with anyio.fail_after(timeout_s + GRACE_S):
            return await keyword.function(stage, **arguments)
    except Error as error:
        raise _cannot(stage, keyword, error) from None
    except TimeoutError:
        raise CallError("W4203", f"{keyword.name}: the page does not answer") from None
    finally:
        stage.deadline = 0


def browser_ended() -> CallError:
    """What whoever had a session in it is told."""
    problem = "the browser ended, and the session with it; start_session starts another one"
    return CallError("W4003", problem, recoverable=True)


def is_gone(stage: Stage) -> bool:
    """Whether there is no page any more to do anything on."""
    browser = stage.page.context.browser
    return stage.crashed or stage.page.is_closed() or not (browser and browser.is_connected())


def _cannot(stage: Stage, keyword: Keyword, error: Exception) -> CallError:
    text = str(error)
    # The connection may still be told of it when the call that died with it is.
    if is_gone(stage) or "has been closed" in text or "Target crashed" in text:
        return browser_ended()
    reasons = [next(filter(None, one)) for one in _REASONS.findall(text)]
    why = f"it is {reasons[-1]}" if reasons and reasons[-1].startswith(("not", "out")) else ""
    why = why or (reasons[-1] if reasons else text.partition("Call log:")[0].strip())
    return CallError("W4203", f"{keyword.name} cannot be done in time: {' '.join(why.split())}")
