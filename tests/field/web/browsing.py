"""A real Chromium for tests; without one they are left out, and say so."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from widgetd.browser.chromium import FLAGS, chromium

if TYPE_CHECKING:
    from playwright.async_api import Page

PATIENCE_MS = 15_000

needs_browser = pytest.mark.skipif(
    chromium() is None or find_spec("playwright") is None,
    reason="there is no Chromium here, or no Playwright to drive it",
)


@asynccontextmanager
async def browsing(**context: Any) -> AsyncIterator[Page]:
    """A page in a browser of its own; a script error on it fails the test."""
    from playwright.async_api import async_playwright

    errors: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium(), args=[*FLAGS, *(["--no-sandbox"] * (os.geteuid() == 0))]
        )
        try:
            page = await (await browser.new_context(**context)).new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.on("pageerror", lambda error: errors.append(str(error)))
            yield page
        finally:
            await browser.close()
    assert errors == []
