"""Pictures of widgets: the view of hosts, drawn in Chromium without a network.

The same tree, theme, width and scale give the same bytes on a machine: the clock, the language,
the font and the rendering of glyphs are fixed, and nothing moves. A picture is as large as its
widget and shows nothing of the page: the space around a card is transparent. Pages stay open for
the next widget, and each widget is drawn as if it were the first on its page.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import anyio

from widgetd.author.browser import axe
from widgetd.author.browser.chromium import (
    FONTS,
    NOW,
    Chromium,
    close_quietly,
    driver_errors,
    new_context,
)
from widgetd.author.browser.limits import LIMITS, BrowserLimits, Charge, compute_share, no_charge
from widgetd.author.browser.picture import Format, Picture, Screenshot
from widgetd.author.browser.targets import locate
from widgetd.base.errors import CallError, ConfigError
from widgetd.base.system import SYSTEM
from widgetd.core.widget.states import GRID_WIDTHS_PX, SAMPLE, THEMES, list_states, show_state
from widgetd.core.widget.theme import NO_THEME, Theme
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.render.view import drawing
from widgetd.server.store.owned import OwnedEntries

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, ConsoleMessage, Page, Route

T = TypeVar("T")

_URL = "http://widget.invalid/"
"""Address of the page. No request for it, or for anything else, leaves the browser."""

_HEIGHT_PX = 800
"""Height of the viewport. It bounds no widget, each of which is as high as it needs to be."""

_BLANK: Mapping[str, Any] = {"type": "Basic", "children": []}

_COLUMNS = "columns: 3; column-gap: 24px"

_MARGIN_PX = 32

_FIGURES_END = """document.fonts.ready.then(() => {
  const ends = [...document.querySelectorAll("img, figcaption")]
    .map(one => one.getBoundingClientRect());
  return ["right", "bottom"].map(side => Math.ceil(Math.max(...ends.map(end => end[side]))));
})"""

_SHEET = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Widgets</title>
<style>
body {{ margin: 0; padding: {margin}px; background: #f4f3f0; color: #55544f }}
body {{ font: 13px/1.5 {fonts} }}
main {{ {layout} }}
figure {{ margin: 0 0 28px; break-inside: avoid }}
img {{ display: block; max-width: 100% }}
figcaption {{ margin-top: 6px }}
</style>
<main>{figures}</main>
</html>
"""


