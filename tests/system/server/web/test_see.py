"""The page of one render: who may open its address, and what that allows."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from tests.support.answers import text
from tests.support.clients import connect_client, over_stdio
from tests.support.daemons import serving as serving_without_links
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.support.widgets import build_widget, snapshot_of, widget_file
from widgetd.server.access.links import Links
from widgetd.server.access.principal import LOCAL, Principal
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import ServerOptions
from widgetd.server.render.hosts import HOSTS
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store
from widgetd.server.web.see import See, see_app

ADA, BOB = "ada-" + "a" * 16, "bob-" + "b" * 16
serving = partial(serving_without_links, links="auto")

ADDRESS = re.compile(r"Show the user: (\S+)$")
BUTTON = '{"type":"Card","children":[{"type":"Button","label":{{ who | tojson }},"onClickAction":{"type":"go"}}]}'  # noqa: E501
PUBLIC = "https://widgets.example"
ORIGIN = "http://127.0.0.1"


@pytest.fixture
def button_folder(tmp_path: Path) -> Path:
    widgets = tmp_path / "widgets"
    widgets.mkdir()
    (widgets / "go.widget").write_text(widget_file("Go", template=BUTTON))
    (tmp_path / "tokens").write_text(f"ada {ADA} widgets:read widgets:call\nbob {BOB}\n")
    return widgets


def address_of(result: Any) -> str:
    found = ADDRESS.search(text(result))
    assert found is not None, text(result)
    return found[1]


class Browser:
    """A browser with its cookies; it reaches every origin at the daemon's own port."""

    def __init__(
        self, url: str, address: str, transport: httpx2.ASGITransport | None = None
    ) -> None:
        path, _, self.signature = address.partition("#")
        self.page = url.removesuffix("/mcp") + "/see/" + path.rpartition("/see/")[2]
        unkept = httpx2.Limits(max_keepalive_connections=0)
        self.http = httpx2.AsyncClient(timeout=PATIENCE_S, limits=unkept, transport=transport)

    async def get(self) -> httpx2.Response:
        return await self.http.get(self.page)

    async def open(self) -> httpx2.Response:
        answer = await self.http.post(self.page, json={"signature": self.signature})
        # Over plain HTTP the client would keep a secure cookie to itself.
        for cookie in self.http.cookies.jar:
            cookie.secure = False
        return answer

    async def call(self, tool: str, **arguments: Any) -> httpx2.Response:
        return await self.http.post(f"{self.page}/{tool}", json=arguments)

    async def press(self) -> httpx2.Response:
        return await self.call("widget_action", action="go", payload={})


def described(answer: httpx2.Response) -> tuple[int, bytes, dict[str, str]]:
    return answer.status_code, answer.content, {**answer.headers, "date": ""}


@asynccontextmanager
async def named_client(url: str, name: str) -> AsyncIterator[Client]:
    over = streamable_http_client(url)
    async with Client(over, client_info=Implementation(name=name, version="1")) as client:
        yield client


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_press_at_an_address_ends_a_waiting_call_once(button_folder: Path, era: Any) -> None:
    async with serving(button_folder) as url, connect_client(url, era) as client:
        result = await client.call("go", who="Ada")
        browser = Browser(url, address_of(result))
        render_id = browser.page.rpartition("/")[2]
        actions: list[Any] = []

        async def wait() -> None:
            answer = await client.call("await_widget_action", render_id=render_id)
            actions.extend(answer.structured_content["actions"])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            opened = (await browser.open()).json()
            presses = [(await browser.press()).json() for _ in range(2)]
        later = await client.call("await_widget_action", render_id=render_id, after=1, timeout_s=0)

    assert (await_action := actions[0])["action"] == "go"
    assert await_action["seq"] == 1
    assert later.structured_content["actions"] == []
    assert opened["result"]["_meta"]["widgetd/widget"]["type"] == "Card"
    assert opened["controls"]
    assert [press["structuredContent"]["status"] for press in presses] == ["accepted"] * 2


async def test_page_calls_three_tools_for_its_own_render_alone(button_folder: Path) -> None:
    async with serving(button_folder) as url, connect_client(url, "modern") as client:
        mine, other = [address_of(await client.call("go", who=who)) for who in ("Ada", "Bob")]
        browser = Browser(url, mine)
        refused = [await browser.call(tool) for tool in ("go", "update_render", "search_widgets")]
        shown = await browser.call("show_render", render_id=other.rpartition("/")[2])

    assert {answer.status_code for answer in refused} == {404}
    assert shown.json()["_meta"]["widgetd/render"]["id"] == mine.rpartition("/")[2]


async def test_foreign_expired_and_senseless_addresses_get_one_answer() -> None:
    now = [0.0]
    snapshot = snapshot_of(build_widget("Go", template=BUTTON))
    store = local_store(Bounds(render_ttl_s=60), clock=lambda: now[0])
    server = build(Registry(snapshot), store, ServerOptions())
    links = Links(origin=lambda: ORIGIN, anonymous=LOCAL)

    async def show(name: str) -> str:
        compute = partial(server.rendering.compute, owner=name)
        render = await compute(snapshot.widgets["go"], {"who": name}, snapshot.generation)
        return links.address(await server.rendering.store(render), Principal(name=name))

    expired = await show("ada")
    now[0] = 90.0
    mine, other = await show("ada"), await show("bob")
    signature, (foreign, _, wrong) = mine.partition("#")[2], other.partition("#")
    transport = httpx2.ASGITransport(see_app(See(server=server, links=links)))
    strangers = [
        Browser(ORIGIN, address, transport)
        for address in (
            expired,
            f"{foreign}#{signature}",
            f"{foreign}#A{wrong}",
            foreign,
            f"{ORIGIN}/see/r_AAAAAAAAAAAAAAAA#{signature}",
            f"{ORIGIN}/see/nonsense#nonsense",
        )
    ]
    pages = [described(await browser.get()) for browser in strangers]
    answers = [described(await browser.open()) for browser in strangers]
    calls = [described(await browser.press()) for browser in strangers]
    frames = [described(await one.http.get(f"{one.page}/frame")) for one in strangers]
    owner = Browser(ORIGIN, mine, transport)
    opened = await owner.open()
    shown = await owner.get()

    for alike in (pages, answers, calls, frames):
        assert alike[0][0] == 404
        assert alike == [alike[0]] * len(strangers)
    assert opened.status_code == 200
    assert shown.status_code == 200
    assert shown.content == pages[0][1]
    assert "frame-ancestors 'none'" in shown.headers["content-security-policy"]
    assert shown.headers["referrer-policy"] == "no-referrer"
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert f"Path=/see/{owner.page.rpartition('/')[2]}" in cookie


