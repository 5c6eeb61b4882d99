"""The chat is within every limit: turns are charged; conversations have owners, quotas, an end."""

from __future__ import annotations

import gc
import json
import sqlite3
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.daemons import serving
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.system.chat.endpoint import calls_tool, endpoint, says, stays_silent
from tests.system.chat.talking import Talker, agent_messages, problems, set_limits, shown_widgets
from tests.unit.server.catalog.test_state_faults import no_room
from widgetd.chat.backend.conversation import newest
from widgetd.chat.backend.database import ChatDatabase
from widgetd.chat.backend.threads import MissingError, Threads
from widgetd.chat.limits import LIMITS, ChatLimits
from widgetd.server.access.principal import LOCAL, Principal
from widgetd.server.catalog.state import StateFolder

ADA, BOB = Principal(name="ada"), Principal(name="bob")
TOKENS = {"ada": "0123456789abcdef", "bob": "fedcba9876543210"}


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    file.write_text("".join(f"{name} {token} chat\n" for name, token in TOKENS.items()))
    file.chmod(0o600)
    return file


def talker(url: str, name: str) -> Talker:
    return Talker(url, {"authorization": f"Bearer {TOKENS[name]}"})


def message(text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"content": content, "attachments": [], "inference_options": {}, **more}


# --- what a turn costs


async def test_turn_is_charged_to_its_user_alone(folder: Path, tokens: Path) -> None:
    # A turn costs 5 calls, and its agent makes one to list tools and two to find and show one.
    limits = {"rate": 0.001, "burst": 12}
    async with serving(folder, chat=True, token_file=tokens, **limits) as url:
        cards = shown_widgets(await talker(url, "ada").say("greeting"))
        again = await talker(url, "ada").post("threads.create", input=message("greeting"))
        other = shown_widgets(await talker(url, "bob").say("greeting"))

    assert len(cards) == len(other) == 1
    assert again.status_code == 429
    assert again.json()["code"] == "W2201"
    assert int(again.headers["retry-after"]) > 0


async def test_turns_at_once_are_limited_apart_from_the_calls_of_their_agent(
    folder: Path, tokens: Path
) -> None:
    async with (
        endpoint(calls_tool("greeting", {"who": "Ada"}), stays_silent()) as model,
        serving(
            folder, chat=True, token_file=tokens, at_once=1, chat_model="m", chat_url=model.url
        ) as url,
        talker(url, "ada").begun("Greet Ada") as lines,
    ):
        with anyio.fail_after(PATIENCE_S):
            async for line in lines:
                if '"type":"widget"' in line:
                    break
        refused = await talker(url, "ada").post("threads.create", input=message("Again"))
        listed = await talker(url, "ada").post("threads.list")

    assert refused.status_code == 429
    assert refused.json()["code"] == "W2202"
    assert listed.status_code == 200


async def test_abandoned_turn_makes_room_for_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    set_limits(monkeypatch, turns_at_once=1)
    async with (
        endpoint(stays_silent(), says("Hello.")) as model,
        serving(folder, chat=True, chat_model="m", chat_url=model.url) as url,
    ):
        async with Talker(url).begun("Hello"):
            with anyio.fail_after(PATIENCE_S):
                await model.first.wait()
        with anyio.fail_after(PATIENCE_S):
            while (await Talker(url).post("threads.create", input=message("a"))).status_code == 429:  # noqa: ASYNC110 - no event reports it
                await anyio.sleep(0.01)
    gc.collect()

    assert len(model.asked) == 2
    assert [one.message for one in caplog.records if "never retrieved" in one.message] == []


# --- how large a message and an answer are


@pytest.mark.parametrize(
    "given",
    [message("x" * 40_000), message("x", quoted_text="q" * 40_000)],
    ids=["text", "quoted text"],
)
async def test_message_above_its_limit_is_refused_before_anything_is_stored(
    folder: Path, given: dict[str, Any]
) -> None:
    async with serving(folder, chat=True) as url:
        refused = await Talker(url).post("threads.create", input=given)
        threads = (await Talker(url).post("threads.list")).json()["data"]

    assert refused.status_code == 413
    assert refused.json() == {
        "error": "W2503: a message has at most 32768 bytes; send less",
        "code": "W2503",
    }
    assert threads == []


async def test_answer_above_its_limit_ends_the_turn(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, answer_bytes=100)
    async with (
        endpoint(says("word " * 50), says("Short.")) as model,
        serving(folder, chat=True, chat_model="m", chat_url=model.url) as url,
    ):
        user = Talker(url)
        long = await user.say("Tell me everything")
        short = await user.say("In short")
        items = await user.items()

    sentence = "W2504: the model m said more than 100 bytes; ask for less"
    assert problems(long) == [sentence]
    assert agent_messages(short) == ["Short."]
    assert [item["type"] for item in items].count("assistant_message") == 1


@given(st.lists(st.text(max_size=50), max_size=20), st.integers(0, 400))
def test_model_reads_the_newest_items_within_its_limit(items: list[str], most_bytes: int) -> None:
    newest_items = newest(items, most_bytes)

    assert newest_items == items[len(items) - len(newest_items) :]
    assert len(newest_items) >= min(len(items), 1)
    sizes = [len(json.dumps(item, ensure_ascii=False).encode()) for item in newest_items]
    assert sum(sizes) <= most_bytes or len(newest_items) <= 1


