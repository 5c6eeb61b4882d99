"""Takes pictures of widgets: the view that hosts get, drawn in Chromium without a network.

The same tree, theme, width and scale give the same bytes on one machine: the clock, the language,
the face and the way letters are drawn are fixed, and nothing moves. A picture is as large as its
widget, and nothing of the page is on it: what is outside a card is transparent. Pages stay open
for the next widget, which each draws as if it were its first.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import anyio

from widgetd.browser import axe
from widgetd.browser.chromium import FONTS, NOW, Chromium, Theme, driver_errors, new_context
from widgetd.browser.limits import LIMITS, BrowserLimits
from widgetd.browser.picture import Format, Picture, Shot
from widgetd.browser.targets import found
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CallError, ConfigError
from widgetd.render.view import drawing
from widgetd.widget.states import SAMPLE, shown

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, ConsoleMessage, Page, Route

_URL = "http://widget.invalid/"
"""Where the page says that it is; no request for it, or for anything, leaves the browser."""

_HEIGHT = 800
"""Of the room that a widget is drawn in; it is as high as it is in any case."""

_BLANK: Mapping[str, Any] = {"type": "Basic", "children": []}

_SHEET = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Widgets</title>
<style>
body {{ margin: 0; padding: 32px; background: #f4f3f0; font: 13px/1.5 {fonts}; color: #55544f }}
main {{ columns: 3; column-gap: 24px }}
figure {{ margin: 0 0 28px; break-inside: avoid }}
img {{ display: block; max-width: 100% }}
figcaption {{ margin-top: 6px }}
</style>
<main>{figures}</main>
</html>
"""

Found = TypeVar("Found")


