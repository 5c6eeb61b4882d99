"""The page of one widget in a real browser: what is chosen, what is copied, what is told."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from tests.field.web.browsing import browsing, needs_browser
from tests.serving import serving
from widgetd.settings import bundled

pytestmark = needs_browser


def asked(address: str) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(urlsplit(address).query).items()}


async def test_whatever_is_chosen_stands_in_the_address_and_comes_back_with_it() -> None:
    chosen = {"state": "many", "width": "768", "theme": "dark", "tab": "source"}
    async with serving(bundled(), gallery=True) as url, browsing() as page:
        await page.goto(f"{url.removesuffix('/mcp')}/w/flight_tracker")
        await page.locator("#state").select_option("many")
        await page.get_by_label("768").check()
        await page.get_by_label("Dark").check()
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

    assert asked(address) == chosen
    assert (state, width, title, tab) == ("many", 768, "Flight tracker, dark", "Source")
    assert asked(following or "") == {
        name: value for name, value in chosen.items() if name != "state"
    }


async def test_the_state_from_right_to_left_mirrors_the_widget() -> None:
    async with serving(bundled(), gallery=True) as url, browsing(locale="en-US") as page:
        await page.goto(f"{url.removesuffix('/mcp')}/w/flight_tracker?state=rtl")
        drawn = page.frame_locator("#frames iframe")
        await drawn.locator("html[dir=rtl][lang=ar]").wait_for()
        await page.locator("#state").select_option("sample")
        await drawn.locator("html[dir=ltr][lang=en-US]").wait_for()


async def test_a_search_stands_in_the_address_too() -> None:
    async with serving(bundled(), gallery=True) as url, browsing() as page:
        await page.goto(f"{url.removesuffix('/mcp')}/")
        await page.get_by_label("Search widgets").fill("weather")
        await page.wait_for_function("() => location.search === '?q=weather'")
        await page.locator("h1", has_text=" of 27 widgets").wait_for()
        tiles = page.locator(".tile:visible")
        shown = [await tile.get_attribute("data-tool") for tile in await tiles.all()]

    assert {"weather_current", "weather_forecast"} <= set(shown)
    assert "playlist" not in shown


async def test_the_source_is_shown_as_it_was_written_and_can_be_copied() -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    async with (
        serving(bundled(), gallery=True) as url,
        browsing(permissions=permissions) as page,
    ):
        await page.goto(f"{url.removesuffix('/mcp')}/w/flight_tracker?tab=source")
        await page.get_by_role("button", name="Copy name").click()
        await page.get_by_role("button", name="Copied").wait_for()
        name = await page.evaluate("navigator.clipboard.readText()")
        shown = await page.locator("#panel-source .block code").first.inner_text()
        await page.locator("#panel-source .block .copy").first.click()
        await page.locator("#panel-source .block .copy", has_text="Copied").wait_for()
        copied = await page.evaluate("navigator.clipboard.readText()")

    assert name == "flight_tracker"
    assert shown.startswith('<Card size="md">\n  <Row align="center" gap={3}>')
    assert copied == shown


async def test_what_the_model_is_told_and_pays_follows_the_state() -> None:
    async with serving(bundled(), gallery=True) as url, browsing() as page:
        await page.goto(f"{url.removesuffix('/mcp')}/w/flight_tracker?tab=model")
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
