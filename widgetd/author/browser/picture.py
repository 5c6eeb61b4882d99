"""Pictures of widgets as values, and their comparison.

Pictures are compared as a person does, not pixel by pixel. A picture is cut into cells of eight by
eight pixels, and the mean colour of each cell is compared, wherever it lies within a pixel. Debian
13 draws what Debian 12 drew with a cell in four hundred off by more than 3 levels of 255, and a
cell in eight hundred by more than 8: the edges of letters. A missing border, a paler grey or a
missing icon moves many times as much. A single letter moves less, so letters are compared as well:
they differ in a cell if no shift by a part of a pixel explains its strokes.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from widgetd.author.browser.chromium import FONTS, Theme
from widgetd.author.browser.targets import NOWHERE, Target
from widgetd.server.render.view import inline

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

Format = Literal["png", "jpeg"]

_TALLER_PX = 2
_BOUNDS = ((3, 0.02), (8, 0.005))
"""Levels of 255, and the share of cells that may differ by more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot:
    """A picture to take.

    Attributes:
        tree: The widget root.
        width: Width of the widget's room in CSS pixels. Its height is its own.
        scale: Pixels of the picture for each CSS pixel.
        locale: Language of numbers and dates.
        part: The element to take, by default all of the widget.
        format: A JPEG has no transparency.
        palette: The theme of the widgets, as JSON.
        transparent: Leave out the background behind text outside of cards. By default it is the
            background of a chat, for legible text.
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
    palette: bytes = b""

    @property
    def json(self) -> str:
        return inline(
            self.tree,
            theme=self.theme,
            locale=self.locale,
            title=self.title,
            fonts=FONTS,
            palette=self.palette,
        )

    @property
    def key(self) -> str:
        options = (self.width, self.scale, str(self.part), self.format, self.transparent)
        return hashlib.sha256(f"{options} {self.json}".encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture as a file, and its size in pixels.

    Attributes:
        overflow: Elements wider than the widget's room, each in a few words.
        console: Errors in the console of the page.
    """

    content: bytes
    format: Format
    width: int
    height: int
    overflow: tuple[str, ...] = ()
    console: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()[:16]


def diff_script() -> str:
    return (files("widgetd.author.browser") / "picture_diff.js").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureDifference:
    """The visible part of a difference.

    Attributes:
        description: What differs, by how much and where.
        side_by_side: A PNG: as expected, as seen, and as seen with a frame around what differs.
    """

    description: str
    side_by_side: bytes


async def find_difference(
    context: BrowserContext, before: bytes, after: bytes
) -> PictureDifference | None:
    if before == after:
        return None
    page = await context.new_page()
    try:
        if not (description := await describe_difference_on(page, before, after)):
            return None
        pair = [b64encode(before).decode(), b64encode(after).decode()]
        drawn = b64decode(await page.evaluate("pair => window.sideBySide(...pair)", pair))
        return PictureDifference(description=description, side_by_side=drawn)
    finally:
        await page.close()


async def describe_difference_on(page: Page, before: bytes, after: bytes) -> str:
    exports = "Object.assign(window, { compared, sideBySide })"
    # `void`, because Playwright calls the value of an expression if it is a function.
    await page.evaluate(f"void (window.compared || (() => {{ {diff_script()}; {exports} }})())")
    pair = [b64encode(before).decode(), b64encode(after).decode()]
    result: dict[str, Any] = await page.evaluate("pair => window.compared(...pair)", pair)
    (old_width, old_height), (width, height) = result["was"], result["is"]
    if width != old_width or abs(height - old_height) > _TALLER_PX:
        return f"it is {width} x {height} pixels, and was {old_width} x {old_height}"
    distances, problems = result["distances"], []
    for levels, limit in _BOUNDS:
        share = sum(distance > levels for distance in distances) / max(len(distances), 1)
        if share > limit:
            problem = f"{share:.1%} of it differs by more than {levels} levels"
            problems.append(f"{problem}, where {limit:.1%} may")
    if result["letters"]:
        left, top, right, bottom = result["letters"]
        problems.append(f"another drawing at {left},{top} to {right},{bottom}")
    return "; ".join(problems)