# --- what is kept, and of whom


class Conversations:
    """Threads in memory, with a clock of the test's own."""

    def __init__(self, state: StateFolder | None = None, **changed: Any) -> None:
        self.now_s = 1_000_000_000.0
        limits: ChatLimits = replace(LIMITS, **changed)
        self.database = ChatDatabase(state, limits, clock=lambda: self.now_s)
        self.threads = Threads(self.database, limits)

    async def begin(self, name: str, owner: Principal) -> None:
        # By now it was imported without the warnings of its first import.
        from chatkit.types import ThreadMetadata

        self.now_s += 1
        thread = ThreadMetadata(id=name, created_at=datetime.now())  # noqa: DTZ005 - as ChatKit
        await self.threads.save_thread(thread, owner)

    async def add(self, thread: str, owner: Principal, text: str, item: str = "") -> None:
        from chatkit.types import HiddenContextItem

        self.now_s += 1
        made = HiddenContextItem(
            id=item or f"i{self.now_s}",
            thread_id=thread,
            created_at=datetime.now(),  # noqa: DTZ005 - as ChatKit
            content=text,
        )
        await self.threads.add_thread_item(thread, made, owner)

    async def names(self, owner: Principal) -> list[str]:
        page = await self.threads.load_threads(100, None, "asc", owner)
        return [thread.id for thread in page.data]

    async def sizes(self) -> dict[str, tuple[int, int]]:
        """Return the counted and the actual bytes of each thread."""
        query = """
        SELECT id, bytes, (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM items
            WHERE thread = threads.id) + (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0)
            FROM notes WHERE thread = threads.id) FROM threads
        """
        rows = await self.database.run(lambda tables: tables.execute(query).fetchall())
        return {name: (counted, real) for name, counted, real in rows}


async def test_flood_of_one_user_never_evicts_the_conversation_of_another() -> None:
    conversations = Conversations(threads_each=5, user_bytes=20_000, total_bytes=30_000)
    await conversations.begin("bob's", BOB)
    await conversations.add("bob's", BOB, "b" * 2_000)
    for number in range(50):
        await conversations.begin(f"t{number}", ADA)
        await conversations.add(f"t{number}", ADA, "a" * 3_000)
    flooders = [Principal(name=f"flooder{number}") for number in range(20)]
    for flooder in flooders:
        await conversations.begin(flooder.name, flooder)
        await conversations.add(flooder.name, flooder, "f" * 4_000)

    assert await conversations.names(BOB) == ["bob's"]
    assert await conversations.names(ADA) == ["t49"], "she had most when there was no room"
    sizes = await conversations.sizes()
    assert sum(counted + 512 for counted, _ in sizes.values()) <= 30_000


async def test_each_quota_costs_its_owner_the_oldest() -> None:
    few = Conversations(threads_each=3)
    large = Conversations(user_bytes=10_000)
    long = Conversations(items_each=9)
    heavy = Conversations(thread_bytes=10_000)
    for number in range(5):
        for thread in (few, large):
            await thread.begin(f"t{number}", ADA)
            await thread.add(f"t{number}", ADA, "a" * 3_000)
    for thread in (long, heavy):
        await thread.begin("t", ADA)
        for number in range(20):
            await thread.add("t", ADA, "a" * 2_000, f"i{number}")
    pages = [
        await thread.threads.load_thread_items("t", None, 100, "asc", ADA)
        for thread in (long, heavy)
    ]

    assert await few.names(ADA) == ["t2", "t3", "t4"]
    assert await large.names(ADA) == ["t3", "t4"]
    assert [item.id for item in pages[0].data] == [f"i{number}" for number in range(11, 20)]
    assert [item.id for item in pages[1].data] == [f"i{number}" for number in range(16, 20)]


async def test_conversation_expires_after_its_last_change() -> None:
    conversations = Conversations(thread_ttl_s=100)
    await conversations.begin("old", ADA)
    await conversations.begin("new", ADA)
    conversations.now_s += 90
    await conversations.add("new", ADA, "still here")
    conversations.now_s += 50

    assert await conversations.names(ADA) == ["new"]
    with pytest.raises(MissingError):
        await conversations.threads.load_thread("old", ADA)
    await conversations.begin("next", ADA)
    assert set(await conversations.sizes()) == {"new", "next"}


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "add", "note", "delete item", "delete thread"]),
        st.sampled_from(["t0", "t1"]),
        st.sampled_from(["i0", "i1", "i2"]),
        st.text(max_size=40),
    ),
    max_size=25,
)


