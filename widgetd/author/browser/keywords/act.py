"""Keywords that act as a user does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from widgetd.author.browser.limits import LIMITS
from widgetd.author.browser.stage import Stage
from widgetd.author.browser.targets import NOWHERE, Target, Text
from widgetd.base.errors import CallError

if TYPE_CHECKING:
    from playwright.async_api import Locator

Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="As 2026-03-31.")]


async def press(stage: Stage, target: Target) -> None:
    """Press a button, a row, a link, or anything else that can be pressed."""
    await (await stage.find(target)).click(timeout=stage.left_ms)


async def enter_text(stage: Stage, target: Target, text: Text) -> None:
    """Replace the text of a field."""
    await (await stage.find(target)).fill(text, timeout=stage.left_ms)


async def clear(stage: Stage, target: Target) -> None:
    """Empty a field, or take a choice back."""
    located = await stage.find(target)
    if await _tag(located) in {"input", "textarea"}:
        await located.fill("", timeout=stage.left_ms)
    else:
        around = located.locator("xpath=ancestor-or-self::*[contains(@class, 'field')][1]")
        await around.locator("button.clear").click(timeout=stage.left_ms)


async def choose(stage: Stage, target: Target, option: Text) -> None:
    """Choose an option of a select or of a group, by its label or its value."""
    located = await stage.find(target)
    tag = await _tag(located)
    if tag == "select":
        options = located.locator("option")
        read = "all.filter(one => !one.disabled).map(one => [one.label, one.value])"
    elif tag == "button":
        await located.click(timeout=stage.left_ms)
        options = stage.frame.locator("[role=option]")
        await options.first.wait_for(timeout=stage.left_ms)
        read = "all.map(one => [one.querySelector('span span').innerText])"
    else:
        options = located.locator("input[type=radio]")
        read = "all.map(one => [one.labels[0]?.innerText.trim() ?? '', one.value])"
    offered = await options.evaluate_all(f"all => {read}")
    at = next((at for at, label in enumerate(offered) if option in label), None)
    if at is None:
        labels = ", ".join(repr(label) for label, *_ in offered[: LIMITS.named_elements])
        problem = f"there is no option '{option:.60}'; there are {labels or 'none at all'}"
        raise CallError("W4201", problem, path="option")
    if tag == "select":
        await located.select_option(value=offered[at][1], timeout=stage.left_ms)
    elif tag == "button":
        await options.nth(at).click(timeout=stage.left_ms)
    else:
        await options.nth(at).check(timeout=stage.left_ms)


async def check(stage: Stage, target: Target) -> None:
    """Tick a box."""
    await (await stage.find(target)).check(timeout=stage.left_ms)


async def uncheck(stage: Stage, target: Target) -> None:
    """Take the tick out of a box."""
    await (await stage.find(target)).uncheck(timeout=stage.left_ms)


async def pick_date(stage: Stage, target: Target, date: Day) -> None:
    """Open a date field's calendar, turn to the month, and press the day."""
    located = await stage.find(target)
    if await located.get_attribute("aria-expanded") != "true":
        await located.click(timeout=stage.left_ms)
    calendar = stage.frame.get_by_role("group", name="Calendar", exact=True)
    await calendar.wait_for(timeout=stage.left_ms)
    day = calendar.locator(f'[data-day="{date}"]')
    for _ in range(LIMITS.calendar_months):
        if await day.count() and "outside" not in (await day.get_attribute("class") or ""):
            break
        at = await calendar.locator("[data-day][tabindex='0']").get_attribute("data-day") or ""
        turn = "Next month" if at[:7] < date[:7] else "Previous month"
        button = calendar.get_by_role("button", name=turn, exact=True)
        await button.click(timeout=stage.left_ms)
        turned = calendar.locator("[data-day][tabindex='0']")
        if await turned.get_attribute("data-day") == at:
            break  # the calendar ends here, at its min or max
    if not await day.count():
        raise CallError("W4201", f"the calendar does not reach {date}", path="date")
    await day.click(timeout=stage.left_ms)


async def press_key(stage: Stage, key: str, target: Target = NOWHERE) -> None:
    """Press a key, as Enter, Escape, ArrowDown or Control+a, at the focus or in a target."""
    if target:
        await (await stage.find(target)).press(key, timeout=stage.left_ms)
    else:
        await stage.page.keyboard.press(key)


async def hover(stage: Stage, target: Target) -> None:
    """Move the pointer over an element."""
    await (await stage.find(target)).hover(timeout=stage.left_ms)


async def scroll_to(stage: Stage, target: Target) -> None:
    """Scroll an element into view."""
    await (await stage.find(target)).scroll_into_view_if_needed(timeout=stage.left_ms)


async def submit(stage: Stage, target: Target = NOWHERE) -> None:
    """Submit the form, as Enter in one of its fields does."""
    form = await stage.find(target) if target else stage.frame.locator("form")
    fields = form.locator("input:not([type=hidden]):enabled, select:enabled")
    within = fields.first if await fields.count() else form.locator("button:enabled").last
    await within.press("Enter", timeout=stage.left_ms)


async def _tag(located: Locator) -> str:
    tag: str = await located.evaluate("element => element.localName")
    return tag
