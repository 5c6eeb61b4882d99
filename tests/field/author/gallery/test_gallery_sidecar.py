"""Texts that a model reads of a widget are edited on its page, in a real browser."""

from __future__ import annotations

from pathlib import Path

from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.daemons import serving
from tests.support.widgets import widget_file

pytestmark = needs_browser

BESIDE = '# Mine.\ndescription = "Show it."\n'


async def test_sidecar_editor_previews_the_models_text_and_never_overwrites_a_change(
    tmp_path: Path,
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    beside = tmp_path / "A.widget.toml"
    beside.write_text(BESIDE)
    served = serving(tmp_path, gallery=True, allow_upload=True)
    async with served as url, browsing() as page:
        await page.goto(url.removesuffix("/mcp") + '/w/a?tab=sidecar#args={"who":"Eve"}')
        reads = page.locator("[data-reads=summary]")
        await page.get_by_label("Description").fill("Greet somebody.")
        await page.get_by_label("Summary").fill("Hello to {{ who }}")
        await reads.get_by_text("Hello to Eve").wait_for()
        await page.get_by_label("Summary").fill("Hello to {{ whom }}")
        await page.locator("#sidecar-problem").get_by_text("whom").wait_for()
        await page.get_by_label("Summary").fill("Hello to {{ who }}")
        await reads.get_by_text("Hello to Eve").wait_for()
        await page.get_by_role("button", name="Save").click()
        message = page.locator("#sidecar-said")
        await message.get_by_text("Saved.").wait_for()
        saved = beside.read_text()

        await page.get_by_label("Tags").fill("mine, more")
        beside.write_text(saved + "# Theirs.\n")
        await message.get_by_text("changed meanwhile").wait_for()
        await page.get_by_role("button", name="Save").click()
        await message.get_by_text("Not saved: the file there has the digest").wait_for()
        theirs = beside.read_text()
        await page.get_by_role("button", name="Back to the file").click()
        tags = await page.get_by_label("Tags").input_value()

    assert saved == 'summary = "Hello to {{ who }}"\n' + BESIDE.replace("Show it", "Greet somebody")
    assert theirs == saved + "# Theirs.\n"
    assert tags == ""


async def test_origin_of_images_is_allowed_by_one_press_on_its_finding(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"src": {"type": "string"}}, "required": ["src"]}
    image = '{"type":"Card","children":[{"type":"Image","alt":"a","src":{{ src | tojson }}}]}'
    (tmp_path / "A.widget").write_text(widget_file("A", schema=schema, template=image))
    beside = tmp_path / "A.widget.toml"
    beside.write_text(
        BESIDE
        + '[[examples]]\nname = "one"\narguments = { src = "https://images.shop.com/a.png" }\n'
    )
    async with (
        serving(tmp_path, gallery=True, allow_upload=True) as url,
        browsing() as page,
    ):
        await page.route("https://images.shop.com/*", lambda route: route.abort())
        await page.goto(url.removesuffix("/mcp") + "/w/a?tab=problems")
        await page.get_by_role("button", name="Allow this origin").click()
        await page.get_by_text("No problems found.").wait_for()

    assert 'image_origins = ["https://images.shop.com"]' in beside.read_text()
