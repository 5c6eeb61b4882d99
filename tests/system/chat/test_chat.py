"""The chat's backend by ChatKit's protocol: turns, actions, threads and permissions."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.daemons import serving
from tests.support.forked_daemons import forked_daemon
from tests.support.form import ARGUMENTS, GIVEN, order_file
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.chat.endpoint import endpoint, says, stays_silent
from tests.system.chat.talking import Talker, agent_messages, problems, set_limits, shown_widgets
from tests.unit.base.files.privilege import stopped_by_permissions
from widgetd.chat.backend import model as models
from widgetd.chat.backend import server as servers
from widgetd.chat.backend.database import ChatDatabase
from widgetd.chat.backend.server import ChatServer
from widgetd.chat.backend.threads import Threads
from widgetd.chat.backend.tools import OwnTools
from widgetd.chat.preflight import SCRIPTED
from widgetd.chat.samples import WidgetSample
from widgetd.server.access.principal import LOCAL, Principal


@pytest.fixture
def chat_folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path)


def make_folder(parent: Path) -> Path:
    served = parent / "served"
    served.mkdir()
    (served / "Order.widget").write_text(order_file())
    (served / "Order.widget.toml").write_text(
        f"[[examples]]\nname = 'one'\n[examples.arguments]\n"
        f"order = '{ARGUMENTS['order']}'\nlines = {json.dumps(ARGUMENTS['lines'])}\n"
    )
    return served


async def act_in_widget(talker: Talker, item: str, payload: dict[str, Any], kind: str = "") -> Any:
    action = {"type": "order.send", "payload": payload}
    params = {"thread_id": talker.thread, "item_id": item, "action": action}
    if kind:
        return (await talker.post(kind, **params)).json()
    return await talker.turn("threads.custom_action", **params)


async def test_user_action_is_checked_and_passed_to_the_agent(chat_folder: Path) -> None:
    async with serving(chat_folder, chat=True) as url:
        talker = Talker(url)
        [card] = shown_widgets(await talker.say("order"))
        misfit = await act_in_widget(talker, card["id"], {"order": "o1", "buyer": {"email": ""}})
        events = await act_in_widget(talker, card["id"], GIVEN)
        versions = (await talker.get(f"/chat/seen/{talker.thread}")).json()

    [effect] = [one for one in misfit if one.get("name") == "widgetd.action"]
    assert effect["data"]["result"]["structuredContent"]["validationErrors"].keys() == {
        "buyer.email"
    }
    assert agent_messages(misfit) == []
    [line] = agent_messages(events)
    assert line == "You chose “Send” with Email ada@example.com."
    assert "The user did this in the widget order: order.send" in json.dumps(versions)


async def test_action_without_a_turn_redraws_the_widget(chat_folder: Path) -> None:
    async with serving(chat_folder, chat=True) as url:
        talker = Talker(url)
        [card] = shown_widgets(await talker.say("order"))
        answer = await act_in_widget(talker, card["id"], GIVEN, "threads.sync_custom_action")

    assert answer["updated_item"]["id"] == card["id"]
    assert answer["updated_item"]["widget"]["type"] == "Card"


async def test_threads_outlive_a_restart_where_there_is_a_state_folder(
    chat_folder: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    async with serving(chat_folder, chat=True, state_dir=state) as url:
        first = Talker(url)
        await first.say("order")
        before = await first.items()
    async with serving(chat_folder, chat=True, state_dir=state) as url:
        after = await Talker(url, thread=first.thread).items()

    assert after == before
    assert [item["type"] for item in after] == [
        "user_message",
        "workflow",
        "widget",
        "assistant_message",
    ]


@pytest.mark.parametrize("harm", ["unreadable", "read-only", "a folder"])
async def test_chat_starts_without_conversations_when_its_file_is_unusable(harm: str) -> None:
    with stopped_by_permissions() as home:
        chat_folder, state = make_folder(home), home / "state"
        state.mkdir()
        match harm:
            case "unreadable":
                (state / "chat.sqlite3").write_bytes(b"no database at all" * 100)
            case "read-only":
                state.chmod(0o500)
            case "a folder":
                (state / "chat.sqlite3").mkdir()
        with captured_logs() as events:
            async with serving(chat_folder, chat=True, state_dir=state) as url:
                events_of_turn = await Talker(url).say("order")
        state.chmod(0o700)

    assert len(shown_widgets(events_of_turn)) == 1
    assert events.names().count("state.failed") == 1


def tokens_in(chat_folder: Path) -> Path:
    tokens = chat_folder.parent / "tokens"
    tokens.write_text(
        "ada 0123456789abcdef chat\nbob fedcba9876543210 chat include=none\n"
        "eve aaaaaaaaaaaaaaaa gallery\n"
    )
    tokens.chmod(0o600)
    return tokens


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_thread_is_hidden_from_other_principals(chat_folder: Path) -> None:
    async with serving(chat_folder, chat=True, token_file=tokens_in(chat_folder)) as url:
        ada = Talker(url, bearer("0123456789abcdef"))
        bob = Talker(url, bearer("fedcba9876543210"))
        async with anyio.create_task_group() as both:
            both.start_soon(ada.say, "order")
            both.start_soon(bob.say, "order")
        adas = (await ada.post("threads.list")).json()["data"]
        bobs = (await bob.post("threads.list")).json()["data"]
        stolen = await Talker(url, bob.headers, ada.thread).post(
            "threads.get_by_id", thread_id=ada.thread
        )
        counts = {name: len(await one.items()) for name, one in (("ada", ada), ("bob", bob))}
        hidden = "widget" in {item["type"] for item in await bob.items()}

    assert [one["id"] for one in adas] == [ada.thread]
    assert [one["id"] for one in bobs] == [bob.thread]
    assert stolen.status_code == 404
    assert all(counts.values())
    assert not hidden, "bob's token does not see the widget, so his agent has none"


async def test_reader_without_the_right_to_chat_is_refused(chat_folder: Path) -> None:
    async with serving(chat_folder, chat=True, token_file=tokens_in(chat_folder)) as url:
        eve = await Talker(url, bearer("aaaaaaaaaaaaaaaa")).get("/chat")
        nobody = await Talker(url).get("/chat")
        lent = await Talker(url, bearer("0123456789abcdef")).get("/chat/state")

    assert (eve.status_code, nobody.status_code, lent.status_code) == (403, 401, 200)
    assert lent.json()["servers"] == [{"name": "widgetd", "problem": ""}]


async def test_principal_with_chat_scope_alone_presses_buttons_shown_by_their_agent(
    chat_folder: Path,
) -> None:
    async with serving(chat_folder, chat=True, token_file=tokens_in(chat_folder)) as url:
        ada = Talker(url, bearer("0123456789abcdef"))
        [card] = shown_widgets(await ada.say("order"))
        events = await act_in_widget(ada, card["id"], GIVEN)

    assert agent_messages(events) == ["You chose “Send” with Email ada@example.com."]


async def test_agent_gets_no_other_scope_of_its_user(chat_folder: Path) -> None:
    tokens = tokens_in(chat_folder)
    tokens.write_text(
        "ada 0123456789abcdef chat author operate write admin\nbob fedcba9876543210 chat\n"
    )
    settings = {"toolset": ("author", "operate"), "allow_upload": True, "token_file": tokens}
    async with (
        endpoint(says("Hello.")) as there,
        serving(chat_folder, chat=True, chat_model="m", chat_url=there.url, **settings) as url,
    ):
        await Talker(url, bearer("0123456789abcdef")).say("order")
        await Talker(url, bearer("fedcba9876543210")).say("order")

    adas, bobs = (
        {one["function"]["name"] for one in request.body["tools"]} for request in there.asked
    )
    assert "order" in adas
    assert adas == bobs


async def test_turn_ends_with_the_token_of_its_user(chat_folder: Path) -> None:
    tokens = tokens_in(chat_folder)
    async with (
        endpoint(stays_silent()) as there,
        serving(
            chat_folder, chat=True, token_file=tokens, chat_model="m", chat_url=there.url
        ) as url,
        anyio.create_task_group() as talking,
    ):
        ada = Talker(url, bearer("0123456789abcdef"))
        talking.start_soon(ada.say, "order")
        with anyio.fail_after(PATIENCE_S):
            await there.first.wait()
        tokens.write_text("bob fedcba9876543210 chat\n")
        os.kill(os.getpid(), signal.SIGHUP)

    assert len(there.asked) == 1


@pytest.mark.parametrize("origin", ["http://127.0.0.1:1", "null"])
async def test_another_page_may_not_talk_unless_it_is_named(chat_folder: Path, origin: str) -> None:
    async with serving(chat_folder, chat=True) as url:
        stranger = await Talker(url, {"origin": origin}).post("threads.list")
    async with serving(chat_folder, chat=True, cors_origin=("https://shop.example",)) as url:
        named = await Talker(url, {"origin": "https://shop.example"}).post("threads.list")

    assert stranger.status_code == 403
    assert named.status_code == 200


async def test_turn_above_its_time_limit_ends_with_a_sentence(
    chat_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, turn_s=0.0)
    async with serving(chat_folder, chat=True) as url:
        events = await Talker(url).say("order")

    assert problems(events) == ["W2501: this took longer than 0 s; try again"]


def chat_with(*tools: OwnTools) -> servers.ChatServer:
    async def act(_arguments: Any, _owner: Principal) -> tuple[dict[str, Any], dict[str, Any], str]:
        return {}, {}, ""

    async def redraw(_facts: Any, _owner: Principal) -> None:
        return None

    sample = WidgetSample(arguments=ARGUMENTS, admits=lambda _arguments: True)
    model = models.chat_model(SCRIPTED, "", None, samples={"order": sample}.get)
    return servers.ChatServer(
        Threads(ChatDatabase()),
        model,
        lambda _owner: nullcontext(list(tools)),
        act=act,
        redraw=redraw,
        sensitive=lambda _tool, _arguments: (),
    )


async def turn_of(chat: servers.ChatServer) -> list[dict[str, Any]]:
    user_input = {"content": [{"type": "input_text", "text": "order"}], "attachments": []}
    params = {"input": {**user_input, "inference_options": {}}}
    request = json.dumps({"type": "threads.create", "params": params})
    answer: Any = await chat.process(request, LOCAL)
    with anyio.fail_after(3 * PATIENCE_S):
        return [json.loads(line.removeprefix(b"data: ")) async for line in answer]


def servers_in(events: list[dict[str, Any]]) -> list[dict[str, str]]:
    lists = [one["data"] for one in events if one.get("name") == "widgetd.servers"]
    return [{one["name"]: one["problem"] for one in data["servers"]} for data in lists]


async def test_garbage_collector_does_not_visit_the_chat(chat_folder: Path) -> None:
    async with serving(chat_folder, chat=True) as url:
        await Talker(url).get("/chat/state")
        looked_at = gc.get_objects()

    assert [one for one in looked_at if type(one) is ChatServer] == []


async def test_upstream_outage_spares_the_others_and_ends_at_the_next_turn(
    chat_folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    async with serving(chat_folder) as url:
        away = OwnTools(f"http://127.0.0.1:{port}/mcp", name="away")
        chat = chat_with(OwnTools(url), away)
        without = await turn_of(chat)
        (other / "Greeting.widget").write_text(widget_file())
        async with forked_daemon(other, port=port):
            with_it = await turn_of(chat)
        missing = await turn_of(chat)

    assert (
        len(shown_widgets(without))
        == len(shown_widgets(with_it))
        == len(shown_widgets(missing))
        == 1
    )
    assert servers_in(without)[0]["away"]
    assert servers_in(with_it)[0] == {"widgetd": "", "away": ""}
    assert servers_in(missing)[0]["away"]


async def test_upstream_crash_in_a_turn_leaves_the_turn_to_the_others(chat_folder: Path) -> None:
    async with serving(chat_folder) as url:
        dying = OwnTools(url, name="dying")
        chat = chat_with(OwnTools(url), dying)
        tools = dying.list_tools

        async def list_tools(*arguments: Any, **more: Any) -> Any:
            # As when its connection breaks after the first step of a turn.
            dying.session = None
            return await tools(*arguments, **more)

        dying.list_tools = list_tools  # type: ignore[method-assign]
        events = await turn_of(chat)

    assert len(shown_widgets(events)) == 1
    first, last = servers_in(events)
    assert first == {"widgetd": "", "dying": ""}
    assert last["dying"]


async def test_removed_widget_is_shown_as_it_was(chat_folder: Path) -> None:
    async with serving(chat_folder, chat=True) as url:
        talker = Talker(url)
        [card] = shown_widgets(await talker.say("order"))
        path = f"/chat/widgets/{talker.thread}/{card['id']}"
        served = (await talker.get(path)).json()
        same = (await talker.get(path)).json()
        (chat_folder / "Order.widget").unlink()
        (chat_folder / "Else.widget").write_text(widget_file("Else"))
        with anyio.fail_after(PATIENCE_S):
            while (missing := (await talker.get(path)).json())["tool"]:  # noqa: ASYNC110 - no event reports it
                await anyio.sleep(0.01)

    assert served["tool"] == "order"
    assert same == served
    assert missing["result"]["structuredContent"]["type"] == "Card"
