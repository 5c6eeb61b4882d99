"""The gallery in a real browser: it follows the folder and keeps typed text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.daemons import serving
from tests.support.widgets import widget_file

if TYPE_CHECKING:
    from playwright.async_api import FrameLocator, Page

pytestmark = needs_browser

FORM = json.dumps(
    {
        "type": "Card",
        "asForm": True,
        "confirm": {"label": "Send", "action": {"type": "note.send"}},
        "children": [
            {"type": "Text", "value": "HEADING"},
            {"type": "Input", "name": "note", "placeholder": "Note"},
        ],
    }
)


def form(heading: str) -> str:
    return widget_file("Form", schema={"type": "object"}, template=FORM.replace("HEADING", heading))


def drawn(page: Page) -> FrameLocator:
    return page.frame_locator("#frames iframe").first


async def test_saved_file_is_redrawn_without_losing_typed_text(tmp_path: Path) -> None:
    file = tmp_path / "Form.widget"
    file.write_text(form("First"))
    narrow = {"width": 600, "height": 400}
    async with serving(tmp_path, gallery=True) as url, browsing(viewport=narrow) as page:
        await page.goto(f"{url.removesuffix('/mcp')}/w/form")
        await page.wait_for_selector("[data-live=live]")
        await drawn(page).get_by_placeholder("Note").fill("half a sentence")
        await page.evaluate("scrollTo(0, 120)")
        file.write_text(form("Second"))
        await drawn(page).get_by_text("Second").wait_for()

        assert await drawn(page).get_by_placeholder("Note").input_value() == "half a sentence"
        assert await page.evaluate("scrollY") == 120


BROKEN = {
    "what cannot be read": (
        '{"type":"Card","children":[{% for %}]}',
        "W1301",
        "Expected an expression",
    ),
    "what no arguments draw": (
        '{"type":"Card","children":[{{ 1 // 0 }}]}',
        "W1310",
        "fails on any arguments",
    ),
    "what is no JSON": ('{"type":"Card","children":[]', "W1305", "fails on any arguments"),
}


@pytest.mark.parametrize(("template", "code", "why"), BROKEN.values(), ids=BROKEN)
async def test_broken_file_is_explained_over_its_last_good_picture(
    tmp_path: Path, template: str, code: str, why: str
) -> None:
    file = tmp_path / "Greeting.widget"
    file.write_text(widget_file())
    async with serving(tmp_path, gallery=True) as url, browsing() as page:
        await page.goto(f"{url.removesuffix('/mcp')}/w/greeting")
        await page.wait_for_selector("[data-live=live]")
        await drawn(page).get_by_text("Hello").wait_for()
        file.write_text(widget_file(template=template))
        overlay = page.locator("#fault .fault")
        await overlay.wait_for()
        message = await overlay.inner_text()
        still = await drawn(page).get_by_text("Hello").count()
        file.write_text(widget_file(text="Mended"))
        await drawn(page).get_by_text("Mended").wait_for()
        await overlay.wait_for(state="detached")

    assert "This file broke; the last good version is shown" in message
    assert "Greeting.widget:1:" in message
    assert code in message
    assert why in message
    assert "these arguments" not in message
    assert still == 1


async def test_index_follows_new_and_deleted_files(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with serving(tmp_path, gallery=True) as url, browsing() as page:
        await page.goto(f"{url.removesuffix('/mcp')}/")
        await page.wait_for_selector("[data-live=live]")
        (tmp_path / "B.widget").write_text(widget_file("B"))
        await page.locator(".tile[data-tool=b] iframe").wait_for()
        (tmp_path / "A.widget").unlink()
        await page.locator(".tile[data-tool=a]").wait_for(state="detached")

        assert await page.locator("h1").inner_text() == "1 widget"


async def test_every_open_tab_follows(tmp_path: Path) -> None:
    file = tmp_path / "Greeting.widget"
    file.write_text(widget_file())
    async with serving(tmp_path, gallery=True) as url, browsing() as first:
        second = await first.context.new_page()
        for page in (first, second):
            await page.goto(f"{url.removesuffix('/mcp')}/w/greeting")
            await page.wait_for_selector("[data-live=live]")
        file.write_text(widget_file(text="Bye"))
        for page in (first, second):
            await drawn(page).get_by_text("Bye").wait_for()
        await first.close()
        file.write_text(widget_file(text="Back"))

        await drawn(second).get_by_text("Back").wait_for()


async def test_empty_folder_welcomes_until_there_is_a_widget(tmp_path: Path) -> None:
    async with serving(tmp_path, gallery=True) as url, browsing() as page:
        await page.goto(f"{url.removesuffix('/mcp')}/")
        await page.wait_for_selector("[data-live=live]")
        steps = await page.locator(".steps h2").all_inner_texts()
        (tmp_path / "A.widget").write_text(widget_file("A"))
        await page.locator(".tile[data-tool=a]").wait_for()

    assert steps == [
        "Export a widget, or begin with an example",
        "Put it into the folder",
        "Connect an agent",
    ]


async def test_changed_argument_is_drawn_and_stored_in_the_address(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    async with serving(tmp_path, gallery=True) as url, browsing() as page:
        await page.goto(f"{url.removesuffix('/mcp')}/w/greeting?theme=both&width=320")
        await page.locator("#controls input").fill("Ada")
        await drawn(page).get_by_text("Hello, Ada").wait_for()
        address = page.url
        await page.goto("about:blank")
        await page.goto(address)
        await drawn(page).get_by_text("Hello, Ada").wait_for()

        assert await page.locator("#frames iframe").count() == 2
        assert await page.locator("#state").input_value() == "edited"
        # Both fit beside each other by their scale; the widget has its room all the same.
        width = await page.locator("#frames iframe").first.evaluate("frame => frame.clientWidth")
        assert width == 320


async def test_image_is_loaded_as_soon_as_its_origin_is_allowed(tmp_path: Path) -> None:
    template = '{"type":"Card","children":[{"type":"Image","src":{{ who | tojson }},"size":160}]}'
    (tmp_path / "A.widget").write_text(widget_file("A", template=template))
    sidecar = tmp_path / "A.widget.toml"
    example = '[[examples]]\narguments = { who = "https://i.imgur.com/a.svg" }\n'
    sidecar.write_text(example)
    dot = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    async with serving(tmp_path, gallery=True) as url, browsing() as page:
        await page.route(
            "https://i.imgur.com/a.svg",
            lambda route: route.fulfill(body=dot, content_type="image/svg+xml"),
        )
        await page.goto(f"{url.removesuffix('/mcp')}/w/a?tab=source")
        await page.wait_for_selector("[data-live=live]")
        await drawn(page).get_by_text("i.imgur.com is not allowed here").wait_for()
        await page.locator("#panel-source", has_text="W1410").wait_for()
        sidecar.write_text(f'image_origins = ["https://i.imgur.com"]\n{example}')
        await drawn(page).locator("img").wait_for()
        await page.wait_for_function(
            "() => !document.getElementById('panel-source').textContent.includes('W1410')"
        )


async def test_no_page_is_wider_than_a_small_phone_with_any_file_name(tmp_path: Path) -> None:
    folder = tmp_path / f"of_{'one_long_word_' * 4}"
    folder.mkdir()
    (folder / "Greeting.widget").write_text(widget_file())
    (folder / "Broken.widget").write_text("{")
    beyond = {}
    async with (
        serving(tmp_path, gallery=True) as url,
        browsing(viewport={"width": 320, "height": 700}) as page,
    ):
        for path in ("/", "/w/greeting", "/status"):
            await page.goto(f"{url.removesuffix('/mcp')}{path}")
            beyond[path] = await page.evaluate(
                """() => [document.documentElement, ...document.querySelectorAll(".trail, .fault")]
                    .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
                    .filter((more) => more > 0)"""
            )

    assert beyond == {"/": [], "/w/greeting": [], "/status": []}


BESIDE = '# Mine.\ndescription = "Show it."\n'


async def test_origin_of_images_is_allowed_by_one_press_on_its_finding(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"src": {"type": "string"}}, "required": ["src"]}
    image = '{"type":"Card","children":[{"type":"Image","alt":"a","src":{{ src | tojson }}}]}'
    (tmp_path / "A.widget").write_text(widget_file("A", schema=schema, template=image))
    beside = tmp_path / "A.widget.toml"
    beside.write_text(
        BESIDE
        + '[[examples]]\nname = "one"\narguments = { src = "https://images.shop.com/a.png" }\n'
    )
    async with serving(tmp_path, gallery=True, allow_upload=True) as url, browsing() as page:
        await page.route("https://images.shop.com/*", lambda route: route.abort())
        await page.goto(url.removesuffix("/mcp") + "/w/a?tab=edit")
        await page.get_by_role("button", name="Allow this origin").click()
        await page.get_by_role("button", name="Allow this origin").wait_for(state="detached")

    assert 'image_origins = ["https://images.shop.com"]' in beside.read_text()
