"""A gallery of files in a real browser: everything works that needs no daemon."""

from __future__ import annotations

from pathlib import Path
from shutil import copy

from anyio import to_thread

from tests.field.server.web.browsing import browsing, files_of, needs_browser
from widgetd.base.files.folder import bundled_folder
from widgetd.cli import main

pytestmark = needs_browser


async def test_built_site_works_with_its_styles_below_any_path(tmp_path: Path) -> None:
    widgets, failed = tmp_path / "widgets", []
    widgets.mkdir()
    for name in ("Flight Tracker", "Weather Current"):
        for suffix in (".widget", ".widget.toml"):
            copy(bundled_folder() / f"{name}{suffix}", widgets)
    command = ["build", str(widgets), "-o", str(tmp_path / "site/sub"), "--base", "/sub"]
    assert await to_thread.run_sync(main, command) == 0
    with files_of(tmp_path / "site") as site:
        async with browsing(color_scheme="light") as page:
            page.on("response", lambda one: failed.append(one.url) if one.status > 399 else None)
            await page.goto(f"{site}/sub/?q=flight")
            await page.locator("h1", has_text="1 of 2 widgets").wait_for()
            await page.locator(".tile-stage.drawn").first.wait_for()
            await page.get_by_role("link", name="Flight tracker").click()
            canvas = page.frame_locator("#frames iframe")
            await canvas.get_by_text("NF 218").first.wait_for()
            await page.locator("#state").select_option("example-3")
            await canvas.get_by_text("Landed").first.wait_for()
            await page.get_by_label("Dark").check()
            title = await page.locator("#frames iframe").get_attribute("title")
            await page.locator("#controls input").first.fill("NF 1")
            await canvas.get_by_text("NF 1 ·").first.wait_for()
            assert await page.locator("[data-picture], #look").count() == 0
            await page.locator("#reset").click()
            await page.locator("#state").select_option("sample")
            await canvas.get_by_text("NF 218").first.wait_for()
            await canvas.get_by_role("button", name="Follow").click()
            await page.get_by_role("tab", name="Actions").click()
            await page.locator("#log", has_text="no daemon serves this page").wait_for()
            live = await page.locator("[data-live]").inner_text()

    assert title == "Flight tracker, dark"
    assert live == "Built beforehand"
    assert failed == []


def built(folder: Path, widgets: Path, *flags: str) -> None:
    assert main(["build", str(widgets), "--output", str(folder), *flags]) == 0


async def test_clean_site_filters_and_toggles_without_any_source(tmp_path: Path) -> None:
    widgets, site = tmp_path / "widgets", tmp_path / "site"
    widgets.mkdir()
    closed = (bundled_folder() / "Table.widget").read_text().replace('"Table"', '"Closed"')
    (widgets / "Closed.widget").write_text(closed)
    (widgets / "Closed.widget.toml").write_text("program = false")
    for name in ("Table.widget", "Table.widget.toml"):
        copy(bundled_folder() / name, widgets)
    await to_thread.run_sync(built, site, widgets, "--clean")
    texts = b"".join(file.read_bytes() for file in site.rglob("*.json"))
    names = sorted(path.name for path in site.iterdir())

    failed: list[str] = []
    with files_of(site) as address:
        async with browsing(color_scheme="light") as page:
            page.on("response", lambda one: failed.append(one.url) if one.status > 399 else None)
            await page.goto(f"{address}/w/table/?state=example-3")
            canvas = page.frame_locator("#frames iframe")
            await canvas.get_by_text("Chard").wait_for()
            await canvas.get_by_placeholder("Filter rows").press_sequentially("lee")
            await canvas.get_by_text("Chard").wait_for(state="detached")
            await page.get_by_label("title", exact=True).fill("Edited here")
            await canvas.get_by_text("Edited here").wait_for()
            await canvas.get_by_text("Leeks").wait_for()
            await canvas.get_by_text("Chard").wait_for(state="detached")
            tabs = await page.get_by_role("tab").all_inner_texts()
            await page.goto(f"{address}/w/closed/#args=%7B%7D")
            await page.locator("#refusal", has_text="need a daemon").wait_for()

    assert failed == []
    assert [one.strip() for one in tabs] == ["Arguments"]
    assert names == [".widgetd-site", "gallery", "index.html", "w"]
    assert b"tojson" not in texts
    assert b"Table.Row header" not in texts
