"""axe finds nothing against the gallery, nor against any bundled widget, in either theme."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.field.server.web.browsing import IS_BUILT, browsing, needs_browser, showing
from tests.field.server.web.test_see_page import connected, open_address
from tests.support.daemons import serving
from widgetd.author.browser.axe import find_violations
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.states import SAMPLE, show_state
from widgetd.server.catalog.catalog import discover_widgets
from widgetd.server.render.view import drawing

if TYPE_CHECKING:
    from playwright.async_api import Page

AXE = Path(__file__).resolve().parents[4] / "view/node_modules/axe-core/axe.min.js"

pytestmark = [
    needs_browser,
    pytest.mark.skipif(not AXE.is_file(), reason="axe comes with view/node_modules, not here"),
    pytest.mark.parametrize("theme", ["light", "dark"]),
]


@asynccontextmanager
async def browse_in_theme(theme: str) -> AsyncIterator[Page]:
    viewport = {"width": 1280, "height": 900}
    async with browsing(color_scheme=theme, bypass_csp=True, viewport=viewport) as page:
        yield page


async def violations(page: Page) -> list[str]:
    await page.add_script_tag(path=AXE)
    report: dict[str, Any] = await page.evaluate("() => axe.run(document, {iframes: false})")
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in report["violations"]
        for node in one["nodes"]
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/components",
        "/w/flight_tracker?tab=model",
        "/w/create_task?tab=actions&state=rtl",
        "/w/product_grid?theme=both",
        "/w/event_session/grid",
        pytest.param(
            "/w/nothing",
            marks=pytest.mark.skipif(IS_BUILT, reason="the page is that of whoever serves files"),
        ),
    ],
)
async def test_axe_reports_no_violation_in_the_gallery(path: str, theme: str) -> None:
    async with showing(bundled_folder()) as site, browse_in_theme(theme) as page:
        await page.goto(site + path)
        await page.wait_for_selector("[data-live=live], [data-live=built]")

        assert await violations(page) == []


async def test_axe_reports_no_violation_with_a_broken_file(tmp_path: Path, theme: str) -> None:
    (tmp_path / "Broken.widget").write_text("{")
    async with serving(tmp_path, gallery=True) as url, browse_in_theme(theme) as page:
        await page.goto(url.removesuffix("/mcp"))
        await page.wait_for_selector(".fault")

        assert await violations(page) == []


async def test_axe_reports_no_violation_at_addresses(tmp_path: Path, theme: str) -> None:
    async with connected("sdk modern", tmp_path) as client, browse_in_theme(theme) as page:
        for widget in ("lead_form", "table"):
            await open_address(client, page, widget)
            assert await violations(page) == []
            assert await find_violations(page.frames[1]) == []
        await page.goto(page.url.replace("/r_", "/r_A"))
        await page.get_by_role("heading", name="There is nothing to see here").wait_for()
        assert await violations(page) == []


async def test_axe_reports_no_violation_in_bundled_widgets(theme: str) -> None:
    findings_by_tool = {}
    async with browse_in_theme(theme) as page:
        for widget in discover_widgets(bundled_folder()):
            tree = show_state(widget, SAMPLE).tree(widget)
            title = widget.definition.title
            await page.set_content(drawing(tree, theme=theme, locale="en", title=title))
            await page.wait_for_selector("html[data-ready=true]")
            if findings := await violations(page):
                findings_by_tool[widget.tool] = findings

    assert findings_by_tool == {}
