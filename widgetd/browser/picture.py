"""A picture of a widget as a value: what to take, what was taken, and what became another.

Pictures are compared as a person does, not by which pixels differ. A picture is cut into cells of
eight by eight pixels, and each cell's mean colour is held against what it was, wherever it lies
within a pixel. Debian 13 draws what Debian 12 drew with one cell in four hundred off by more than
3 levels of 255, one in eight hundred by more than 8: the edges of letters. A border that is gone,
a paler grey or a missing icon moves many times as much.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from widgetd.browser.chromium import FONTS, Theme
from widgetd.browser.targets import NOWHERE, Target
from widgetd.render.view import inline

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

Format = Literal["png", "jpeg"]

_TALLER_PX = 2
_BOUNDS = ((3, 0.02), (8, 0.005))
"""Levels of 255, and the share of cells that may be further from what they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One picture to take.

    Attributes:
        tree: The widget root.
        width: Of the room that the widget has, in CSS pixels; its height is its own.
        scale: Pixels of the picture for each CSS pixel.
        locale: The language that numbers and dates are shown in.
        part: What of the widget to take; all of it where that leads nowhere in particular.
        format: A JPEG has nothing transparent.
        transparent: Whether what a widget has outside of a card stands on nothing, too; else on
            what is behind widgets in a chat, so that it can be read.
    """

    tree: Mapping[str, Any]
    title: str
    theme: Theme = "light"
    width: int = 400
    scale: float = 2.0
    locale: str = "en-US"
    part: Target = NOWHERE
    format: Format = "png"
    transparent: bool = False

    @property
    def json(self) -> str:
        """What the page draws it from."""
        return inline(
            self.tree, theme=self.theme, locale=self.locale, title=self.title, fonts=FONTS
        )

    @property
    def key(self) -> bytes:
        """Another one for each picture that could be another."""
        how = (self.width, self.scale, str(self.part), self.format, self.transparent)
        return hashlib.sha256(f"{how} {self.json}".encode()).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture that was taken: a file, and its size in pixels.

    Attributes:
        overflow: What of the widget is wider than its room.
        console: What the page complained of.
    """

    content: bytes
    format: Format
    width: int
    height: int
    overflow: tuple[str, ...] = ()
    console: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Equal for equal pictures."""
        return hashlib.sha256(self.content).hexdigest()[:16]


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
