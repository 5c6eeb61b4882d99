"""Pictures of widgets: the view that hosts get, drawn in Chromium without a network.

The same tree, theme, width and scale give the same bytes on one machine: the
clock, the language and the way letters are drawn are fixed, and nothing moves.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from widgetd.browser.chromium import FONTS, NOW, Chromium, Theme, context_options
from widgetd.catalog.snapshot import Snapshot
from widgetd.mcp.view import drawing
from widgetd.widget.states import SAMPLE, shown

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Route

_URL = "http://widget.invalid/"
"""Where the page says that it is; no request for it, or for anything, leaves the browser."""

_TIMEOUT_MS = 10_000

_SHEET = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Widgets</title>
<style>
body {{ margin: 0; padding: 32px; background: #f4f3f0; font: 13px/1.5 sans-serif; color: #55544f }}
main {{ columns: 3; column-gap: 24px }}
figure {{ margin: 0 0 28px; break-inside: avoid }}
img {{ display: block; width: 100%; border-radius: 8px }}
figcaption {{ margin-top: 6px }}
</style>
<main>{figures}</main>
</html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One picture to take.

    Attributes:
        tree: The widget root.
        title: What the widget is called.
        theme: Light or dark.
        width: In CSS pixels; the height is that of the widget.
        scale: Pixels of the picture for each CSS pixel.
        locale: The language that numbers and dates are shown in.
    """

    tree: Mapping[str, Any]
    title: str
    theme: Theme = "light"
    width: int = 400
    scale: float = 2.0
    locale: str = "en-US"


class Camera:
    """Takes pictures, one after the other, in one browser.

    Args:
        browser: Stays open as long as the camera is used.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    async def take(self, shot: Shot) -> bytes:
        """The picture as a PNG."""
        html = drawing(
            shot.tree, theme=shot.theme, locale=shot.locale, title=shot.title, fonts=FONTS
        )
        async with self._showing(html, shot) as page:
            await page.wait_for_selector("html[data-ready=true]", timeout=_TIMEOUT_MS)
            return await _screenshot(page)

    async def sheet(self, pictures: Iterable[tuple[str, bytes]], *, width: int = 1280) -> bytes:
        """All pictures on one, each above its name."""
        figures = "".join(
            f'<figure><img alt="" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
            f"<figcaption>{escape(name)}</figcaption></figure>"
            for name, png in pictures
        )
        shot = Shot(tree={}, title="Widgets", width=width, scale=1.0)
        async with self._showing(_SHEET.format(figures=figures), shot) as page:
            return await _screenshot(page)

    @asynccontextmanager
    async def _showing(self, html: str, shot: Shot) -> AsyncIterator[Page]:
        async def answer(route: Route) -> None:
            if route.request.url == _URL:
                await route.fulfill(body=html, content_type="text/html; charset=utf-8")
            else:
                await route.abort()

        context = await self._browser.new_context(
            **context_options(
                theme=shot.theme, width=shot.width, scale=shot.scale, locale=shot.locale
            )
        )
        try:
            page = await context.new_page()
            await page.clock.set_fixed_time(NOW)
            await page.route("**/*", answer)
            await page.goto(_URL)
            yield page
        finally:
            await context.close()


async def _screenshot(page: Page) -> bytes:
    """The whole page as a PNG."""
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    async def take() -> bytes:
        return await page.screenshot(full_page=True, animations="disabled", caret="hide")

    try:
        return await take()
    except Error:
        # "Unable to capture screenshot": a browser that gets no time has no frame to give yet.
        return await take()


@asynccontextmanager
async def camera() -> AsyncIterator[Camera]:
    """A camera with a browser of its own.

    Raises:
        ConfigError: Playwright or a Chromium is missing (W0011).
    """
    chromium = Chromium()
    try:
        yield Camera(await chromium.browser())
    finally:
        await chromium.close()


def sample_shots(snapshot: Snapshot, *, width: int, scale: float) -> dict[str, Shot]:
    """A picture of the sample of each widget, light and dark, by `{tool}-{theme}`."""
    themes: tuple[Theme, ...] = ("light", "dark")
    return {
        f"{tool}-{theme}": Shot(
            tree=shown(widget, SAMPLE).tree(widget),
            title=widget.definition.title,
            theme=theme,
            width=width,
            scale=scale,
        )
        for tool, widget in snapshot.widgets.items()
        for theme in themes
    }


def take_picture(shot: Shot) -> bytes:
    """One picture as a PNG.

    Raises:
        ConfigError: Playwright or a Chromium is missing (W0011).
    """

    async def take() -> bytes:
        async with camera() as opened:
            return await opened.take(shot)

    return anyio.run(take)


def take_pictures(shots: Mapping[str, Shot], folder: Path) -> list[Path]:
    """Take each of `shots` into `folder`, under its name, and all of them as `sheet.png`.

    Returns:
        The files, the sheet last.

    Raises:
        ConfigError: Playwright or a Chromium is missing (W0011).
    """

    async def take() -> dict[str, bytes]:
        async with camera() as opened:
            taken = {name: await opened.take(shot) for name, shot in shots.items()}
            return {**taken, "sheet": await opened.sheet(taken.items())}

    pictures = anyio.run(take)
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"{name}.png": png for name, png in pictures.items()}
    for file, png in files.items():
        file.write_bytes(png)
    return list(files)
