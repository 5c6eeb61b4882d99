"""The system's Chromium: found, started when it is first needed, started anew when it died.

Everything that is drawn the same on every run is decided here: the clock, the language, the face
and the way letters are drawn. The browser has no network.
"""

from __future__ import annotations

import os
import shutil
import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
import orjson

from widgetd.errors import ConfigError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

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

_LETTERS = str(files("widgetd.browser") / "fonts.conf")
"""How letters are drawn, unless the environment names another file; flags alone do not say it."""

FONTS = 'Inter, "Liberation Sans", Arimo, Arial, Helvetica, sans-serif'
"""What to draw in, as CSS has it: ChatKit draws in what the system has, which on a bare Linux is
nothing like it, so Inter comes with widgetd. What Inter has not, as Arabic letters and emoji, is
the system's."""

_ADD_FACE = """
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

IDLE_S = 60
"""After which nobody waits for a browser that nobody used."""

LOOK_S = 5
"""How often it is looked for that."""

NICENESS = 10
"""Of a daemon's browser: whoever calls a widget comes first."""

NOW = "2026-01-26T12:00:00Z"
"""What a page takes for now, so that a calendar marks the same day on every run."""


def chromium() -> str | None:
    """The system's Chromium, or the one that `CHROME_PATH` names; None if there is none."""
    named = os.environ.get(PROGRAM_VARIABLE)
    return next(filter(None, map(shutil.which, (named,) if named else PROGRAMS)), None)


def demand_browser(what: str = "pictures") -> str:
    """The program to start, for `what`.

    Raises:
        ConfigError: Playwright or a Chromium is missing (W0011).
    """
    try:
        import playwright  # noqa: F401, PLC0415 - an extra
    except ImportError:
        problem = f"{what} need Playwright, which is not installed"
        advice = 'run `pip install "widgetd[browser]"`'
        raise ConfigError("W0011", problem, advice, exit_code=3) from None
    program = chromium()
    if program is None:
        problem = f"{what} need a Chromium, and none is on the PATH"
        advice = f"install the system's chromium, or name one in {PROGRAM_VARIABLE}"
        raise ConfigError("W0011", problem, advice, exit_code=3)
    return program


def driver_errors() -> tuple[type[Exception], ...]:
    """What Playwright raises; nothing where it is not installed."""
    try:
        from playwright.async_api import Error  # noqa: PLC0415 - an extra
    except ImportError:
        return ()
    return (Error,)


async def new_context(
    browser: Browser,
    *,
    theme: Theme = "light",
    width: int = 400,
    height: int = 16,
    scale: float = 1,
    locale: str = "en-US",
    framed: bool = False,
) -> BrowserContext:
    """A context in which the same page looks the same each time.

    Its pages have a width and height in CSS pixels and `scale` pixels for each of those; the face
    is in all of them, or with `framed` only in frames, since making it takes a document a moment.
    """
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        color_scheme=theme,
        reduced_motion="reduce",
        locale=locale,
        timezone_id="UTC",
        service_workers="block",
    )
    await context.add_init_script(_face_script(framed=framed))
    return context


@cache
def _face_script(*, framed: bool) -> str:
    """What gives the face to a document before anything in it runs; no policy has to allow it."""
    folder = files("widgetd.browser") / "inter"
    ranges: dict[str, str] = orjson.loads((folder / "unicode.json").read_bytes())
    given = [
        (covered, b64encode((folder / f"{subset}.woff2").read_bytes()).decode())
        for subset, covered in ranges.items()
    ]
    script = _ADD_FACE.replace("NEEDLESS", "top === window" if framed else "false")
    return script.replace("GIVEN", orjson.dumps(given).decode())


class Chromium:
    """One browser for whoever asks, started by the first of them.

    Args:
        flags: What it is started with.
        niceness: How far it stands behind other programs of this machine.
        clock: In seconds.

    Attributes:
        spare: The contexts that are kept only so that the next use is quick.
    """

    def __init__(
        self,
        flags: tuple[str, ...] = FLAGS,
        *,
        niceness: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.spare: set[BrowserContext] = set()
        self._flags = flags
        self._niceness = niceness
        self._clock = clock
        self._asked = clock()
        self._starting = anyio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    async def browser(self) -> Browser:
        """The browser that runs; started, or started anew, where none does.

        Raises:
            ConfigError: Playwright or a Chromium is missing, or does not start (W0011).
        """
        self._asked = self._clock()
        async with self._starting:
            if self._browser is not None and self._browser.is_connected():
                return self._browser
            program = demand_browser()
            # Root in a container has no user namespace to build a sandbox from.
            unsandboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
            if self._playwright is None:
                self._playwright = await self._driver()
            self.spare.clear()
            try:
                self._browser = await self._playwright.chromium.launch(
                    executable_path=program,
                    args=[*self._flags, *unsandboxed],
                    env={"FONTCONFIG_FILE": _LETTERS, **os.environ},
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
            except driver_errors() as error:
                first = str(error).partition("\n")[0]
                problem = f"the Chromium at {program} does not start ({first})"
                advice = f"start it by hand to see why, or name another in {PROGRAM_VARIABLE}"
                raise ConfigError("W0011", problem, advice, exit_code=3) from None
            return self._browser

    async def _driver(self) -> Playwright:
        from playwright.async_api import async_playwright  # noqa: PLC0415 - an extra

        before = _children()
        playwright = await async_playwright().start()
        if self._niceness:
            # Whatever the driver starts is as nice as it is.
            for pid in _children() - before:
                with suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, pid, self._niceness)
        return playwright

    @property
    def is_idle(self) -> bool:
        """Whether nobody asked for it lately, and nobody has anything open in it."""
        if self._browser is None or self._clock() - self._asked < IDLE_S:
            return False
        return set(self._browser.contexts) <= self.spare

    async def run(self) -> None:
        """End the browser whenever nobody uses it any more, until this is cancelled."""
        try:
            while True:
                await anyio.sleep(LOOK_S)
                if self.is_idle:
                    await self.close()
        finally:
            await self.close()

    def forget(self) -> None:
        """Somebody saw that the browser ended; whoever asks next gets another one."""
        self._browser = None

    async def close(self) -> None:
        """End the browser; whoever asks again gets another one."""
        with anyio.CancelScope(shield=True), suppress(Exception):  # one that died is ended
            async with self._starting:
                browser, self._browser = self._browser, None
                playwright, self._playwright = self._playwright, None
                if browser is not None and browser.is_connected():
                    await browser.close()
                if playwright is not None:
                    await playwright.stop()


def _children() -> set[int]:
    """The processes that this one started; none where the system does not tell."""
    found: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found.update(map(int, file.read_text().split()))
    return found
