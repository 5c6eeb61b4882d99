"""The toolset `pictures` over MCP, and the gallery's buttons, which use the same browser."""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from mcp_types import BlobResourceContents, ImageContent

from tests.field.pictures.png import size_of
from tests.field.server.web.browsing import PATIENCE_MS, browsing, needs_browser
from tests.support.clients import Connection, connect_client
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from widgetd.author.browser import axe
from widgetd.author.browser.chromium import PROGRAM_VARIABLE
from widgetd.author.guide.component_sheet import build_sheet
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.components import load_vocabulary
from widgetd.server.render.view import drawing

if TYPE_CHECKING:
    from playwright.async_api import Page

PALE = json.dumps(
    {
        "type": "Card",
        "children": [
            {"type": "Text", "value": "Early", "color": "#eeeeee"},
            {"type": "Badge", "label": "New"},
            {"type": "Row", "children": [{"type": "Box", "size": 150}] * 3},
        ],
    }
)


async def take(client: Connection, **arguments: Any) -> tuple[bytes, dict[str, Any]]:
    with anyio.fail_after(60):
        result = await client.client.call_tool("take_picture", arguments)
    assert not result.is_error, result.content
    image, _ = result.content
    assert isinstance(image, ImageContent)
    facts = dict(result.structured_content or {})
    content = b64decode(image.data)
    assert facts["bytes"] == len(content)
    if image.mime_type == "image/png":
        assert size_of(content) == (facts["width"], facts["height"])
    return content, facts


async def error_of(client: Connection, **arguments: Any) -> tuple[str, str]:
    with anyio.fail_after(60):
        result = await client.client.call_tool("take_picture", arguments)
    error = dict(result.meta or {})["widgetd/error"]
    return error["code"], error.get("path", "")


@needs_browser
async def test_agent_sees_pictures_of_a_widget_a_part_a_render_and_all_widgets(
    tmp_path: Path,
) -> None:
    (tmp_path / "Pale.widget").write_text(widget_file("Pale", template=PALE))
    (tmp_path / "Greeting.widget").write_text(widget_file("Greeting"))
    with anyio.fail_after(100):
        async with (
            serving(tmp_path, toolset=("pictures",)) as url,
            connect_client(url, "modern") as client,
        ):
            one, facts = await take(client, names=["greeting"], scale=2, theme="dark", width=320)
            again, _ = await take(client, names="greeting", scale=2, theme="dark", width=320)
            _, pale = await take(client, names=["pale"])
            _, badge = await take(client, names=["pale"], part="component=Badge")
            jpeg, _ = await take(client, names=["greeting"], format="jpeg")
            result = await client.client.call_tool("greeting", {"who": "Ada"})
            render_id = dict(result.meta or {})["widgetd/render"]["id"]
            shot, _ = await take(client, render_id=render_id)
            called, _ = await take(client, names=["greeting"], arguments={"who": "Ada"})
            _, sheet = await take(client)
            codes = [
                await error_of(client, names=["greting"]),
                await error_of(client, names=["greeting"], state="smaple"),
                await error_of(client, names=["greeting"] * 49),
                await error_of(client, names=["greeting"], part="component=Chart"),
                await error_of(client, names=["greeting"], part="Chart"),
                await error_of(client, part="component=Badge"),
                await error_of(client, names=["greeting"], width=100),
                await error_of(client, render_id="r_nothing"),
            ]
            read = await client.client.read_resource("widgetd://pictures/greeting")

    assert (facts["width"], facts["console"], facts["overflow"], facts["left"]) == (640, [], [], [])
    assert one == again
    assert pale["overflow"] == ["Box by 83 px"]
    assert badge["width"] < 80
    assert jpeg.startswith(b"\xff\xd8")
    assert shot == called
    assert sheet["width"] < 1280, "two widgets fill two of three columns"
    assert sheet["height"] < 800
    assert sheet["overflow"] == ["pale: Box by 83 px"]
    assert codes == [
        ("W2001", "name"),
        ("W4402", "state"),
        ("W3003", "names"),
        ("W4201", "target"),
        ("W2002", "part"),
        ("W2002", "names"),
        ("W2002", "width"),
        ("W2007", "render_id"),
    ]
    [picture] = read.contents
    assert isinstance(picture, BlobResourceContents)
    assert b64decode(picture.blob).startswith(b"\x89PNG")


