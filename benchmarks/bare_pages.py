"""The page loads and runs of axe that a test of a widget takes, in bare Playwright."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.abc import Traversable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from widgetd.author.browser.chromium import FLAGS, FONTS, find_chromium
from widgetd.server.render.view import frame_headers, view_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

_ORIGIN = "http://stage.invalid"


def run(results: Sequence[tuple[str, dict[str, Any]]], axe: Traversable) -> int:
    """Show each result in its theme, run axe on it, and return the number of results."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    source = axe.read_text(encoding="utf-8")
    unsandboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=[*FLAGS, *unsandboxed]
        )
        for theme, result in results:
            _look(browser, theme, result, source)
        browser.close()
    return len(results)


def _look(browser: Browser, theme: Any, result: dict[str, Any], axe: str) -> None:
    context = browser.new_context(
        viewport={"width": 400, "height": 800}, color_scheme=theme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.route("**/*", _answer)
    page.expose_binding("stageAct", lambda *_: {})
    page.expose_binding("stageSent", lambda *_: None)
    page.goto(f"{_ORIGIN}/")
    options = {"tool": "any", "title": "Any", "theme": theme, "locale": "en-US", "fonts": FONTS}
    page.evaluate("([options, result]) => window.stage.open(options, result)", [options, result])
    page.frame_locator("iframe").locator("html[data-ready=true]").wait_for(state="attached")
    frame = page.frames[-1]
    frame.evaluate(f"(() => {{ {axe} }})()")
    frame.evaluate("axe.run(document, {iframes: false, resultTypes: ['violations']})")
    context.close()


def _answer(route: Route) -> None:
    url = route.request.url
    if url == f"{_ORIGIN}/":
        page = (files("widgetd.author.browser") / "stage.html").read_text(encoding="utf-8")
        route.fulfill(body=page, content_type="text/html; charset=utf-8")
    elif url == f"{_ORIGIN}/host.js":
        script = (files("widgetd.view") / "host.js").read_text(encoding="utf-8")
        route.fulfill(body=script, content_type="text/javascript")
    elif "/gallery/frame/" in url:
        headers = {"content-type": "text/html; charset=utf-8", **frame_headers(())}
        route.fulfill(body=view_html(), headers=headers)
    else:
        route.abort()
