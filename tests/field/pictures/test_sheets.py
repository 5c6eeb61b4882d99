"""Sheets of components are drawn without an error, by the view and over MCP."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import anyio
import pytest
from mcp_types import ImageContent

from tests.field.pictures.png import size_of
from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.clients import connect_client
from tests.support.daemons import serving
from widgetd.author.guide.component_sheet import build_sheet
from widgetd.core.widget.components import load_vocabulary
from widgetd.server.render.view import drawing

pytestmark = needs_browser


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_view_draws_each_value_of_each_component_without_an_error(theme: str) -> None:
    tree = {"type": "Basic", "children": [*map(build_sheet, load_vocabulary().components)]}
    async with browsing() as page:
        logged: list[str] = []
        page.on("console", lambda one: logged.append(one.text) if one.type == "error" else None)
        await page.set_content(drawing(tree, theme=theme, locale="en", title="Components"))
        await page.wait_for_selector("html[data-ready=true]", state="attached")
        components = set(
            await page.eval_on_selector_all(
                "[data-component]", "all => all.map(one => one.dataset.component)"
            )
        )
        unknown = await page.locator(".unknown").count()

    assert components == load_vocabulary().components.keys()
    assert (unknown, logged) == (0, [])


async def test_agent_sees_the_sheets_of_the_named_components(tmp_path: Path) -> None:
    names = ["Button", "Badge.color"]
    with anyio.fail_after(60):
        async with (
            serving(tmp_path, toolset=("author",)) as url,
            connect_client(url, "modern") as connection,
        ):
            result = await connection.client.call_tool(
                "get_component_details", {"names": names, "picture": True}
            )

    image, _ = result.content
    assert isinstance(image, ImageContent)
    facts = dict(result.structured_content or {})
    assert size_of(b64decode(image.data)) == (facts["picture"]["width"], facts["picture"]["height"])
    assert [item["name"] for item in facts["items"]] == names