@needs_browser
async def test_draft_is_pictured_before_it_is_saved_and_a_bad_one_has_findings(
    tmp_path: Path,
) -> None:
    draft = json.loads(widget_file("Pale", template=PALE))
    how = {"picture": True, "theme": "dark", "width": 320}
    with anyio.fail_after(100):
        async with (
            serving(tmp_path, toolset=("author",)) as url,
            connect_client(url, "modern") as client,
        ):
            good = await client.client.call_tool("try_widget", {"widget": draft, **how})
            bad = await client.client.call_tool("try_widget", {"widget": {"name": "Pale"}, **how})

    [image, _] = good.content
    assert isinstance(image, ImageContent)
    assert size_of(b64decode(image.data))[0] == 320
    facts = dict(good.structured_content or {})
    assert facts["picture"]["overflow"] == ["Box by 5 px", "Box by 163 px"]
    assert facts["tree"]["type"] == "Card"
    assert [one.type for one in bad.content] == ["text"]
    assert dict(bad.structured_content or {})["findings"]


@needs_browser
async def test_ten_pictures_cost_fifty_calls(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file("Greeting"))
    with anyio.fail_after(100):
        async with (
            serving(tmp_path, toolset=("pictures",), rate=0.001, burst=54) as url,
            connect_client(url, "modern") as client,
        ):
            for _ in range(10):
                await take(client, names=["greeting"])
            code, _ = await error_of(client, names=["greeting"])

    assert code == "W2201"


@needs_browser
async def test_gallery_returns_picture_and_axe_findings_in_each_theme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Pale.widget").write_text(widget_file("Pale", template=PALE))
    with anyio.fail_after(100):
        async with (
            serving(tmp_path, gallery=True) as url,
            browsing(accept_downloads=True, color_scheme="light") as page,
        ):
            await page.goto(url.removesuffix("/mcp") + "/w/pale?width=320")
            files = [await download_picture(page, scale) for scale in ("1", "2")]
            await page.click("#tab-source")
            await page.click("#look")
            faults = page.locator("#violations .fault")
            await faults.first.wait_for(timeout=PATIENCE_MS)
            words = await faults.first.inner_text()
            await page.get_by_label("Dark").check()
            rule = await faults.first.get_by_text("What this rule is").get_attribute("href")
            await page.click("#look")
            await page.locator("#violations", has_text="nothing against it, dark").wait_for()
            axe._source.cache_clear()
            monkeypatch.setitem(sys.modules, "axe_playwright_python", None)
            await page.click("#look")
            missing = await page.locator("#violations .problem").inner_text()

    assert missing.startswith("This needs axe, which is not installed; run `")
    assert [name for name, _ in files] == ["pale-sample-light.png", "pale-sample-light@2x.png"]
    assert [size_of(content)[0] for _, content in files] == [320, 640]
    assert "Early" in words
    assert "color-contrast" in words
    assert "Element has insufficient color contrast" in words
    assert (rule or "").startswith("https://dequeuniversity.com/")


async def download_picture(page: Page, scale: str) -> tuple[str, bytes]:
    if not await page.locator(f"[data-picture='{scale}']").is_visible():
        await page.locator("summary", has_text="PNG").click()
    async with page.expect_download() as coming:
        await page.click(f"[data-picture='{scale}']")
    download = await coming.value
    return download.suggested_filename, await anyio.Path(await download.path()).read_bytes()


async def test_gallery_without_a_browser_names_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROGRAM_VARIABLE, str(tmp_path / "nothing"))
    with anyio.fail_after(60):
        async with serving(bundled_folder(), gallery=True) as url, httpx2.AsyncClient() as client:
            for path in ("picture.png", "accessibility.json"):
                answer = await client.get(url.removesuffix("/mcp") + f"/w/flight_tracker/{path}")
                assert answer.status_code == 501
                assert answer.json()["code"] == "W3201"
                assert "pictures need " in answer.json()["error"]


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
