"""Compare pictures as a person does: what became another, not which pixels did.

A picture is cut into cells of eight by eight pixels, and each cell's mean colour is held against
what it was, wherever it lies within a pixel. Debian 13 draws what Debian 12 drew with one cell in
four hundred off by more than 3 levels of 255, one in eight hundred by more than 8: the edges of
letters. A border that is gone, a paler grey or a missing icon moves many times as much.
"""

from __future__ import annotations

from base64 import b64encode
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

_TALLER_PX = 2
_BOUNDS = ((3, 0.02), (8, 0.005))
"""Levels of 255, and the share of cells that may be further from what they were."""


def script() -> str:
    """What compares two pictures in a page."""
    return (files("widgetd.browser") / "picture_diff.js").read_text(encoding="utf-8")


async def difference(context: BrowserContext, before: bytes, after: bytes) -> str:
    """What is different in `after`, in a few words; empty where a person would see nothing."""
    if before == after:
        return ""
    page = await context.new_page()
    try:
        return await difference_in(page, before, after)
    finally:
        await page.close()


async def difference_in(page: Page, before: bytes, after: bytes) -> str:
    """The same, in a page that somebody has."""
    # What an expression comes to is called where it is a function.
    await page.evaluate(
        f"void (window.compared || (() => {{ {script()}; window.compared = compared }})())"
    )
    pair = [b64encode(before).decode(), b64encode(after).decode()]
    found: dict[str, Any] = await page.evaluate("pair => window.compared(...pair)", pair)
    (was_wide, was_tall), (wide, tall) = found["was"], found["is"]
    if wide != was_wide or abs(tall - was_tall) > _TALLER_PX:
        return f"it is {wide} x {tall} pixels, and was {was_wide} x {was_tall}"
    distances, beyond = found["distances"], []
    for levels, most in _BOUNDS:
        share = sum(distance > levels for distance in distances) / max(len(distances), 1)
        if share > most:
            said = f"{share:.1%} of it differs by more than {levels} levels, where {most:.1%} may"
            beyond.append(said)
    return "; ".join(beyond)
