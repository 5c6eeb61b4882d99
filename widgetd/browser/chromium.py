"""The system's Chromium: found, started when it is first needed, started anew when it died.

Everything that is drawn the same on every run is decided here: the clock, the language, the way
letters are drawn. The browser has no network.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any, Literal

import anyio

from widgetd.errors import ConfigError

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

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

FONTS = '"Liberation Sans", Arimo, Arial, Helvetica, sans-serif'
"""Fonts of equal widths, of which nearly every machine has one."""

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


def context_options(
    *,
    theme: Theme = "light",
    width: int = 400,
    height: int = 16,
    scale: float = 1,
    locale: str = "en-US",
) -> dict[str, Any]:
    """What a context is made with, so that the same page looks the same in each."""
    return {
        "viewport": {"width": width, "height": height},
        "device_scale_factor": scale,
        "color_scheme": theme,
        "reduced_motion": "reduce",
        "locale": locale,
        "timezone_id": "UTC",
        "service_workers": "block",
    }


class Chromium:
    """One browser for whoever asks, started by the first of them."""

    def __init__(self, flags: tuple[str, ...] = FLAGS) -> None:
        self._flags = flags
        self._starting = anyio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    async def browser(self) -> Browser:
        """The browser that runs; started, or started anew, where none does.

        Raises:
            ConfigError: Playwright or a Chromium is missing (W0011).
        """
        async with self._starting:
            if self._browser is not None and self._browser.is_connected():
                return self._browser
            program = demand_browser()
            from playwright.async_api import async_playwright  # noqa: PLC0415 - an extra

            # Root in a container has no user namespace to build a sandbox from.
            unsandboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
            if self._playwright is None:
                self._playwright = await async_playwright().start()
            self._browser = await self._playwright.chromium.launch(
                executable_path=program,
                args=[*self._flags, *unsandboxed],
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
            return self._browser

    async def close(self) -> None:
        """End the browser; whoever asks again gets another one."""
        with anyio.CancelScope(shield=True):
            async with self._starting:
                browser, self._browser = self._browser, None
                playwright, self._playwright = self._playwright, None
                if browser is not None and browser.is_connected():
                    await browser.close()
                if playwright is not None:
                    await playwright.stop()