@given(STEPS)
async def test_counted_bytes_of_a_thread_equal_its_size(
    steps: list[tuple[str, str, str, str]],
) -> None:
    conversations = Conversations(items_each=2)
    for step, thread, item, text in steps:
        try:
            match step:
                case "begin":
                    await conversations.begin(thread, ADA)
                case "add":
                    await conversations.add(thread, ADA, text, item)
                case "note":
                    await conversations.threads.save_note(thread, item, {"text": text}, ADA)
                case "delete item":
                    await conversations.threads.delete_thread_item(thread, item, ADA)
                case _:
                    await conversations.threads.delete_thread(thread, ADA)
        except MissingError:
            continue

    assert all(counted == real for counted, real in (await conversations.sizes()).values())


async def test_pages_of_a_thread_continue_where_the_last_one_ended() -> None:
    conversations = Conversations()
    await conversations.begin("t", ADA)
    for number in range(7):
        await conversations.add("t", ADA, "", f"i{number}")
    pages: dict[str, list[str]] = {}
    for order in ("asc", "desc"):
        after, more = None, True
        while more:
            page = await conversations.threads.load_thread_items("t", after, 3, order, ADA)
            pages.setdefault(order, []).extend(item.id for item in page.data)
            after, more = page.after, page.has_more

    assert pages["asc"] == [f"i{number}" for number in range(7)]
    assert pages["desc"] == pages["asc"][::-1]


async def test_widget_too_large_to_store_is_shown_and_stored_as_a_notice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, item_bytes=2_000)
    async with (
        endpoint(calls_tool("greeting", {"who": "A" * 3_000}), says("There.")) as model,
        serving(folder, chat=True, chat_model="m", chat_url=model.url) as url,
    ):
        user = Talker(url)
        [card] = shown_widgets(await user.say("Greet"))
        items = {item["type"]: item for item in await user.items()}

    assert "A" * 3_000 in card["widget"]["children"][0]["value"]
    assert "too large" in items["widget"]["widget"]["children"][0]["value"]
    assert items["workflow"]["workflow"]["tasks"][0]["content"] == ""


# --- the file


async def test_full_disk_loses_only_later_messages(tmp_path: Path) -> None:
    state = StateFolder(tmp_path / "state")
    conversations = Conversations(state)
    await conversations.begin("before", ADA)
    with captured_logs() as log, no_room():
        await conversations.begin("t", ADA)
        for _ in range(20):
            await conversations.add("t", ADA, "a" * 3_000)
        during = await conversations.names(ADA)
    conversations.threads.close()
    again = Conversations(state)

    assert during == ["before", "t"]
    assert log.names() == ["state.failed"]
    assert "before" in await again.names(ADA)


async def test_conversations_of_an_earlier_version_are_preserved(
    folder: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    with sqlite3.connect(state / "chat.sqlite3") as old:
        old.executescript("""
            CREATE TABLE threads (
                seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, owner TEXT, body TEXT);
            CREATE TABLE items (
                seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, body TEXT,
                thread TEXT REFERENCES threads (id) ON DELETE CASCADE, UNIQUE (thread, id));
            CREATE TABLE notes (
                thread TEXT REFERENCES threads (id) ON DELETE CASCADE, item TEXT, body TEXT,
                PRIMARY KEY (thread, item));
        """)
        body = '{"id": "t", "title": "Before", "created_at": "2026-01-02T03:04:05"}'
        old.execute("INSERT INTO threads VALUES (1, 't', ?, ?)", (LOCAL.name, body))
        old.execute("INSERT INTO notes VALUES ('t', 'seen', 'MARKER')")
    old.close()
    async with serving(folder, chat=True, state_dir=state) as url:
        [thread] = (await Talker(url).post("threads.list")).json()["data"]
        events = await Talker(url, thread="t").say("greeting")

    def notes(tables: Connection) -> list[Any]:
        return tables.execute("SELECT body FROM notes").fetchall()

    assert (thread["id"], thread["title"]) == ("t", "Before")
    assert len(shown_widgets(events)) == 1
    [file] = state.rglob("chat.sqlite3")
    with sqlite3.connect(file) as now:
        assert "MARKER" not in str(notes(now))
    now.close()


# --- what front ends send and read


async def test_tag_in_a_message_reaches_the_model_with_its_data(folder: Path) -> None:
    tag = {"type": "input_tag", "id": "c_7", "text": "Ada", "data": {"city": "London"}}
    text = {"type": "input_text", "text": "Greet "}
    given = {**message(""), "content": [text, tag]}
    async with (
        endpoint(says("Hello.")) as model,
        serving(folder, chat=True, chat_model="m", chat_url=model.url) as url,
    ):
        events = await Talker(url).turn("threads.create", input=given)
    [request] = model.asked
    request_text = json.dumps(request.body["messages"][-1])

    assert agent_messages(events) == ["Hello."]
    assert "Greet @Ada" in request_text
    assert "c_7" in request_text
    assert "London" in request_text


async def test_every_time_has_a_zone(folder: Path) -> None:
    async with serving(folder, chat=True) as url:
        user = Talker(url)
        events = await user.say("greeting")
        items = await user.items()
        threads = (await user.post("threads.list")).json()["data"]
    streamed = [one.get(kind) for one in events for kind in ("item", "thread")]
    times = [one["created_at"] for one in [*filter(None, streamed), *items, *threads]]

    assert len(times) > 5
    assert all(datetime.fromisoformat(time).tzinfo for time in times)
