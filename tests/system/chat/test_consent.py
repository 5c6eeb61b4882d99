"""A tool that changes something asks a person first, on a card, and runs once they press."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import CallToolResult

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.chat.endpoint import calls_tool, endpoint, says
from tests.system.chat.talking import Talker, agent_messages, set_limits, shown_widgets
from tests.system.server.mcp.test_profiles import client_named
from tests.system.server.store.server import running_server
from tests.system.upstreams.servers import Flights, serve_mcp
from widgetd.author.browser.toolset import keyword_tools
from widgetd.chat.backend.tools import text_of as content_of
from widgetd.daemon.wings import ROWS

FILE = json.loads(widget_file("Parcel", text="Parcel of"))
SAVING = {"file": "Parcel.widget", "widget": FILE}
AUTHOR = {"toolset": ("author",), "allow_upload": True}


def buttons(card: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the actions of a card, by label."""
    return {card[name]["label"]: card[name]["action"] for name in ("confirm", "cancel")}


async def press(talker: Talker, card: dict[str, Any], label: str) -> list[dict[str, Any]]:
    action = buttons(card["widget"])[label]
    params = {"thread_id": talker.thread, "item_id": card["id"], "action": action}
    return await talker.turn("threads.custom_action", **params)


@pytest.mark.parametrize("label", ["Allow once", "Deny"])
async def test_chat_saves_a_widget_once_its_user_allows_it(folder: Path, label: str) -> None:
    saved = folder / "Parcel.widget"
    async with (
        endpoint(calls_tool("save_widget", SAVING), says("I asked."), says("I see.")) as model,
        serving(
            folder, chat=True, chat_tools=("author",), chat_model="m", chat_url=model.url, **AUTHOR
        ) as url,
    ):
        talker = Talker(url)
        [card] = shown_widgets(await talker.say("Save it"))
        message = str(model.asked[1].body["messages"][-1])
        before = saved.exists()
        path = f"/chat/widgets/{talker.thread}/{card['id']}"
        card_now = (await talker.get(path)).json()
        reply = await press(talker, card, label)
        again = await press(talker, card, label)
        after = (await talker.get(path)).json()["result"]["_meta"]
        notice = str(model.asked[-1].body["messages"])

    text = json.dumps(card["widget"])
    assert "Save a new widget as 'Parcel.widget'?" in text
    assert "Parcel of" in text, "the widget is drawn on the card"
    assert "The user is asked first" in message
    assert before is False
    assert card_now["result"]["_meta"]["widgetd/render"]["id"]
    assert agent_messages(reply) == ["I see."]
    assert saved.exists() == (label == "Allow once")
    assert ("The user allowed save_widget" in notice) == (label == "Allow once")
    assert ("The user denied save_widget" in notice) == (label == "Deny")
    assert "confirm" not in after["widgetd/widget"], "the card has no buttons any more"
    assert agent_messages(again) == []


async def test_chat_model_has_widgets_search_and_the_named_tools(folder: Path) -> None:
    offered = []
    for named in ((), ("update_render", "author")):
        async with (
            endpoint(says("Hello.")) as model,
            serving(
                folder, chat=True, chat_tools=named, chat_model="m", chat_url=model.url, **AUTHOR
            ) as url,
        ):
            await Talker(url).say("Hello")
            offered.append({one["function"]["name"] for one in model.asked[0].body["tools"]})

    widgets_and_search = {"greeting", "search_widgets", "get_widget_details", "render_widget"}
    assert offered[0] == widgets_and_search
    assert offered[1] > widgets_and_search | {"update_render", "save_widget", "try_widget"}
    assert not offered[1] & {"widget_action", "await_widget_action", "get_logs"}


def test_exactly_the_destructive_tools_ask_first() -> None:
    rows = (*ROWS, *keyword_tools(("all",)))

    assert {one.name for one in rows if one.asks} == {one.name for one in rows if one.destructive}
    assert {one.name for one in rows if one.asks} == {"save_widget", "call_upstream"}


async def test_scripted_turn_calls_the_upstream_tool_named_in_its_text(
    folder: Path, tmp_path: Path
) -> None:
    flights = Flights()
    async with serve_mcp(flights.mcp) as at:
        upstreams = tmp_path / "u.toml"
        upstreams.write_text(f'[flights]\nurl = "{at}"\n')
        async with serving(folder, chat=True, upstreams=upstreams) as url:
            talker = Talker(url)
            messages = agent_messages(await talker.say("Which flight is UA 123?"))
            widget = shown_widgets(await talker.say("Show me Greeting"))
            suggestions = (await talker.get("/chat/state")).json()["suggestions"]

    assert flights.calls == ["UA 123"]
    assert messages[0].startswith("`get_flight` answered:")
    assert "United" in messages[0]
    assert len(widget) == 1
    assert suggestions == ["Show me Greeting"]


async def test_model_cannot_call_a_tool_outside_its_list(folder: Path) -> None:
    async with (
        endpoint(calls_tool("save_widget", SAVING), says("Done.")) as model,
        serving(folder, chat=True, chat_model="m", chat_url=model.url, **AUTHOR) as url,
    ):
        await Talker(url).say("Save it")

    assert not (folder / "Parcel.widget").exists()