class Clip(TypedDict):
    """A part of a page, as Playwright has it, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(eq=False, kw_only=True)
class Easel:
    """A page that widgets are drawn on, one after the other.

    Attributes:
        scale: Pixels of a picture for each CSS pixel.
        width: Of the room for a widget, in CSS pixels.
        console: What the page complained of since the last widget came.
    """

    page: Page
    devtools: CDPSession
    scale: float
    width: int = 0
    uses: int = 0
    console: list[str] = field(default_factory=list)

    async def widen(self, width: int) -> None:
        """Give what is drawn a room of that width."""
        if self.width == width:
            return
        self.width = width
        # By the session that takes the picture, for it takes none by the scale of another one.
        room = {"width": width, "height": _HEIGHT, "deviceScaleFactor": self.scale, "mobile": False}
        await self.devtools.send("Emulation.setDeviceMetricsOverride", room)

    async def draw(self, shot: Shot) -> dict[str, Any]:
        """Draw a widget, and answer `{"box", "overflow"}`: where it is, and what is wider."""
        self.console.clear()
        self.uses += 1
        await self.widen(shot.width)
        behind = "nothing" if shot.transparent else "words"
        given = {"json": shot.json, "behind": "everything" if shot.format == "jpeg" else behind}
        drawn: dict[str, Any] = await self.page.evaluate("given => draw(given)", given)
        return drawn

    async def take(self, shot: Shot) -> Picture:
        """Draw a widget and take its picture, or that of a part of it."""
        drawn = await self.draw(shot)
        box: Clip = drawn["box"]
        if shot.part:
            part = await found(shot.part, self.page, self.page.main_frame, 0)
            box = await part.evaluate("part => around(part)")
        return await self.photograph(
            box, shot.format, overflow=tuple(drawn["overflow"]), console=tuple(self.console)
        )

    async def photograph(self, box: Clip, file: Format = "png", **more: tuple[str, ...]) -> Picture:
        """The picture of what is in `box`, as a file of that format.

        Raises:
            CallError: It is too large (W3203).
        """
        width, height = round(box["width"] * self.scale), round(box["height"] * self.scale)
        if not width or not height:
            box, width, height = Clip(x=0, y=0, width=1, height=1), 1, 1  # an empty widget
        if max(width, height) > LIMITS.picture_px:
            raise _too_large(
                f"it would be {width} x {height} pixels, and {LIMITS.picture_px:,} can be"
            )
        how = {
            "format": file,
            "clip": {**box, "scale": 1},
            "captureBeyondViewport": box["y"] + box["height"] > _HEIGHT,
            **({"quality": 90} if file == "jpeg" else {}),
        }
        # Playwright's own screenshot prepares, each time, what stands prepared on this page.
        take = partial(self.devtools.send, "Page.captureScreenshot", how)
        try:
            taken = await take()
        except driver_errors():
            # "Unable to capture screenshot": a browser that gets no time has no frame to give yet.
            taken = await take()
        content = base64.b64decode(taken["data"])
        if len(content) > LIMITS.picture_bytes:
            raise _too_large(
                f"it is {len(content):,} bytes long, and {LIMITS.picture_bytes:,} can be"
            )
        return Picture(content=content, format=file, width=width, height=height, **more)

    async def violations(self, shot: Shot) -> list[dict[str, Any]]:
        """Draw a widget, and answer what axe has against it."""
        await self.draw(shot)
        return await axe.violations(self.page)

    async def close(self) -> None:
        """End the page and whatever it holds."""
        with anyio.CancelScope(shield=True), suppress(Exception):  # one that died is ended
            with anyio.fail_after(LIMITS.close_s):
                await self.page.context.close()


class Camera:
    """Takes pictures in one browser, which stays open meanwhile."""

    def __init__(self, chromium: Chromium, *, limits: BrowserLimits = LIMITS) -> None:
        self._chromium = chromium
        self._limits = limits
        self._places = anyio.Semaphore(limits.pictures_at_once)
        self._easels: list[Easel] = []
        self._taken: OrderedDict[bytes, Picture] = OrderedDict()

    async def take(self, shot: Shot) -> Picture:
        """The picture.

        Raises:
            CallError: There is no browser (W3201), it was not drawn in time (W3202), is too large
                (W3203) or finds no place (W3204), or its part is not there (W4201) or there are
                several (W4202).
        """
        key = shot.key
        picture = self._taken.pop(key, None)
        if picture is None:
            picture = await self._on_easel(shot, Easel.take)
        self._taken[key] = picture
        if len(self._taken) > self._limits.cached_pictures:
            self._taken.popitem(last=False)
        return picture

    async def violations(self, shot: Shot) -> list[dict[str, Any]]:
        """What axe has against the drawn widget: see `axe.violations`; raises as `take` does."""
        return await self._on_easel(shot, Easel.violations)

    async def sheet(self, pictures: Iterable[tuple[str, Picture]], *, width: int = 1280) -> Picture:
        """All pictures on one, each above its name; raises as `take` does."""
        figures = "".join(
            f'<figure><img alt="" width="{one.width}" src="data:image/{one.format};base64,'
            f'{base64.b64encode(one.content).decode()}"><figcaption>{escape(name)}</figcaption>'
            "</figure>"
            for name, one in pictures
        )

        async with self._place():
            easel = await self._opened(_SHEET.format(figures=figures, fonts=FONTS), width)
            try:
                height = await easel.page.evaluate(
                    "document.fonts.ready.then(() => document.documentElement.scrollHeight)"
                )
                return await easel.photograph(Clip(x=0, y=0, width=width, height=height))
            finally:
                await easel.close()

    async def close(self) -> None:
        """End the pages that are kept."""
        while self._easels:
            await self._easels.pop().close()

    async def _on_easel(self, shot: Shot, look: Callable[[Easel, Shot], Awaitable[Found]]) -> Found:
        async with self._place():
            easel = self._spare(shot.scale)
            if easel is not None:
                # A page that waited may have died meanwhile; then another one does it.
                with suppress(*driver_errors()):
                    return await self._used(easel, shot, look)
            html = drawing(_BLANK, theme=shot.theme, locale=shot.locale, title="", fonts=FONTS)
            easel = await self._opened(html, shot.width, shot.scale)
            await easel.page.add_script_tag(path=str(files("widgetd.browser") / "draw.js"))
            return await self._used(easel, shot, look)

    async def _used(
        self, easel: Easel, shot: Shot, look: Callable[[Easel, Shot], Awaitable[Found]]
    ) -> Found:
        try:
            seen = await look(easel, shot)
        except CallError:
            await self._keep(easel)
            raise
        except BaseException:
            await easel.close()
            raise
        await self._keep(easel)
        return seen

    def _spare(self, scale: float) -> Easel | None:
        """A page that nobody uses."""
        self._easels = [one for one in self._easels if not one.page.is_closed()]
        for easel in self._easels:
            if easel.scale == scale:
                self._easels.remove(easel)
                return easel
        return None

    async def _keep(self, easel: Easel) -> None:
        """Let the next widget have this page; as many wait as may be drawn at the same time."""
        if easel.uses >= self._limits.page_uses or easel.page.is_closed():
            await easel.close()
            return
        self._chromium.spare.add(easel.page.context)
        self._easels.append(easel)
        if len(self._easels) > self._limits.pictures_at_once:
            await self._easels.pop(0).close()

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """One of the places where pages are drawn, for as long as that may take."""
        with anyio.move_on_after(self._limits.draw_s) as waiting:
            await self._places.acquire()
        if waiting.cancelled_caught:
            problem = "all places in the browser are taken; ask again in a moment"
            raise CallError("W3204", problem, recoverable=True, retry_after_s=1.0)
        try:
            try:
                await self._chromium.browser()  # whose start is not the picture's time
            except ConfigError as error:
                raise CallError("W3201", str(error)) from None
            with anyio.fail_after(self._limits.draw_s):
                yield
        except TimeoutError:
            problem = f"it was not drawn within {self._limits.draw_s:g} seconds"
            raise CallError("W3202", problem, recoverable=True) from None
        except driver_errors() as error:
            problem = f"it was not drawn: the browser says '{str(error).partition(chr(10))[0]}'"
            raise CallError("W3202", problem, recoverable=True) from None
        finally:
            self._places.release()

    async def _opened(self, html: str, width: int, scale: float = 1.0) -> Easel:
        """A page that holds `html`, and reaches nothing."""

        async def answer(route: Route) -> None:
            if route.request.url == _URL:
                await route.fulfill(body=html, content_type="text/html; charset=utf-8")
            else:
                await route.abort()

        browser = await self._chromium.browser()
        context = await new_context(browser, width=width, height=_HEIGHT, scale=scale)
        try:
            page = await context.new_page()
            devtools = await context.new_cdp_session(page)
            easel = Easel(page=page, devtools=devtools, scale=scale)
            page.on("console", partial(_heard, easel.console))
            page.on("pageerror", lambda error: easel.console.append(str(error)))
            await page.clock.set_fixed_time(NOW)
            nothing = {"color": {"r": 0, "g": 0, "b": 0, "a": 0}}
            await devtools.send("Emulation.setDefaultBackgroundColorOverride", nothing)
            await easel.widen(width)
            await page.route("**/*", answer)
            await page.goto(_URL)
        except BaseException:
            with anyio.CancelScope(shield=True), suppress(Exception):  # of a browser that died
                await context.close()
            raise
        return easel


def _heard(console: list[str], message: ConsoleMessage) -> None:
    # That nothing is loaded from elsewhere is ours, and no fault of the widget.
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        console.append(message.text)


def _too_large(why: str) -> CallError:
    advice = "ask for a part of it, a smaller scale, or fewer widgets"
    return CallError("W3203", f"the picture is too large: {why}; {advice}")


@asynccontextmanager
async def camera() -> AsyncIterator[Camera]:
    """A camera with a browser of its own; raises as `Chromium.browser` does."""
    chromium = Chromium()
    try:
        await chromium.browser()
        yield Camera(chromium)
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


def take_picture(shot: Shot) -> Picture:
    """One picture, in a browser of its own; raises as `Chromium.browser` does."""

    async def take() -> Picture:
        async with camera() as opened:
            return await opened.take(shot)

    return anyio.run(take)


def take_pictures(shots: Mapping[str, Shot], folder: Path) -> list[Path]:
    """Take each of `shots` into `folder`, under its name, and all of them as `sheet.png`.

    Answers the files, the sheet last; raises as `Chromium.browser` does.
    """

    async def take() -> dict[str, Picture]:
        async with camera() as opened:
            taken = {name: await opened.take(shot) for name, shot in shots.items()}
            return {**taken, "sheet": await opened.sheet(taken.items())}

    pictures = anyio.run(take)
    folder.mkdir(parents=True, exist_ok=True)
    written = {folder / f"{name}.png": one for name, one in pictures.items()}
    for file, one in written.items():
        file.write_bytes(one.content)
    return list(written)
