"""The system's Chromium: finding it, starting it on the first request, restarting it.

The same looks of a page on every run are decided here: the clock, the language,
the font and the rendering of glyphs. The browser has no network.
"""

from __future__ import annotations

import os
import shutil
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
import orjson

from widgetd.author.browser.limits import LIMITS
from widgetd.base.errors import ConfigError
from widgetd.base.extras import install_advice
from widgetd.base.processes import PROCESSES, end_tree, lifted_limits
from widgetd.base.system import SYSTEM

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Playwright

Theme = Literal["light", "dark"]

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
PROGRAM_VARIABLE = "CHROME_PATH"

FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-lcd-text",
    "--disable-quic",
    "--disable-sync",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--no-first-run",
)

_FONTCONFIG = str(files("widgetd.author.browser") / "fonts.conf")
"""The rendering of glyphs, which flags alone do not fix; the environment may name another file."""

FONTS = 'Inter, "Liberation Sans", Arimo, Arial, Helvetica, sans-serif'
"""Font families in CSS. ChatKit uses the system's font, and a bare Linux has none like it, so Inter
comes with widgetd. Glyphs that Inter lacks, as Arabic letters and emoji, are the system's."""

_ADD_FONT = """
(() => {
  if (!document.fonts || location.protocol === "about:" || NEEDLESS) return;
  for (const [unicodeRange, base64] of GIVEN) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    document.fonts.add(new FontFace("Inter", bytes, { weight: "100 900", unicodeRange }));
  }
})();
"""

NICENESS = 10
"""Niceness of a daemon's browser, so that calls of widgets come first."""

NOW = "2026-01-26T12:00:00Z"
"""The clock of every page, so that a calendar marks the same day on every run."""


def find_chromium() -> str | None:
    chosen = os.environ.get(PROGRAM_VARIABLE)
    return next(filter(None, map(shutil.which, (chosen,) if chosen else PROGRAMS)), None)


def demand_browser(what: str = "pictures") -> str:
    """Return the path of the Chromium to start for `what`.

    Raises:
        ConfigError: Playwright or a Chromium is missing (W0011).
    """
    try:
        import playwright  # noqa: F401, PLC0415 - an extra
    except ImportError:
        problem = f"{what} need Playwright, which is not installed"
        raise ConfigError("W0011", problem, install_advice("browser"), exit_code=3) from None
    program = find_chromium()
    if program is None:
        chosen = os.environ.get(PROGRAM_VARIABLE)
        place = f"at {chosen}, which {PROGRAM_VARIABLE} names" if chosen else "on the PATH"
        problem = f"{what} need a Chromium, and none is {place}"
        advice = f"install the system's chromium, or name one in {PROGRAM_VARIABLE}"
        raise ConfigError("W0011", problem, advice, exit_code=3)
    return program


def driver_errors() -> tuple[type[Exception], ...]:
    try:
        from playwright.async_api import Error  # noqa: PLC0415 - an extra
    except ImportError:
        return ()
    return (Error,)


async def new_context(
    browser: Browser,
    *,
    width: int = 400,
    height: int = 16,
    scale: float = 1,
    locale: str = "en-US",
    framed: bool = False,
) -> BrowserContext:
    """Open a context. The same page looks the same there each time.

    Width and height are in CSS pixels, and `scale` pixels for each of them. With `framed`, only
    frames get the font, because that takes each document a moment.
    """
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        color_scheme="light",
        reduced_motion="reduce",
        locale=locale,
        timezone_id="UTC",
        service_workers="block",
    )
    await context.add_init_script(_font_script(framed=framed))
    return context


@cache
def _font_script(*, framed: bool) -> str:
    """Return a script to add the font to a document before anything in it runs.

    Unlike a style sheet, no content security policy has to allow it.
    """
    folder = files("widgetd.author.browser") / "inter"
    ranges: dict[str, str] = orjson.loads((folder / "unicode.json").read_bytes())
    fonts = [
        (covered, b64encode((folder / f"{subset}.woff2").read_bytes()).decode())
        for subset, covered in ranges.items()
    ]
    script = _ADD_FONT.replace("NEEDLESS", "top === window" if framed else "false")
    return script.replace("GIVEN", orjson.dumps(fonts).decode())