async def test_upstream_tool_with_side_effects_asks_first(folder: Path, tmp_path: Path) -> None:
    flights = Flights()
    booking = calls_tool("mcp_flights__book_flight", {"flight_no": "UA 123"})
    async with serve_mcp(flights.mcp) as at:
        upstreams = tmp_path / "u.toml"
        upstreams.write_text(f'[flights]\nurl = "{at}"\ntools = ["get_flight", "book_flight"]\n')
        async with (
            endpoint(booking, says("I asked."), says("Booked.")) as model,
            serving(
                folder, chat=True, upstreams=upstreams, chat_model="m", chat_url=model.url
            ) as url,
        ):
            talker = Talker(url)
            [card] = shown_widgets(await talker.say("Book UA 123"))
            message = str(model.asked[1].body["messages"][-1])
            reply = await press(talker, card, "Allow once")
            notice = str(model.asked[-1].body["messages"])

    assert "Let 'flights' run 'book_flight'?" in json.dumps(card["widget"])
    assert "UA 123" in json.dumps(card["widget"])
    assert "booked UA 123" not in message
    assert "booked UA 123" in notice
    assert agent_messages(reply) == ["Booked."]


async def test_long_answer_of_an_upstream_is_read_page_by_page(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "widgetd.chat.backend.tools.LIMITS", set_limits(monkeypatch, tool_text_chars=60)
    )
    flights = Flights()
    more = [calls_tool("mcp_flights__read_next_page", {}) for _ in range(2)]
    asking = calls_tool("mcp_flights__get_flight", {"flight_no": "UA 123"})
    async with serve_mcp(flights.mcp) as at:
        upstreams = tmp_path / "u.toml"
        upstreams.write_text(f'[flights]\nurl = "{at}"\n')
        async with (
            endpoint(asking, *more, says("Read.")) as model,
            serving(
                folder, chat=True, upstreams=upstreams, chat_model="m", chat_url=model.url
            ) as url,
        ):
            events = await Talker(url).say("Where is UA 123?")
        messages = model.asked[-1].body["messages"]
        tools = [
            {one["function"]["name"] for one in request.body["tools"]} for request in model.asked
        ]
    pages = [content_of(one["content"]) for one in messages if one["role"] == "tool"]

    assert agent_messages(events) == ["Read."]
    assert "mcp_flights__read_next_page" not in tools[0]
    assert "mcp_flights__read_next_page" in tools[1]
    whole = "".join(page.partition("… (")[0] for page in pages)
    assert json.loads(whole)["asked"] == "UA 123"


def text_of(result: CallToolResult) -> str:
    return "\n".join(getattr(block, "text", "") for block in result.content)


async def test_client_that_draws_without_elicitation_gets_the_card(folder: Path) -> None:
    saved = folder / "Parcel.widget"
    async with serving(folder, **AUTHOR) as url, client_named(url, "modern", apps=True) as client:
        with anyio.fail_after(PATIENCE_S):
            result = await client.call_tool("save_widget", SAVING)
            meta = result.meta or {}
            mark = meta["widgetd/render"]
            action = buttons(meta["widgetd/widget"])["Allow once"]
            pressing = {
                "render_id": mark["id"],
                "action": action["type"],
                "payload": action["payload"],
                "idempotency_key": "k1",
            }
            by_model = await client.call_tool("widget_action", pressing)
            before = saved.exists()
            pressed = await client.call_tool("widget_action", {**pressing, "press": mark["press"]})
            awaited = await client.call_tool("await_widget_action", {"render_id": mark["id"]})
            again = {**pressing, "press": mark["press"], "idempotency_key": "k2"}
            twice = await client.call_tool("widget_action", again)

    structured = json.dumps(result.structured_content) + text_of(result)
    assert action["payload"]["token"] not in structured
    assert mark["press"] not in structured
    assert text_of(by_model).startswith("[W3104]")
    assert before is False
    assert (pressed.structured_content or {})["status"] == "done"
    assert saved.exists()
    assert "The user allowed save_widget" in json.dumps(awaited.structured_content)
    assert twice.is_error


async def test_card_of_a_tool_that_is_gone_after_a_restart_says_so(folder: Path) -> None:
    with running_server() as store:
        async with (
            serving(folder, store=store.url, **AUTHOR) as url,
            client_named(url, "modern", apps=True) as client,
        ):
            meta = (await client.call_tool("save_widget", SAVING)).meta or {}
        action = buttons(meta["widgetd/widget"])["Allow once"]
        mark = meta["widgetd/render"]
        pressing = {
            "render_id": mark["id"],
            "action": action["type"],
            "payload": action["payload"],
            "press": mark["press"],
            "idempotency_key": "k1",
        }
        async with (
            serving(folder, store=store.url) as url,
            client_named(url, "modern", apps=True) as client,
        ):
            pressed = await client.call_tool("widget_action", pressing)

    assert text_of(pressed) == (
        "[W3105] there is no tool 'save_widget' here any more: nothing was done (retry: no)"
    )


async def test_card_shows_a_difference_and_replaces_no_other_version(folder: Path) -> None:
    file = folder / "Greeting.widget"
    other = widget_file(text="Welcome")
    async with serving(folder, **AUTHOR) as url, client_named(url, "modern", apps=True) as client:
        with anyio.fail_after(PATIENCE_S):
            read = await client.call_tool("read_widget", {"names": ["greeting"]})
            saving = {
                "file": file.name,
                "widget": json.loads(widget_file(text="Good day")),
                "replaces": (read.structured_content or {})["items"][0]["digest"],
            }
            result = await client.call_tool("save_widget", saving)
            meta = result.meta or {}
            action = buttons(meta["widgetd/widget"])["Allow once"]
            file.write_text(other)
            mark = meta["widgetd/render"]
            pressing = {
                "render_id": mark["id"],
                "action": action["type"],
                "payload": action["payload"],
                "idempotency_key": "k1",
                "press": mark["press"],
            }
            pressed = await client.call_tool("widget_action", pressing)

    card = json.dumps(meta["widgetd/widget"])
    assert "Replace the widget in 'Greeting.widget'?" in card
    assert "```diff" in card
    assert "Good day, " in card
    assert file.read_text() == other
    assert (pressed.structured_content or {})["status"] == "failed"
