"""A real Chromium for tests; without one they are left out, and say so."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from anyio import to_thread

from tests.support.daemons import serving
from widgetd.author.browser.chromium import FLAGS, find_chromium
from widgetd.cli import main

if TYPE_CHECKING:
    from playwright.async_api import Page

PATIENCE_MS = 15_000
IS_BUILT = os.environ.get("GALLERY") == "built"

needs_browser = pytest.mark.skipif(
    find_chromium() is None or find_spec("playwright") is None,
    reason="there is no Chromium here, or no Playwright to drive it",
)


@asynccontextmanager
async def showing(folder: Path) -> AsyncIterator[str]:
    """Yield the URL of a gallery of `folder`: a daemon's, or with GALLERY=built one of files."""
    if not IS_BUILT:
        async with serving(folder, gallery=True) as url:
            yield url.removesuffix("/mcp")
        return
    site = await to_thread.run_sync(_built, folder)
    with files_of(Path(site.name)) as address:
        yield address


@cache
def _built(folder: Path) -> TemporaryDirectory[str]:
    site = TemporaryDirectory()
    assert main(["build", str(folder), "--output", site.name]) == 0
    return site


@contextmanager
def files_of(folder: Path) -> Iterator[str]:
    """Serve the files of `folder` and yield the URL."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@asynccontextmanager
async def browsing(**context: Any) -> AsyncIterator[Page]:
    """Yield a page in its own browser; a script error on it fails the test."""
    from playwright.async_api import async_playwright

    errors: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(),
            args=[*FLAGS, *(["--no-sandbox"] * (os.geteuid() == 0))],
        )
        try:
            page = await (await browser.new_context(**context)).new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.on("pageerror", lambda error: errors.append(str(error)))
            yield page
        finally:
            await browser.close()
    assert errors == []