async def test_address_ends_with_the_token_it_was_made_for(button_folder: Path) -> None:
    tokens = button_folder.parent / "tokens"
    async with (
        serving(button_folder, token_file=tokens) as url,
        connect_client(url, "modern", ADA) as ada,
    ):
        browser = Browser(url, address_of(await ada.call("go", who="Ada")))
        before = await browser.open()
        tokens.write_text(f"bob {BOB}\n")

        os.kill(os.getpid(), signal.SIGHUP)
        with anyio.fail_after(PATIENCE_S):
            while (await browser.open()).status_code != 404:  # noqa: ASYNC110 - no event in reach
                await anyio.sleep(0.02)
    assert before.status_code == 200


async def test_first_browser_has_the_controls_beyond_this_machine(button_folder: Path) -> None:
    tokens = button_folder.parent / "tokens"
    public = {"public_url": PUBLIC, "token_file": tokens}
    async with serving(button_folder, **public) as url, connect_client(url, "modern", ADA) as ada:
        address = address_of(await ada.call("go", who="Ada"))
        first, second = Browser(url, address), Browser(url, address)
        previewed = await Browser(url, address).get()
        controls = [(await one.open()).json()["controls"] for one in (first, second, first)]
        refused, taken = await second.press(), await first.press()
        render_id = first.page.rpartition("/")[2]
        fresh = address_of(await ada.call("show_render", render_id=render_id))
        elsewhere = (await Browser(url, fresh).open()).json()

    assert address.startswith(f"{PUBLIC}/see/r_")
    assert previewed.status_code == 404
    assert controls == [True, False, True]
    assert refused.json()["code"] == "W2421"
    assert taken.json()["structuredContent"]["status"] == "accepted"
    assert fresh != address
    assert elsewhere["controls"]


async def test_clients_that_draw_get_no_address(button_folder: Path) -> None:
    addresses: dict[str, bool] = {}
    async with serving(button_folder) as url:
        for name in HOSTS:
            async with named_client(url, name) as client:
                result = await client.call_tool("go", {"who": "Ada"})
                addresses[name] = ADDRESS.search(text(result)) is not None
    assert addresses == {name: not host.draws for name, host in HOSTS.items()}


async def test_operator_turns_addresses_off(button_folder: Path) -> None:
    async with (
        serving(button_folder, links="never") as url,
        connect_client(url, "modern") as client,
    ):
        result = await client.call("go", who="Ada")
        page = await Browser(url, f"{url}/see/{text(result).rpartition(' ')[2]}").get()
    assert text(result).endswith(f"Render: {page.url.path.rpartition('/')[2]}")
    assert page.status_code == 404


async def test_ids_and_signatures_are_in_no_log(button_folder: Path) -> None:
    audit, tokens = button_folder.parent / "audit.jsonl", button_folder.parent / "tokens"
    with captured_logs() as events:
        async with (
            serving(button_folder, token_file=tokens, access_log=True, audit=audit) as url,
            connect_client(url, "modern", ADA) as ada,
        ):
            browser = Browser(url, address_of(await ada.call("go", who="Ada")))
            await browser.get()
            await browser.open()
            await browser.call("follow_render", timeout_s=0)
            await browser.press()
            await Browser(url, f"{browser.page}x#wrong").open()
    written = json.dumps(events.all, default=str) + audit.read_text()
    assert browser.page.rpartition("/r_")[2] not in written
    assert browser.signature.partition(".")[0] not in written
    lines = map(json.loads, audit.read_text().splitlines())
    assert [one["tool"] for one in lines if one.get("via") == "link"] == [
        "show_render",
        "follow_render",
        "widget_action",
    ]


async def test_stdio_serves_signed_addresses_until_the_client_leaves(button_folder: Path) -> None:
    async with connect_client(over_stdio(button_folder), "modern") as client:
        address = address_of(await client.call("go", who="Ada"))
        origin = address.partition("/see/")[0]
        browser = Browser(f"{origin}/mcp", address)
        statuses = [
            (await browser.http.post(f"{origin}/mcp", json={})).status_code,
            (await browser.get()).status_code,
            (await browser.open()).status_code,
            (await browser.get()).status_code,
        ]
        pressed = await browser.press()
        render_id = browser.page.rpartition("/")[2]
        waited = await client.call("await_widget_action", render_id=render_id)
    with pytest.raises(httpx2.TransportError):
        await Browser(f"{origin}/mcp", address).get()
    assert statuses == [404, 404, 200, 200]
    assert pressed.json()["structuredContent"]["status"] == "accepted"
    assert [one["action"] for one in waited.structured_content["actions"]] == ["go"]
