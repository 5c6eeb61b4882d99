"""The page of one widget in a real browser: choices, copied text and messages.

None of it needs a daemon: `GALLERY=built` asks the same of a gallery of files.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.field.server.web.browsing import browsing, needs_browser, showing
from tests.support.widgets import widget_file
from widgetd.author.guide.component_sheet import build_sheet
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.components import load_vocabulary
from widgetd.core.widget.components.tree import iterate_components

pytestmark = needs_browser


def query_of(address: str) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(urlsplit(address).query).items()}


async def test_choices_are_stored_in_the_address_and_restored_from_it() -> None:
    chosen = {"state": "many", "width": "768", "theme": "dark", "palette": "Claude"}
    chosen["tab"] = "source"
    async with showing(bundled_folder()) as site, browsing() as page:
        await page.goto(f"{site}/w/flight_tracker")
        await page.locator("#state").select_option("many")
        await page.get_by_label("768").check()
        await page.get_by_label("Dark").check()
        await page.get_by_label("Palette").select_option("Claude")
        await page.get_by_role("tab", name="Source").click()
        address = page.url
        await page.goto("about:blank")
        await page.goto(address)
        state = await page.locator("#state").input_value()
        frame = page.locator("#frames iframe")
        width = await frame.evaluate("frame => frame.clientWidth")
        title = await frame.get_attribute("title")
        tab = await page.get_by_role("tab", selected=True).inner_text()
        following = await page.get_by_role("link", name="Next").get_attribute("href")

    assert query_of(address) == chosen
    assert (state, width, title, tab) == ("many", 768, "Flight tracker, dark", "Source")
    assert query_of(following or "") == {
        name: value for name, value in chosen.items() if name != "state"
    }


async def test_widget_is_drawn_in_the_palette_of_a_host_of_the_folder_and_its_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "hello.widget").write_text(widget_file(text="Hello"))
    (tmp_path / "theme.toml").write_text('[light]\nbackground = "#ffffff"\ntext = "#431407"\n')
    drawn = {}
    async with showing(tmp_path) as site, browsing() as page:
        for theme in ("light", "dark"):
            await page.goto(f"{site}/w/greeting?theme={theme}")
            for palette in ("yours", "own", "VS Code"):
                await page.get_by_label("Palette").select_option(palette)
                words = page.frame_locator("#frames iframe").locator(".words")
                drawn[theme, palette] = await words.evaluate("e => getComputedStyle(e).color")

    assert (
        drawn["light", "yours"]
        == drawn["light", "VS Code"]
        == "color(srgb 0.262745 0.0784314 0.027451)"
    )
    assert drawn["dark", "VS Code"] == "color(srgb 0.8 0.8 0.8)"
    assert drawn["light", "own"] == "rgb(13, 13, 13)"
    assert drawn["dark", "yours"] == drawn["dark", "own"] == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", ["", "?width=768", "?width=768&theme=both"])
async def test_on_a_phone_the_page_fits_and_the_stage_scrolls_by_itself(width: str) -> None:
    phone = {"width": 390, "height": 844}
    async with showing(bundled_folder()) as site, browsing(viewport=phone) as page:
        await page.goto(f"{site}/w/flight_tracker{width}")
        await (
            page.frame_locator("#frames iframe")
            .first.locator("html[data-ready]")
            .wait_for(state="attached")
        )
        stage = page.get_by_role("region", name="Preview, which can be scrolled")
        wide = await stage.evaluate("stage => stage.scrollWidth > stage.clientWidth")
        await stage.focus()
        await page.keyboard.press("ArrowRight")
        if wide:
            await page.wait_for_function("() => document.querySelector('.stage').scrollLeft > 0")
        beyond = await page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        shown = await page.locator("[name=width]:checked").input_value()

    assert beyond <= 0
    assert (wide, shown) == ((True, "768") if width else (False, "320"))


async def test_tabs_share_one_row_and_fit_on_wide_screens(tmp_path: Path) -> None:
    card = '{"type":"Card","children":[{"type":"Text","valu":"a"}]}'
    (tmp_path / "Note.widget").write_text(
        json.dumps({"version": "1.0", "name": "Note", "template": card})
    )
    ends: dict[int, list[float]] = {}
    async with showing(tmp_path) as site, browsing() as page:
        for width in (390, 1280, 1440):
            await page.set_viewport_size({"width": width, "height": 900})
            await page.goto(f"{site}/w/note")
            await page.locator("[data-count=source]:visible").wait_for()
            ends[width] = await page.get_by_role("tab").evaluate_all(
                "all => all.map(one => one.getBoundingClientRect().right)"
            )
            tops = await page.get_by_role("tab").evaluate_all(
                "all => [...new Set(all.map(one => one.getBoundingClientRect().top))]"
            )
            assert len(tops) == 1, "all tabs are in one row, which scrolls on a phone"

    assert all(max(ends[width]) <= width for width in (1280, 1440))


async def test_page_of_components_draws_the_sheet_of_each_in_both_themes(tmp_path: Path) -> None:
    (tmp_path / "Note.widget").write_text(widget_file("Note"))
    components = {}
    async with showing(tmp_path) as site, browsing() as page:
        await page.goto(f"{site}/components")
        assert await page.locator(".sheet").count() == len(load_vocabulary().components)
        for name, last in (("Button", "iconSize"), ("Table.Cell", "currency")):
            sheet = page.locator(f"[data-component='{name}']")
            await sheet.scroll_into_view_if_needed()
            frames = sheet.locator("iframe")
            for each in range(2):
                await frames.nth(each).content_frame.get_by_text(last).first.wait_for()
            buttons = frames.nth(1).content_frame.get_by_role("button")
            themes = await frames.evaluate_all("all => all.map(one => one.style.colorScheme)")
            components[name] = await buttons.count(), themes

    types = [part["type"] for part in iterate_components(build_sheet("Button"))]
    assert components["Button"] == (types.count("Button"), ["light", "dark"])


async def test_both_themes_are_side_by_side() -> None:
    laptop = {"width": 1440, "height": 900}
    async with showing(bundled_folder()) as site, browsing(viewport=laptop) as page:
        await page.goto(f"{site}/w/flight_tracker?theme=both")
        await page.locator("#frames figure").nth(1).wait_for()
        tops = await page.locator("#frames figure").evaluate_all(
            "all => all.map(one => one.offsetTop)"
        )
        fits = await page.locator(".stage").evaluate(
            "stage => stage.scrollWidth <= stage.clientWidth"
        )

    assert len(set(tops)) == 1
    assert fits


async def test_keys_lead_from_a_widget_to_the_search_and_back_and_are_listed() -> None:
    async with showing(bundled_folder()) as site, browsing() as page:
        await page.goto(f"{site}/w/flight_tracker")
        at = page.url
        await page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keys")
        listed = await keys.locator("kbd").all_inner_texts()
        await page.keyboard.press("Escape")
        await keys.wait_for(state="detached")
        still = page.url
        await page.keyboard.press("/")
        await page.wait_for_selector("#q:focus")
        await page.keyboard.type("tracker")
        await page.wait_for_function("() => location.search === '?q=tracker'")
        await page.goto(at)
        await page.locator("#controls input").first.focus()
        await page.keyboard.press("Escape")
        position = page.url, await page.evaluate("document.activeElement.tagName")
        await page.keyboard.press("Escape")
        await page.wait_for_selector("#tiles")

    assert listed == ["/", "j", "k", "u", "Escape", "?"]
    assert still == at
    assert position == (at, "BODY")


async def test_right_to_left_state_mirrors_the_widget() -> None:
    async with showing(bundled_folder()) as site, browsing(locale="en-US") as page:
        await page.goto(f"{site}/w/flight_tracker?state=rtl")
        canvas = page.frame_locator("#frames iframe")
        await canvas.locator("html[dir=rtl][lang=ar]").wait_for()
        await page.locator("#state").select_option("sample")
        await canvas.locator("html[dir=ltr][lang=en-US]").wait_for()


async def test_first_widget_begins_high_on_a_phone() -> None:
    async with (
        showing(bundled_folder()) as site,
        browsing(viewport={"width": 375, "height": 800}) as page,
    ):
        await page.goto(site)
        box = await page.locator(".tile").first.bounding_box()

    assert box is not None
    assert box["y"] < 200


async def test_search_is_stored_in_the_address() -> None:
    async with showing(bundled_folder()) as site, browsing() as page:
        await page.goto(f"{site}/")
        await page.get_by_label("Search widgets").fill("weather")
        await page.wait_for_function("() => location.search === '?q=weather'")
        await page.locator("h1", has_text=" of 27 widgets").wait_for()
        tiles = page.locator(".tile:visible")
        tools = [await tile.get_attribute("data-tool") for tile in await tiles.all()]

    assert {"weather_current", "weather_forecast"} <= set(tools)
    assert "playlist" not in tools


async def test_source_is_shown_verbatim_and_can_be_copied() -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    async with showing(bundled_folder()) as site, browsing(permissions=permissions) as page:
        await page.goto(f"{site}/w/flight_tracker?tab=source")
        await page.get_by_role("button", name="Copy name").click()
        await page.get_by_role("button", name="Copied").wait_for()
        name = await page.evaluate("navigator.clipboard.readText()")
        source = await page.locator("#panel-source .block code").first.inner_text()
        await page.locator("#panel-source .block .copy").first.click()
        await page.locator("#panel-source .block .copy", has_text="Copied").wait_for()
        copied = await page.evaluate("navigator.clipboard.readText()")

    assert name == "flight_tracker"
    assert source.startswith('<Card size="md">\n  <Row align="center" gap={3}>')
    assert copied == source


async def test_model_text_and_token_cost_follow_the_state() -> None:
    async with showing(bundled_folder()) as site, browsing() as page:
        await page.goto(f"{site}/w/flight_tracker?tab=model")
        summary = page.locator("[data-field=summary]")
        chatkit = page.locator("[data-field=tokens-chatkit]")
        before = await summary.inner_text(), int(await chatkit.inner_text())
        await page.locator("#state").select_option("long")
        await page.wait_for_function(
            "before => document.querySelector('[data-field=summary]').textContent !== before",
            arg=before[0],
        )
        after = await summary.inner_text(), int(await chatkit.inner_text())

    assert before[0].startswith("Northfjord Air NF 218, Thu 14 May, Bergen to Lisbon: airborne")
    assert after[1] > before[1] > 100


async def test_both_themes_are_side_by_side_at_1280_pixels() -> None:
    async with (
        showing(bundled_folder()) as site,
        browsing(viewport={"width": 1280, "height": 900}) as page,
    ):
        await page.goto(f"{site}/w/chart?theme=both")
        await page.locator("figcaption", has_text="dark, 400").wait_for()
        boxes = await page.locator("#frames figure").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().toJSON())"
        )
        stage = await page.locator("#frames").bounding_box()

        assert stage is not None
        assert boxes[0]["top"] == boxes[1]["top"]
        assert boxes[1]["right"] <= stage["x"] + stage["width"]


async def test_refused_files_are_hidden_while_searching(tmp_path: Path) -> None:
    (tmp_path / "Bad.widget").write_text("{")
    (tmp_path / "Note.widget").write_text(widget_file("Note"))
    async with showing(tmp_path) as site, browsing() as page:
        await page.goto(site)
        await page.get_by_role("heading", name="This file is not served").wait_for()
        await page.locator("#q").fill("note")
        await page.get_by_text("1 of 1 widgets").wait_for()

        assert await page.get_by_text("This file is not served").count() == 0