class Chromium:
    """The browser of all callers, started by the first of them.

    Two processes serve it: Chromium and Playwright's driver. Either may be killed, so each request
    first makes sure of an answer of both, and else starts both anew.

    Args:
        niceness: Added to the niceness of the driver and the browser.
        clock: Seconds, monotonic.

    Attributes:
        spare: Open contexts for a quick next request.
    """

    def __init__(
        self, *, niceness: int = 0, clock: Callable[[], float] = SYSTEM.clock.steady_s
    ) -> None:
        self.spare: set[BrowserContext] = set()
        self._niceness = niceness
        self._clock = clock
        self._last_request_s = clock()
        self._starting = anyio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._probe: CDPSession | None = None
        self._drivers: set[int] = set()
        self._place = ExitStack()

    async def browser(self) -> Browser:
        """Return the running browser, and start it first if it or its driver does not run.

        Raises:
            ConfigError: Playwright or a Chromium is missing, or does not start (W0011).
        """
        self._last_request_s = self._clock()
        async with self._starting:
            if self._browser is not None and await self._is_alive():
                return self._browser
            program = demand_browser()
            errors: tuple[type[Exception], ...] = (BlockingIOError, *driver_errors())
            await self._end(keep_driver=await self._is_driver_alive())
            # Root in a container has no user namespace to build a sandbox from.
            unsandboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
            try:
                if self._playwright is None:
                    self._place.enter_context(PROCESSES.hold("browser"))
                    self._playwright = await self._driver()
                self._browser = await self._playwright.chromium.launch(
                    executable_path=program,
                    args=[*FLAGS, *unsandboxed],
                    env={"FONTCONFIG_FILE": _FONTCONFIG, **os.environ},
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
                self._probe = await self._browser.new_browser_cdp_session()
            except errors as error:
                first = str(error).partition("\n")[0]
                problem = f"the Chromium at {program} does not start ({first})"
                advice = f"start it by hand to see why, or name another in {PROGRAM_VARIABLE}"
                raise ConfigError("W0011", problem, advice, exit_code=3) from None
            return self._browser

    def is_running(self, browser: Browser | None) -> bool:
        return browser is not None and browser is self._browser and browser.is_connected()

    async def _is_alive(self) -> bool:
        """Return whether the driver and the browser answer.

        Playwright says nothing of a dead driver: `is_connected` stays true and no event comes.
        So both are asked a question, through an open session: a millisecond.
        """
        if self._probe is None or not self.is_running(self._browser):
            return False
        with suppress(*driver_errors(), TimeoutError), anyio.fail_after(LIMITS.probe_s):
            await self._probe.send("Browser.getVersion")
            return True
        return False

    async def _is_driver_alive(self) -> bool:
        """Return whether the driver reported the end of its browser, and answers since.

        Such a driver starts the next browser sooner than a new driver could.
        """
        if self._playwright is None or self._browser is None or self._browser.is_connected():
            return False
        with suppress(*driver_errors(), TimeoutError), anyio.fail_after(LIMITS.probe_s):
            await (await self._playwright.request.new_context()).dispose()
            return True
        return False

    async def _driver(self) -> Playwright:
        from playwright.async_api import async_playwright  # noqa: PLC0415 - an extra

        before = _children()
        manager = async_playwright()
        # A browser reserves more addresses than a test run may.
        with lifted_limits():
            playwright = await manager.start()
        self._drivers = _children() - before
        # Playwright awaits this future only while it starts. Of a driver's later death asyncio
        # would log a traceback, "Future exception was never retrieved".
        with suppress(AttributeError):
            client: Any = manager._client  # noqa: SLF001 - no public name leads there
            client._transport.on_error_future.add_done_callback(  # noqa: SLF001
                lambda died: died.cancelled() or died.exception()
            )
        if self._niceness:
            # The browser inherits the niceness of its driver.
            for pid in self._drivers:
                with suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, pid, self._niceness)
        return playwright

    @property
    def is_idle(self) -> bool:
        idle_s = self._clock() - self._last_request_s
        if self._browser is None or idle_s < LIMITS.browser_idle_s:
            return False
        return set(self._browser.contexts) <= self.spare

    async def run(self) -> None:
        try:
            while True:
                await anyio.sleep(LIMITS.browser_poll_s)
                is_above = partial(PROCESSES.is_above, "browser")
                for pid in tuple(self._drivers):
                    if await SYSTEM.threads.run_blocking(is_above, pid):
                        end_tree(pid)
                        await self.close()  # for a dead driver reports no end
                if self.is_idle:
                    await self.close()
        finally:
            await self.close()

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            async with self._starting:
                await self._end()

    async def _end(self, *, keep_driver: bool = False) -> None:
        browser, self._browser, self._probe = self._browser, None, None
        playwright = None
        if not keep_driver:
            playwright, self._playwright = self._playwright, None
        self.spare.clear()
        if browser is not None:
            await close_quietly(browser.close())
        if playwright is not None:
            await close_quietly(playwright.stop())
        if not keep_driver:
            self._drivers = set()
            self._place.close()


async def close_quietly(closing: Awaitable[None]) -> None:
    """Close a page, a browser or its driver.

    A dead browser has nothing to close and may fail in any way. A hanging browser is left to its
    driver, to be killed.
    """
    with suppress(Exception), anyio.move_on_after(LIMITS.close_s, shield=True):
        await closing


def _children() -> set[int]:
    pids: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            pids.update(map(int, file.read_text().split()))
    return pids
