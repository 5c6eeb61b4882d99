"""A gallery of files, in a real browser: everything but a daemon is there, and that is said."""

from __future__ import annotations

from pathlib import Path
from shutil import copy

from anyio import to_thread

from tests.field.web.browsing import browsing, files_of, needs_browser
from widgetd.cli import main
from widgetd.files.folder import bundled_folder

pytestmark = needs_browser


async def test_what_was_built_beforehand_is_found_drawn_and_dressed_below_any_path(
    tmp_path: Path,
) -> None:
    widgets, failed = tmp_path / "widgets", []
    widgets.mkdir()
    for name in ("Flight Tracker", "Weather Current"):
        for suffix in (".widget", ".widget.toml"):
            copy(bundled_folder() / f"{name}{suffix}", widgets)
    command = ["build", str(tmp_path / "site/sub"), "--dir", str(widgets), "--base", "/sub"]
    assert await to_thread.run_sync(main, command) == 0
    with files_of(tmp_path / "site") as site:
        async with browsing(color_scheme="light") as page:
            page.on("response", lambda one: failed.append(one.url) if one.status > 399 else None)
            await page.goto(f"{site}/sub/?q=flight")
            await page.locator("h1", has_text="1 of 2 widgets").wait_for()
            await page.locator(".tile-stage.drawn").first.wait_for()
            await page.get_by_role("link", name="Flight tracker").click()
            drawn = page.frame_locator("#frames iframe")
            await drawn.get_by_text("NF 218").first.wait_for()
            await page.locator("#state").select_option("example-3")
            await drawn.get_by_text("Landed").first.wait_for()
            await page.get_by_label("Dark").check()
            title = await page.locator("#frames iframe").get_attribute("title")
            await page.locator("#controls input").first.fill("NF 1")
            await page.locator(
                "#refusal", has_text="Arguments of your own need a daemon"
            ).wait_for()
            await page.locator("#reset").click()
            await page.locator("#refusal").wait_for(state="hidden")
            await page.locator("#state").select_option("sample")
            await drawn.get_by_role("button", name="Follow").click()
            await page.get_by_role("tab", name="Actions").click()
            await page.locator("#log", has_text="no daemon serves this page").wait_for()
            live = await page.locator("[data-live]").inner_text()

    assert title == "Flight tracker, dark"
    assert live == "Built beforehand"
    assert failed == []
