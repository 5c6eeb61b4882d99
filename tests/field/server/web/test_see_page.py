"""The page of one render in Chromium, opened from the text of its result alone."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp import Client as FastClient
from fastmcp.client.transports import StdioTransport
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from tests.field.server.web.browsing import browsing, files_of, needs_browser
from tests.support.daemons import serving
from tests.support.examples import SCALE
from tests.support.widgets import bundled_widgets

if TYPE_CHECKING:
    from playwright.async_api import Page

WIDGETS = Path(__file__).resolve().parents[4] / "widgets"
CLIENTS = (
    *("claude-code", "codex-mcp-client", "gemini-cli-mcp-client"),
    *("sdk legacy", "sdk modern", "fastmcp over stdio"),
)
NAMES = [one.tool for one in bundled_widgets()]
SHOWN = NAMES if SCALE > 1 else ["create_task", "chart", "lead_form"]
"""All with SCALE=2; a few in CI."""

pytestmark = needs_browser


@asynccontextmanager
async def connected(name: str) -> AsyncIterator[Any]:
    """Connect a client that draws nothing."""
    if name == "fastmcp over stdio":
        command = ["-m", "widgetd", "serve", str(WIDGETS), "--transport", "stdio"]
        async with FastClient(StdioTransport(sys.executable, command)) as fast:
            yield fast
        return
    async with serving(WIDGETS, links="auto") as url:
        if name.startswith("sdk"):
            async with Client(url, mode="legacy" if "legacy" in name else "auto") as client:
                yield client
            return
        about = Implementation(name=name, version="1")
        async with Client(streamable_http_client(url), client_info=about) as client:
            yield client


async def call(client: Any, name: str, arguments: Any) -> tuple[str, Any]:
    """Return the text and the structured content of a result."""
    result = await client.call_tool(name, arguments)
    return result.content[-1].text, result.structured_content


async def open_address(client: Any, page: Page, name: str) -> str:
    """Show the example of a widget at the address of its text; return the address."""
    example = next(one.call_example for one in bundled_widgets() if one.tool == name)
    text, _ = await call(client, name, example or {})
    address = text.rpartition("Show the user: ")[2]
    await page.goto(address)
    await page.frame_locator("iframe").locator(".card, .list, [class*=root]").first.wait_for()
    return address


@pytest.mark.parametrize("name", CLIENTS)
async def test_user_of_a_client_without_views_sees_widgets_and_acts(name: str) -> None:
    foreign: list[str] = []
    async with connected(name) as client, browsing() as page:
        page.on("request", lambda request: foreign.append(request.url))
        for widget in SHOWN:
            address = await open_address(client, page, widget)
            view = page.frame_locator("iframe")
            assert "skeleton" not in await view.locator("body").inner_html()
        address = await open_address(client, page, "create_task")
        await page.frame_locator("iframe").get_by_role("button", name="Add task").click()
        await page.get_by_text("Sent. You can close this page.").wait_for()
        render = re.search(r"r_[\w-]+", address)
        assert render is not None
        _, waited = await call(client, "await_widget_action", {"render_id": render[0]})

    assert [one["action"] for one in waited["actions"]] == ["task.create"]
    origin = address.partition("/see/")[0]
    assert [url for url in foreign if not url.startswith((origin, "data:"))] == []


async def test_page_follows_updates_theme_and_width() -> None:
    async with connected("claude-code") as client, browsing(color_scheme="dark") as page:
        await page.set_viewport_size({"width": 320, "height": 640})
        address = await open_address(client, page, "success_notice")
        view = page.frame_locator("iframe")
        await view.locator("html[data-theme=dark]").wait_for(state="attached")
        width = await page.evaluate("document.documentElement.scrollWidth")
        await page.emulate_media(color_scheme="light")
        await view.locator("html[data-theme=light]").wait_for(state="attached")
        address = await open_address(client, page, "create_task")
        render = re.search(r"r_[\w-]+", address)
        assert render is not None
        update = {"render_id": render[0], "note": "It is on the list."}
        await client.call_tool("update_render", update)
        await view.get_by_text("It is on the list.").wait_for()
        await page.emulate_media(media="print")
        await view.get_by_role("button", name="Add task").wait_for(state="hidden")
    assert width == 320


async def test_address_of_nothing_shows_one_friendly_page() -> None:
    async with serving(WIDGETS, links="auto") as url, browsing() as page:
        answer = await page.goto(url.replace("/mcp", "/see/r_AAAAAAAAAAAAAAAA"))
        await page.get_by_role("heading", name="There is nothing to see here").wait_for()
        assert answer is not None
        assert answer.status == 404


async def test_other_pages_embed_the_element() -> None:
    examples = WIDGETS.parent / "examples" / "web"
    with files_of(examples) as site:
        async with (
            serving(WIDGETS, links="auto", cors_origin=(site,)) as url,
            browsing() as page,
        ):
            await page.goto(f"{site}/plain.html?server={url}")
            await page.frame_locator("iframe").get_by_role("button", name="Add task").click()
            await page.get_by_text("task.create").wait_for()
            said = json.loads(await page.locator("output").inner_text())
    assert said["status"] == "accepted"
