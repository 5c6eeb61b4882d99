"""All states of a widget on one page and in one picture, with axe's findings."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest
from anyio import to_thread

from tests.field.pictures.png import size_of
from tests.field.server.web.browsing import browsing, needs_browser, showing
from tests.support.daemons import serving
from widgetd.base.files.folder import bundled_folder
from widgetd.cli import main

pytestmark = needs_browser


@pytest.fixture
def seats_folder(tmp_path: Path) -> Path:
    """Return a widget whose text has too little contrast in the light theme."""
    faint = {"type": "Text", "value": "Row 12", "color": "#dddddd"}
    tree = {"type": "Card", "children": [{"type": "Title", "value": "Seats"}, faint]}
    file = {"version": "1.0", "name": "Seats", "template": json.dumps(tree)}
    served = tmp_path / "served"
    served.mkdir()
    (served / "Seats.widget").write_text(json.dumps(file))
    return served


async def test_axe_checks_the_grid_by_itself_and_points_at_the_element(seats_folder: Path) -> None:
    async with (
        serving(seats_folder, gallery=True, toolset=("pictures",)) as url,
        browsing() as page,
    ):
        await page.goto(url.replace("/mcp", "/w/seats/grid"))
        cell = page.locator(".cell").first
        await cell.locator(".problem").wait_for()
        problem = await cell.locator(".problem").inner_text()
        pointed = cell.frame_locator("iframe").locator("[data-pointed]")
        await pointed.wait_for()
        text = await pointed.inner_text()
        status = await page.locator("#checked").inner_text()

    assert "(color-contrast, serious)" in problem
    assert text == "Row 12"
    assert status.startswith("axe checked ")


async def test_grid_draws_every_visible_cell_and_no_other() -> None:
    async with (
        showing(bundled_folder()) as site,
        browsing(viewport={"width": 1280, "height": 700}) as page,
    ):
        await page.goto(f"{site}/w/flight_tracker")
        await page.get_by_role("link", name="All states").click()
        cells, frames = page.locator(".cell"), page.locator(".cell iframe")
        await cells.first.frame_locator("iframe").get_by_text("NF 218").first.wait_for()
        before, all_cells = await frames.count(), await cells.count()
        await cells.last.scroll_into_view_if_needed()
        await cells.last.locator("iframe").wait_for()
        widths = await cells.evaluate_all("all => [...new Set(all.map(one => one.dataset.width))]")
        states = await page.locator("[data-state]").count()
        beyond = await page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert before < all_cells == states * 6
    assert widths == ["320", "400", "768"]
    assert beyond <= 0


async def test_one_picture_has_all_states_from_gallery_and_command(
    seats_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgetd.author.browser.camera.GRID_WIDTHS_PX", (320,))
    file = tmp_path / "all.png"
    async with (
        serving(seats_folder, gallery=True, toolset=("pictures",)) as url,
        httpx2.AsyncClient(timeout=60) as client,
    ):
        sheet = await client.get(url.replace("/mcp", "/w/seats/sheet.png"))
    flags = ["--state", "all", "--dir", str(seats_folder), "--output", str(file)]
    code = await to_thread.run_sync(main, ["shot", "seats", *flags])

    assert code == 0
    assert sheet.headers["content-type"] == "image/png"
    assert size_of(sheet.content) == size_of(file.read_bytes())
    assert size_of(sheet.content)[0] > 2 * 320
