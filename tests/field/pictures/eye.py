"""Compare pictures as a person does: what became another, not which pixels did.

A picture is cut into cells of eight by eight pixels, and each cell's mean colour is held against
what it was, wherever it lies within a pixel. Debian 13 draws what Debian 12 drew with one cell in
four hundred off by more than 3 levels of 255, one in eight hundred by more than 8: the edges of
letters. A border that is gone, a paler grey or a missing icon moves many times as much.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.field.pictures.png import png
from tests.field.web.browsing import browsing

if TYPE_CHECKING:
    from playwright.async_api import Page

FONTS = ("Liberation Sans", "Arimo")
"""Of the same widths and nearly the same shapes; the committed pictures are in the first."""

_TALLER_PX = 2
_BOUNDS = ((3, 0.02), (8, 0.005))
"""Levels of 255, and the share of cells that may be further from what they were."""


class Eye:
    """Looks at pictures in a browser, which knows how to read them.

    Args:
        page: With `eye.js` in it.
    """

    def __init__(self, page: Page) -> None:
        self._page = page

    async def knows_font(self) -> bool:
        """Whether letters are drawn as in the committed pictures."""
        found: bool = await self._page.evaluate("names => names.some(hasFont)", FONTS)
        return found

    async def difference(self, before: bytes, after: bytes) -> str:
        """What is different in `after`, in a few words; empty where a person would see nothing."""
        pair = [b64encode(before).decode(), b64encode(after).decode()]
        found: dict[str, Any] = await self._page.evaluate("pair => compared(...pair)", pair)
        (was_wide, was_tall), (wide, tall) = found["was"], found["is"]
        if wide != was_wide or abs(tall - was_tall) > _TALLER_PX:
            return f"it is {wide} x {tall} pixels, and was {was_wide} x {was_tall}"
        return "; ".join(filter(None, (_beyond(found["distances"], *bound) for bound in _BOUNDS)))

    async def reduced(self, picture: bytes) -> bytes:
        """The same picture, for a person, in few enough colours to be small."""
        found: dict[str, Any] = await self._page.evaluate(
            "picture => reduced(picture)", b64encode(picture).decode()
        )
        return png(
            width=found["width"],
            height=found["height"],
            palette=found["palette"],
            indices=bytes(found["indices"]),
        )


def _beyond(distances: Sequence[float], levels: int, most: float) -> str:
    share = sum(distance > levels for distance in distances) / len(distances)
    if share <= most:
        return ""
    return f"{share:.1%} of it differs by more than {levels} levels, where {most:.1%} may"


@asynccontextmanager
async def eye() -> AsyncIterator[Eye]:
    """An eye with a browser of its own."""
    async with browsing() as page:
        await page.add_script_tag(path=Path(__file__).with_suffix(".js"))
        yield Eye(page)