class Clip(TypedDict):
    """A part of a page, in Playwright's form, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(eq=False, kw_only=True)
class RenderPage:
    """A page to draw widgets on, in turn.

    Attributes:
        scale: Pixels of a picture for each CSS pixel.
        width: Width of the widget's room, in CSS pixels.
        uses: Widgets drawn so far.
        console: Errors in the console since the last widget was drawn.
    """

    page: Page
    devtools: CDPSession
    limits: BrowserLimits
    scale: float
    width: int = 0
    uses: int = 0
    console: list[str] = field(default_factory=list)

    async def set_width(self, width: int) -> None:
        if self.width == width:
            return
        self.width = width
        # By the picture's own session, because Chromium keeps the scale per session.
        viewport = {"width": width, "height": _HEIGHT_PX, "deviceScaleFactor": self.scale}
        override = {**viewport, "mobile": False}
        await self.devtools.send("Emulation.setDeviceMetricsOverride", override)

    async def draw(self, screenshot: Screenshot) -> dict[str, Any]:
        """Draw a widget and return `{"box", "overflow"}`: its place, and what is wider."""
        self.console.clear()
        self.uses += 1
        await self.set_width(screenshot.width)
        behind = "nothing" if screenshot.transparent else "words"
        if screenshot.format == "jpeg":
            behind = "everything"
        request = {"json": screenshot.json, "behind": behind}
        result: dict[str, Any] = await self.page.evaluate("request => draw(request)", request)
        return result

    async def take(self, screenshot: Screenshot) -> Picture:
        drawing_result = await self.draw(screenshot)
        box: Clip = drawing_result["box"]
        if screenshot.part:
            part, _ = await locate(screenshot.part, self.page, self.page.main_frame, 0)
            box = await part.evaluate("part => around(part)")
        return await self.capture(
            box,
            screenshot.format,
            overflow=tuple(drawing_result["overflow"]),
            console=tuple(self.console),
        )

    async def capture(self, box: Clip, file: Format = "png", **details: tuple[str, ...]) -> Picture:
        """Return the picture of `box` as a file of this format.

        Raises:
            CallError: It is too large (W3203).
        """
        width, height = round(box["width"] * self.scale), round(box["height"] * self.scale)
        if not width or not height:
            box, width, height = Clip(x=0, y=0, width=1, height=1), 1, 1  # an empty widget
        longest = self.limits.picture_px
        if max(width, height) > longest:
            raise _too_large(f"it would be {width} x {height} pixels, and {longest:,} can be")
        options = {
            "format": file,
            "clip": {**box, "scale": 1},
            "captureBeyondViewport": box["y"] + box["height"] > _HEIGHT_PX,
            **({"quality": 90} if file == "jpeg" else {}),
        }
        # Playwright's own screenshot would prepare the page anew for each picture.
        capture = partial(self.devtools.send, "Page.captureScreenshot", options)
        try:
            result = await capture()
        except driver_errors():
            # "Unable to capture screenshot": on a busy machine there may be no frame yet.
            result = await capture()
        content = base64.b64decode(result["data"])
        most = self.limits.picture_bytes
        if len(content) > most:
            raise _too_large(f"it is {len(content):,} bytes long, and {most:,} can be")
        return Picture(content=content, format=file, width=width, height=height, **details)

    async def find_violations(self, screenshot: Screenshot) -> list[dict[str, Any]]:
        await self.draw(screenshot)
        return await axe.find_violations(self.page)

    async def close(self) -> None:
        await close_quietly(self.page.context.close())


class Places:
    """Limits concurrent pictures, in total and per owner.

    An owner's requests wait for the owner's share first. So a hundred requests of a token
    delay other owners as little as a single request.
    """

    def __init__(self, limits: BrowserLimits) -> None:
        self._limits = limits
        self._all = anyio.Semaphore(limits.pictures_at_once)
        self._shares: dict[str, anyio.Semaphore] = {}

    @asynccontextmanager
    async def hold(self, owner: str) -> AsyncIterator[None]:
        """Hold a place during the block.

        Raises:
            CallError: No place was free within the time to draw (W3204).
        """
        quota = compute_share(self._limits.pictures_at_once, owner)
        own = self._shares.setdefault(owner, anyio.Semaphore(quota))
        try:
            async with AsyncExitStack() as held:
                with anyio.move_on_after(self._limits.draw_s) as waiting:
                    await held.enter_async_context(own)
                    await held.enter_async_context(self._all)
                if waiting.cancelled_caught:
                    problem = "all places in the browser are taken; ask again in a moment"
                    raise CallError("W3204", problem, recoverable=True, retry_after_s=1.0)
                yield
        finally:
            if own.value == quota and not own.statistics().tasks_waiting:
                self._shares.pop(owner, None)


class Camera:
    """Takes pictures in a single open browser.

    Args:
        charge: Charges the owner of a picture, or raises W2201. The camera calls it, no route or
            tool, so every way to a picture costs the same.
        theme: Returns the theme of the widgets.
    """

    def __init__(
        self,
        chromium: Chromium,
        *,
        limits: BrowserLimits = LIMITS,
        clock: Callable[[], float] = SYSTEM.clock.steady_s,
        charge: Charge = no_charge,
        theme: Callable[[], Theme] = lambda: NO_THEME,
    ) -> None:
        self._chromium = chromium
        self._charge = charge
        self._theme = theme
        self._limits = limits
        self._places = Places(limits)
        self._pages: list[RenderPage] = []
        # By content: owners share equal pictures.
        self._cache: OwnedEntries[Picture] = OwnedEntries(
            most=limits.cached_pictures,
            most_bytes=limits.cached_bytes,
            ttl_s=limits.cached_s,
            clock=clock,
        )

    async def take(self, screenshot: Screenshot, *, owner: str) -> Picture:
        """Return a picture, cached or new.

        Args:
            screenshot: The picture to draw.
            owner: Name of the principal. The picture takes its share of places and cache.

        Raises:
            CallError: There is no browser (W3201), it was not drawn in time (W3202), is too large
                (W3203) or waited too long for a slot (W3204), its part does not exist (W4201)
                or is ambiguous (W4202), or the owner takes too many (W2201).
        """
        await self._charge(owner, self._limits.picture_cost)
        return await self._take(screenshot, owner)

    async def _take(self, screenshot: Screenshot, owner: str) -> Picture:
        screenshot = replace(screenshot, palette=self._theme().json)
        picture = self._cache.get(screenshot.key)
        if picture is None:
            picture = await self._with_page(screenshot, RenderPage.take, owner)
            size = len(picture.content)
            self._cache.put(screenshot.key, picture, owner=owner, size_bytes=size)
        else:
            self._cache.touch(screenshot.key, len(picture.content))
        return picture

    async def find_violations(self, screenshot: Screenshot, *, owner: str) -> list[dict[str, Any]]:
        """Return what axe objects to in a widget, see `axe.find_violations`.

        Raises:
            CallError: As `take` does.
        """
        await self._charge(owner, self._limits.picture_cost)
        screenshot = replace(screenshot, palette=self._theme().json)
        return await self._with_page(screenshot, RenderPage.find_violations, owner)

    async def sheet(
        self,
        screenshots: Mapping[str, Screenshot],
        *,
        owner: str,
        report: Callable[[str, Picture], Awaitable[None]] | None = None,
    ) -> tuple[Picture, dict[str, Picture]]:
        """Return a picture of all `screenshots`, each above its name, and the single pictures.

        `report` is called with each of these as soon as it is taken.

        Raises:
            CallError: As `take` does.
        """
        await self._charge(owner, self._limits.picture_cost)
        pictures = {}
        for name, screenshot in screenshots.items():
            pictures[name] = await self._take(screenshot, owner)
            if report is not None:
                await report(name, pictures[name])
        return await self._lay_out(pictures.items(), owner=owner), pictures

    async def _lay_out(
        self,
        pictures: Iterable[tuple[str, Picture]],
        *,
        width: int = 1280,
        layout: str = _COLUMNS,
        owner: str,
    ) -> Picture:
        figures = "".join(
            f'<figure><img alt="" width="{picture.width}" src="data:image/{picture.format};base64,'
            f'{base64.b64encode(picture.content).decode()}"><figcaption>{escape(name)}</figcaption>'
            "</figure>"
            for name, picture in pictures
        )

        async with self._place(owner):
            html = _SHEET.format(figures=figures, fonts=FONTS, layout=layout, margin=_MARGIN_PX)
            page = await self._open_page(html, width)
            try:
                right, bottom = await page.page.evaluate(_FIGURES_END)
                room = Clip(
                    x=0, y=0, width=min(right + _MARGIN_PX, width), height=bottom + _MARGIN_PX
                )
                return await page.capture(room)
            finally:
                await page.close()

    async def take_states(self, widget: Widget, *, owner: str) -> Picture:
        """Return a picture of all states: a row for each, a column for each width and theme.

        Raises:
            CallError: As `take` does.
        """
        await self._charge(owner, 10 * self._limits.picture_cost)
        pictures = []
        for state in list_states(widget):
            try:
                tree = show_state(widget, state.key).tree(widget)
            except CallError:  # a state that the template cannot draw has no row
                continue
            for theme, width in product(THEMES, GRID_WIDTHS_PX):
                screenshot = Screenshot(
                    tree=tree,
                    title=widget.definition.title,
                    theme=theme,
                    width=width,
                    scale=1.0,
                    locale=state.locale or "en-US",
                )
                name = f"{state.label}, {theme}, {width}"
                pictures.append((name, await self._take(screenshot, owner)))
        columns = " ".join(f"{width}px" for width in GRID_WIDTHS_PX * len(THEMES))
        layout = f"display: grid; gap: 0 24px; grid-template-columns: {columns}"
        room = sum(width + 24 for width in GRID_WIDTHS_PX) * len(THEMES) + 2 * _MARGIN_PX
        return await self._lay_out(pictures, width=room, layout=layout, owner=owner)

    async def close(self) -> None:
        while self._pages:
            await self._pages.pop().close()

    async def _with_page(
        self,
        screenshot: Screenshot,
        use: Callable[[RenderPage, Screenshot], Awaitable[T]],
        owner: str,
    ) -> T:
        async with self._place(owner):
            self._pages = [tab for tab in self._pages if not tab.page.is_closed()]
            page = next((tab for tab in self._pages if tab.scale == screenshot.scale), None)
            if page is not None:
                self._pages.remove(page)
                # A page may have died while it waited. Then a new page takes its place.
                with suppress(*driver_errors()):
                    return await self._use(page, screenshot, use)
            html = drawing(
                _BLANK, theme=screenshot.theme, locale=screenshot.locale, title="", fonts=FONTS
            )
            page = await self._open_page(html, screenshot.width, screenshot.scale)
            await page.page.add_script_tag(path=str(files("widgetd.author.browser") / "draw.js"))
            return await self._use(page, screenshot, use)

    async def _use(
        self,
        page: RenderPage,
        screenshot: Screenshot,
        use: Callable[[RenderPage, Screenshot], Awaitable[T]],
    ) -> T:
        try:
            result = await use(page, screenshot)
        except CallError:
            await self._return_page(page)
            raise
        except BaseException:
            await page.close()  # also without an answer in time
            raise
        await self._return_page(page)
        return result

    async def _return_page(self, page: RenderPage) -> None:
        if page.uses >= self._limits.page_uses or page.page.is_closed():
            await page.close()
            return
        self._chromium.spare.add(page.page.context)
        self._pages.append(page)
        if len(self._pages) > self._limits.pictures_at_once:
            await self._pages.pop(0).close()

    @asynccontextmanager
    async def _place(self, owner: str) -> AsyncIterator[None]:
        try:
            async with self._places.hold(owner):
                await self._chromium.browser()  # its start does not count as the picture's time
                with anyio.fail_after(self._limits.draw_s):
                    yield
        except ConfigError as error:
            raise CallError("W3201", str(error)) from None
        except TimeoutError:
            problem = f"it was not drawn within {self._limits.draw_s:g} seconds"
            raise CallError("W3202", problem, recoverable=True) from None
        except driver_errors() as error:
            problem = f"it was not drawn: the browser says '{str(error).partition(chr(10))[0]}'"
            raise CallError("W3202", problem, recoverable=True) from None

    async def _open_page(self, html: str, width: int, scale: float = 1.0) -> RenderPage:
        async def answer(route: Route) -> None:
            if route.request.url == _URL:
                await route.fulfill(body=html, content_type="text/html; charset=utf-8")
            else:
                await route.abort()

        browser = await self._chromium.browser()
        context = await new_context(browser, width=width, height=_HEIGHT_PX, scale=scale)
        try:
            page = await context.new_page()
            devtools = await context.new_cdp_session(page)
            opened = RenderPage(page=page, devtools=devtools, limits=self._limits, scale=scale)
            page.on("console", partial(_note_error, opened.console))
            page.on("pageerror", lambda error: opened.console.append(str(error)))
            await page.clock.set_fixed_time(NOW)
            transparent = {"color": {"r": 0, "g": 0, "b": 0, "a": 0}}
            await devtools.send("Emulation.setDefaultBackgroundColorOverride", transparent)
            await opened.set_width(width)
            await page.route("**/*", answer)
            await page.goto(_URL)
        except BaseException:
            await close_quietly(context.close())
            raise
        return opened


def _note_error(console: list[str], message: ConsoleMessage) -> None:
    # Loading nothing from elsewhere is our own choice, and no fault of the widget.
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        console.append(message.text)


def _too_large(why: str) -> CallError:
    advice = "ask for a part of it, a smaller scale, or fewer widgets"
    return CallError("W3203", f"the picture is too large: {why}; {advice}")


@asynccontextmanager
async def open_camera(theme: Theme = NO_THEME) -> AsyncIterator[Camera]:
    """Open a camera with a browser of its own.

    Raises:
        ConfigError: Playwright or a Chromium is missing, or does not start (W0011).
    """
    chromium = Chromium()
    try:
        await chromium.browser()
        yield Camera(chromium, theme=lambda: theme)
    finally:
        await chromium.close()


def sample_screenshots(snapshot: Snapshot, *, width: int, scale: float) -> dict[str, Screenshot]:
    """Return the sample of each widget, light and dark, by `{tool}-{theme}`."""
    return {
        f"{tool}-{theme}": Screenshot(
            tree=show_state(widget, SAMPLE).tree(widget),
            title=widget.definition.title,
            theme=theme,
            width=width,
            scale=scale,
        )
        for tool, widget in snapshot.widgets.items()
        for theme in THEMES
    }


def take_picture(take: Callable[[Camera], Awaitable[T]], theme: Theme = NO_THEME) -> T:
    """Return the pictures of `take`, in a browser of its own.

    Raises:
        CallError: As `Camera.take` does.
        ConfigError: As `open_camera` does.
    """

    async def take_it() -> T:
        async with open_camera(theme) as camera:
            return await take(camera)

    return anyio.run(take_it)


def take_pictures(
    screenshots: Mapping[str, Screenshot],
    folder: Path,
    theme: Theme = NO_THEME,
    advance: Callable[[], None] = lambda: None,
) -> list[Path]:
    """Write a picture of each of `screenshots` into `folder`, and all of them as `sheet.png`.

    `advance` is called after each picture, whose file is complete by then.

    Returns:
        The files, the sheet last.

    Raises:
        CallError: As `Camera.take` does.
        ConfigError: As `open_camera` does.
    """
    files: list[Path] = []

    async def write(name: str, picture: Picture) -> None:
        files.append(folder / f"{name}.png")
        await anyio.Path(files[-1]).write_bytes(picture.content)
        advance()

    folder.mkdir(parents=True, exist_ok=True)
    sheet, _ = take_picture(lambda camera: camera.sheet(screenshots, owner="", report=write), theme)
    files.append(folder / "sheet.png")
    files[-1].write_bytes(sheet.content)
    return files
