"""Keywords that read the stage."""

from __future__ import annotations

from widgetd.author.browser.stage import Stage
from widgetd.author.browser.targets import NOWHERE, Target


async def look(stage: Stage) -> str:
    """Read the screen: role and name of each element, and the ref by which to act on it."""
    return await stage.screen()


async def picture(stage: Stage, target: Target = NOWHERE) -> bytes:
    """Take a picture of the widget, or of a part of it."""
    return await stage.picture(target)


async def read_text(stage: Stage, target: Target) -> str:
    """Read the text of an element."""
    for candidate in (await stage.locators(target))[:1]:
        texts = await candidate.all_inner_texts()
        if len(texts) == 1:
            return texts[0]
    return await (await stage.find(target)).inner_text(timeout=stage.left_ms)


async def read_value(stage: Stage, target: Target) -> str:
    """Read the value of a field; of a box, whether it is ticked."""
    return await stage.value_of(await stage.find(target))
