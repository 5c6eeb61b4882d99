"""The page of one render in Chromium, opened from the text of its result alone."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from fastmcp import Client as FastClient
from fastmcp.client.transports import StdioTransport
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.booking import Airline, seats
from tests.support.daemons import serving
from tests.support.examples import SCALE
from tests.support.logs import captured_logs
from tests.support.widgets import bundled_widgets, snapshot_of
from widgetd.base.tasks import while_running
from widgetd.core.widget.actions.tree_actions import iterate_triggers
from widgetd.server.access.links import Links
from widgetd.server.access.principal import LOCAL
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import ServerOptions
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store
from widgetd.server.web.link_listener import LinkListener
from widgetd.server.web.see import See, see_app

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
ACTING = {
    one.tool
    for one in bundled_widgets()
    if any(trigger.handler == "server" for trigger in iterate_triggers(one.call(one.example).tree))
}
RECORD = """
window.sent = [];
addEventListener("widgetd-action", ({ detail }) => window.sent.push(detail));
"""

pytestmark = needs_browser
needs_scale = pytest.mark.skipif(SCALE <= 1, reason="takes half a minute; SCALE=2 runs it")


@asynccontextmanager
async def connected(name: str, logs: Path) -> AsyncIterator[Any]:
    """Connect a client that draws nothing; its daemon writes all that it can into `logs`."""
    audit = logs / "audit.jsonl"
    if name == "fastmcp over stdio":
        words = ["-m", "widgetd", "serve", str(WIDGETS), "--transport", "stdio"]
        words += ["--audit", str(audit)]
        log = logs / "stderr"
        transport = StdioTransport(sys.executable, words, keep_alive=False, log_file=log)
        async with FastClient(transport) as fast:
            yield fast
        return
    async with serving(WIDGETS, links="auto", access_log=True, audit=audit) as url:
        if name.startswith("sdk"):
            async with Client(url, mode="legacy" if "legacy" in name else "auto") as client:
                yield client
            return
        about = Implementation(name=name, version="1")
        async with Client(streamable_http_client(url), client_info=about) as client:
            yield client


async def call_tool(client: Any, name: str, arguments: Any) -> tuple[str, Any]:
    """Return the text and the structured content of a result."""
    result = await client.call_tool(name, arguments)
    return result.content[-1].text, result.structured_content


async def open_address(client: Any, page: Page, name: str) -> str:
    """Show the example of a widget at the address of its text; return the address."""
    example = next(one.call_example for one in bundled_widgets() if one.tool == name)
    text, _ = await call_tool(client, name, example or {})
    address = text.rpartition("Show the user: ")[2]
    await page.goto(address)
    await page.frame_locator("iframe").locator(".card, .list, [class*=root]").first.wait_for()
    return address


async def press_last(page: Page) -> tuple[str, Any]:
    """Fill in what the widget requires, press its last button that the server answers."""
    view = page.frame_locator("iframe")
    for field in await view.locator(":is(input, textarea):required").all():
        if not await field.input_value():
            kind = await field.get_attribute("type")
            await field.fill({"email": "ada@example.com", "number": "2"}.get(kind or "", "Tea"))
    buttons = view.locator("button:enabled:not([aria-haspopup], [type=button][role])")
    for at in range(await buttons.count() - 1, -1, -1):
        await buttons.nth(at).click()
        with anyio.move_on_after(3):
            await page.get_by_text("Sent. You can close this page.").wait_for()
            break
    [sent] = await page.evaluate("window.sent")
    return sent["action"], sent["payload"]


@pytest.mark.parametrize("name", CLIENTS)
async def test_user_of_a_client_without_views_sees_widgets_and_acts(
    tmp_path: Path, name: str
) -> None:
    requested: list[str] = []
    pressed: list[str] = []
    addresses: list[str] = []
    with captured_logs() as events:
        async with connected(name, tmp_path) as client, browsing() as page:
            # A widget's own images come from the origins that its policy names.
            page.on(
                "request", lambda one: requested.extend([one.url] * (one.resource_type != "image"))
            )
            await page.add_init_script(RECORD)
            for widget in SHOWN:
                address = await open_address(client, page, widget)
                addresses.append(address)
                view = page.frame_locator("iframe")
                assert "skeleton" not in await view.locator("body").inner_html()
                if widget in ACTING:
                    sent, actions = await press_while_agent_waits(client, page, address)
                    assert [(one["action"], one["payload"]) for one in actions] == [sent], widget
                    pressed.append(widget)

    assert pressed == [one for one in SHOWN if one in ACTING]
    origin = addresses[0].partition("/see/")[0]
    assert [url for url in requested if not url.startswith((origin, "data:"))] == []
    written = "".join(
        [json.dumps(events.all, default=str), *map(Path.read_text, files_in(tmp_path))]
    )
    assert '"via":"link"' in written
    assert [one for one in addresses if render_of(one).removeprefix("r_") in written] == []


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def render_of(address: str) -> str:
    return re.split("[/#]", address.partition("/see/")[2])[0]


async def press_while_agent_waits(
    client: Any, page: Page, address: str
) -> tuple[tuple[str, Any], list[dict[str, Any]]]:
    """Press as the user does; return what the page sent, and what ended the agent's call."""
    actions: list[dict[str, Any]] = []

    async def wait() -> None:
        _, waited = await call_tool(
            client, "await_widget_action", {"render_id": render_of(address)}
        )
        actions.extend(waited["actions"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        sent = await press_last(page)
    return sent, actions


async def test_page_follows_updates_theme_and_width(tmp_path: Path) -> None:
    async with connected("claude-code", tmp_path) as client, browsing(color_scheme="dark") as page:
        await page.set_viewport_size({"width": 320, "height": 640})
        address = await open_address(client, page, "success_notice")
        view = page.frame_locator("iframe")
        await view.locator("html[data-theme=dark]").wait_for(state="attached")
        width = await page.evaluate("document.documentElement.scrollWidth")
        await page.emulate_media(color_scheme="light")
        await view.locator("html[data-theme=light]").wait_for(state="attached")
        address = await open_address(client, page, "create_task")
        update = {"render_id": render_of(address), "note": "It is on the list."}
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


SECRET = """
sensitive = ["payload.pin"]
[actions."seat.book"]
upstream = "airline"
tool = "book_seat"
confirm = "Book {{ payload.seat }}?"
[actions."seat.book".arguments]
flight = "number"
seat = "payload.seat"
pin = "payload.pin"
"""


@asynccontextmanager
async def booking(airline: Airline, ttl_s: float = 60) -> AsyncIterator[tuple[Any, Page]]:
    """Yield a client over stdio's listener, and a page that shows its form."""
    server = build(
        Registry(snapshot_of(seats(SECRET))),
        local_store(Bounds(render_ttl_s=ttl_s)),
        ServerOptions(),
    )
    server.actions = airline
    listener = LinkListener()
    server.rendering.links = links = Links(origin=listener.origin, anonymous=LOCAL)
    see = partial(listener.serve, see_app(See(server=server, links=links)))
    async with (
        Client(sdk.lowlevel_of(server.mcp)) as client,
        browsing() as page,
        while_running(see),
    ):
        await page.add_init_script(RECORD)
        text, _ = await call_tool(client, "seats", {"number": "PA 845"})
        await page.goto(text.rpartition("Show the user: ")[2])
        await page.frame_locator("iframe").get_by_role("button", name="Book").wait_for()
        yield client, page


async def test_secret_fields_and_confirmations_work_at_the_address() -> None:
    airline = Airline(confirms=True)
    async with booking(airline) as (client, page):
        view = page.frame_locator("iframe")
        await view.locator("[type=password]").fill("2468")
        await view.locator("input:required").fill("12A")

        async def confirm() -> None:
            await view.get_by_role("button", name="Book", exact=True).click()
            await view.get_by_text("Book 12A?").wait_for()
            assert not airline.calls
            await view.get_by_role("button", name="Confirm").click()
            await page.get_by_text("Sent. You can close this page.").wait_for()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(confirm)
            arguments = {"render_id": render_of(page.url)}
            _, waited = await call_tool(client, "await_widget_action", arguments)

    assert [arguments for arguments, _ in airline.requests] == [
        {"flight": "PA 845", "seat": "12A", "pin": "2468"}
    ]
    assert [one["action"] for one in waited["actions"]] == ["seat.book"]


@pytest.mark.parametrize("presses", [True, pytest.param(False, marks=needs_scale)])
async def test_page_of_an_expired_render_says_so_and_takes_no_press(presses: bool) -> None:
    airline = Airline()
    async with booking(airline, ttl_s=2) as (_, page):
        await anyio.sleep(2)
        if presses:
            view = page.frame_locator("iframe")
            await view.locator("input:required").fill("12A")
            await view.get_by_role("button", name="Book").click()
        # Without a press, the page learns it from the next question for updates, within 25 s.
        await page.get_by_text("This widget has expired.").wait_for(timeout=40_000)
        assert await page.locator("iframe").evaluate("frame => frame.inert")
    assert not airline.calls
