"""Origins of images are allowed on the widget's page, in a real browser."""

from __future__ import annotations

from pathlib import Path

from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.daemons import serving
from tests.support.widgets import widget_file

pytestmark = needs_browser

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
    async with (
        serving(tmp_path, gallery=True, allow_upload=True) as url,
        browsing() as page,
    ):
        await page.route("https://images.shop.com/*", lambda route: route.abort())
        await page.goto(url.removesuffix("/mcp") + "/w/a?tab=edit")
        await page.get_by_role("button", name="Allow this origin").click()
        await page.get_by_role("button", name="Allow this origin").wait_for(state="detached")

    assert 'image_origins = ["https://images.shop.com"]' in beside.read_text()
