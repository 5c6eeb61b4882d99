"""A picture of a widget as a value: what to take, and what was taken."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from widgetd.browser.chromium import FONTS, Theme
from widgetd.browser.targets import NOWHERE, Target
from widgetd.mcp.view import inline

Format = Literal["png", "jpeg"]


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
