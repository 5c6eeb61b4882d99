"""User actions in the gallery are handled as all others and reach their readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest

from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.form import ARGUMENTS, GIVEN, order, order_file
from tests.support.patience import PATIENCE_S
from tests.support.widgets import snapshot_of, widget_file
from tests.system.server.store.replicas import stored_render
from tests.system.server.web.asking import ask
from widgetd.author.browser.stage import Stage
from widgetd.author.browser.steps import perform
from widgetd.author.gallery.live import events
from widgetd.author.testing.suite import resolve_cases
from widgetd.author.testing.widgets import server_over
from widgetd.author.testing.yaml_file import read_suite
from widgetd.server.access.principal import Caller
from widgetd.server.catalog.registry import Registry
from widgetd.server.store.factory import local_store

if TYPE_CHECKING:
    from playwright.async_api import FrameLocator, Page


@pytest.fixture
def order_folder(tmp_path: Path) -> Path:
    (tmp_path / "Order.widget").write_text(order_file())
    (tmp_path / "Order.widget.toml").write_text(
        f"[[examples]]\nname = 'one'\n[examples.arguments]\n"
        f"order = '{ARGUMENTS['order']}'\nlines = {json.dumps(ARGUMENTS['lines'])}\n"
    )
    return tmp_path


def drawn(page: Page) -> FrameLocator:
    return page.frame_locator("#frames iframe")


async def opened(page: Page, url: str) -> None:
    await page.goto(f"{url.removesuffix('/mcp')}/w/order?tab=actions&state=example-1")
    await drawn(page).get_by_role("button", name="Send").wait_for()


@needs_browser
async def test_waiting_agent_gets_the_action_from_the_gallery(order_folder: Path) -> None:
    answers: list[dict[str, Any]] = []
    async with (
        serving(order_folder, gallery=True) as url,
        connect_client(url, "modern") as agent,
        browsing() as page,
    ):
        await opened(page, url)
        render_id = await page.locator("#render-id").inner_text()

        async def wait() -> None:
            result = await agent.call("await_widget_action", render_id=render_id)
            answers.append(result.structured_content or {})

        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await drawn(page).locator("input[name='buyer.email']").fill("ada@example.com")
                await drawn(page).get_by_role("button", name="Send").click()
        entry = page.locator("#log li", has_text="order.send").last
        await entry.wait_for()
        logged = await entry.locator("pre").inner_text()
        kind = await entry.locator(".kind").inner_text()

    [done] = answers[0]["actions"]
    assert done["action"] == "order.send"
    assert done["payload"]["buyer"] == {"email": "ada@example.com", "pin": ""}
    assert json.loads(logged)["buyer"]["email"] == "ada@example.com"
    assert kind == "Queued"


@needs_browser
async def test_agents_update_is_redrawn_in_every_window(order_folder: Path) -> None:
    fewer = {**ARGUMENTS, "lines": ["jam"]}
    async with (
        serving(order_folder, gallery=True) as url,
        connect_client(url, "modern") as agent,
        browsing() as page,
    ):
        await opened(page, url)
        render_id = await page.locator("#render-id").inner_text()
        canvas = drawn(page)
        await canvas.locator("input[name='buyer.email']").fill("ada@example.com")
        await canvas.get_by_role("button", name="Send").click()
        await canvas.get_by_role("status").get_by_text("“Send” was sent.").wait_for()

        note = "Jam is all there is."
        result = await agent.call("update_render", render_id=render_id, arguments=fewer, note=note)
        await canvas.get_by_role("button", name="jam").wait_for()
        await canvas.get_by_role("status").get_by_text(note).wait_for()
        typed = await canvas.locator("input[name='buyer.email']").input_value()
        tea = await canvas.get_by_role("button", name="tea").count()

    assert (result.structured_content or {})["version"] == 2
    assert (typed, tea) == ("ada@example.com", 0)


async def test_gallery_notifies_only_the_owner_of_a_replaced_render() -> None:
    registry, stop = Registry(snapshot_of(order())), anyio.Event()
    renders = local_store().renders
    for owner in ("ann", "bob"):
        await renders.put(stored_render(f"r_{owner}", owner=owner))
    stream = events(registry, lambda now: now, stop, renders, "ann")
    with anyio.fail_after(PATIENCE_S):
        await anext(stream)
        async with anyio.create_task_group() as tasks:
            stream_events: list[bytes] = []

            async def hear() -> None:
                stream_events.append(await anext(stream))

            tasks.start_soon(hear)
            await anyio.wait_all_tasks_blocked()
            for owner in ("bob", "ann"):
                await renders.replace(f"r_{owner}", lambda newest: newest)
        stop.set()

    assert stream_events == [b'event: render\ndata: {"id":"r_ann","version":2}\n\n']


@needs_browser
async def test_refused_action_is_reported_in_the_widget_and_in_the_log(order_folder: Path) -> None:
    action_call = json.dumps(
        {"render_id": "r_none", "action": "order.send", "idempotency_key": "k"}
    )
    async with serving(order_folder, gallery=True) as url, browsing() as page:
        await opened(page, url)
        await drawn(page).locator("input[name='buyer.email']").fill("ada@example.com")
        await page.route("**/w/order/action", lambda route: route.continue_(post_data=action_call))
        await drawn(page).get_by_role("button", name="Send").click()
        entry = page.locator("#log li")
        kind = await entry.locator(".kind").inner_text()
        logged = await entry.locator(".problem").inner_text()
        alert = await drawn(page).get_by_role("alert").inner_text()

    refusal = (
        "[W2007] render_id: there is no render 'r_none', or not any more; "
        "render the widget again (retry: no)"
    )
    assert (kind, logged) == ("Refused", refusal)
    reason = "it is no longer available, so ask for it again"
    assert alert == f"“Send” did not go through: {reason}."


@needs_browser
async def test_gallery_actions_are_copied_as_a_test_that_repeats_them(order_folder: Path) -> None:
    async with serving(order_folder, gallery=True) as url, browsing() as page:
        await opened(page, url)
        await drawn(page).locator("input[name='buyer.email']").fill("ada${x}@ada.example")
        await drawn(page).locator("input[name='buyer.pin']").fill("0471")
        await drawn(page).locator("select").select_option("M")
        await drawn(page).get_by_role("button", name="Send").click()
        snippet = await copied(page, "order.send")
        await drawn(page).get_by_role("button", name="cake").click()
        dropped = await copied(page, "line.drop")

        assert "0471" not in snippet
        assert 'Press: "action=line.drop [2]"' in dropped
        server = server_over(order_folder)
        caller = Caller(snapshot=server.registry.current, registry=server.registry)
        browser = page.context.browser
        assert browser is not None
        for text in (snippet, dropped):
            (order_folder / "Order.test.yaml").write_text(text)
            suite = read_suite(order_folder / "Order.test.yaml")
            (case,), faults = resolve_cases(suite, server.registry.current)
            assert faults == []
            stage = await Stage.open(browser, server, caller)
            stage.subject = case.widget
            for step in case.steps:
                await perform(stage, step.keyword, dict(step.arguments), timeout_s=PATIENCE_S)
            await stage.close()


async def copied(page: Page, action: str) -> str:
    entry = page.locator("#log li:has(button.copy)", has_text=action).first
    await entry.wait_for()
    return await entry.locator("button.copy").get_attribute("data-copy") or ""


INCOMPLETE = {"order": "o1", "buyer": {"email": ""}}


async def post_action(url: str, body: object, **headers: str) -> httpx2.Response:
    origin = {"origin": url.removesuffix("/mcp"), **headers}
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
        return await client.post(
            f"{url.removesuffix('/mcp')}/w/order/action", json=body, headers=origin
        )


async def test_action_in_the_gallery_is_checked_like_any_other(order_folder: Path) -> None:
    async with serving(order_folder, gallery=True) as url:
        tile = (await ask(url, "/w/order.json?state=example-1")).json()
        action_call = {
            "render_id": tile["renderId"],
            "action": "order.send",
            "idempotency_key": "k",
        }
        fits = (await post_action(url, {**action_call, "payload": GIVEN})).json()
        does_not = (
            await post_action(url, {**action_call, "payload": INCOMPLETE, "idempotency_key": "l"})
        ).json()
        unknown = (await post_action(url, {**action_call, "render_id": "r_none"})).json()
        no_object = await post_action(url, [action_call])
        stranger = await post_action(url, action_call, origin="http://127.0.0.1:1")

    assert fits["structuredContent"] == {"status": "accepted", "next": 1}
    assert does_not["structuredContent"]["validationErrors"].keys() == {"buyer.email"}
    assert unknown["_meta"]["widgetd/error"]["code"] == "W2007"
    assert no_object.json() == {"error": "the body is no JSON object, or too long"}
    assert stranger.status_code == 403


async def test_renders_without_a_chance_of_actions_are_not_stored(order_folder: Path) -> None:
    (order_folder / "Greeting.widget").write_text(widget_file())
    async with serving(order_folder, gallery=True) as url, connect_client(url, "modern") as agent:
        still = (await ask(url, "/w/greeting.json")).json()
        tile = (await ask(url, "/gallery/tile/order")).json()
        glimpsed = tile["result"]["_meta"]["widgetd/render"]["id"]
        waited = await agent.call("await_widget_action", render_id=glimpsed, timeout_s=0)

    assert still["renderId"] == ""
    assert (waited.structured_content or {})["status"] == "expired"


async def test_gallery_reader_without_the_right_to_act_is_refused(order_folder: Path) -> None:
    tokens = order_folder.parent / f"{order_folder.name}-tokens"
    tokens.write_text("ada 0123456789abcdef gallery\n")
    tokens.chmod(0o600)
    ada = {"authorization": "Bearer 0123456789abcdef"}
    async with serving(order_folder, gallery=True, token_file=tokens) as url:
        tile = (await ask(url, "/w/order.json?state=example-1", **ada)).json()
        action_call = {
            "render_id": tile["renderId"],
            "action": "order.send",
            "idempotency_key": "k",
        }
        answer = (await post_action(url, {**action_call, "payload": GIVEN}, **ada)).json()

    assert answer["isError"] is True
    assert answer["_meta"]["widgetd/error"]["code"] == "W2301"
