"""Looks at pictures in a browser, as `widgetd test` does, and makes them small."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.field.pictures.png import png
from tests.field.server.web.browsing import browsing
from widgetd.author.browser.picture import describe_difference_on, diff_script

if TYPE_CHECKING:
    from playwright.async_api import Page


class Eye:
    """Looks at pictures in a browser, which knows how to read them.

    Args:
        page: With `eye.js` in it.
    """

    def __init__(self, page: Page) -> None:
        self._page = page

    async def difference(self, before: bytes, after: bytes) -> str:
        """Describe the visible difference of `after` in a few words; empty without one."""
        return await describe_difference_on(self._page, before, after)

    async def reduced(self, picture: bytes) -> bytes:
        """Return the picture with few colours, which is small and looks the same to a person."""
        found: dict[str, Any] = await self._page.evaluate(
            "picture => reduced(picture)", b64encode(picture).decode()
        )
        return png(
            width=found["width"],
            height=found["height"],
            palette=found["palette"],
            indices=bytes(found["indices"]),
        )


@asynccontextmanager
async def eye() -> AsyncIterator[Eye]:
    """Yield an eye with its own browser."""
    async with browsing() as page:
        await page.add_script_tag(content=diff_script())
        await page.add_script_tag(path=Path(__file__).with_suffix(".js"))
        yield Eye(page)
