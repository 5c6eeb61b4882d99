"""The conversation over a real endpoint's protocol, and with all that an endpoint does wrong."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import anyio
import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.chat.endpoint import (
    Answer,
    calls_tool,
    chunk,
    cuts,
    drips,
    endpoint,
    halts,
    refuses,
    says,
    sends,
    stays_silent,
)
from tests.system.chat.talking import Talker, agent_messages, problems, set_limits, shown_widgets
from tests.system.upstreams.servers import until
from widgetd.base.errors import ConfigError
from widgetd.base.redaction import Secret
from widgetd.chat.backend import model as models
from widgetd.chat.backend.script import ScriptedModel
from widgetd.chat.preflight import require_key
from widgetd.cli import main
from widgetd.settings import OPENAI_URL

KEY = "sk-q7Zp-Xw3vTn9Lb2RmK8yHd4"


def chat_settings(url: str) -> dict[str, Any]:
    return {"chat": True, "chat_model": "m1", "chat_url": url, "chat_key": Secret(KEY)}


async def test_agent_of_an_endpoint_shows_a_widget_and_speaks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It is set for other programs; the settings alone say where a conversation goes.
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    script = (calls_tool("greeting", {"who": "Ada"}), says("Ada is greeted."), says("Twice."))
    async with endpoint(*script) as there, serving(folder, **chat_settings(there.url)) as url:
        talker = Talker(url)
        events = await talker.say("Greet Ada")
        again = await talker.say("And again")
        replies = [item for item in await talker.items() if item["type"] == "assistant_message"]
        first, second = there.asked[:2]

    [card] = shown_widgets(events)
    assert card["widget"]["children"] == [{"type": "Text", "value": "Hello, Ada"}]
    assert (agent_messages(events), agent_messages(again)) == (["Ada is greeted."], ["Twice."])
    assert len(replies) == 2
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert "greeting" in {tool["function"]["name"] for tool in first.body["tools"]}
    assert '"Card"' not in str(second.body["messages"])


NOTHING = "W2502: the model m1 gave no answer; does URL/ speak OpenAI's protocol?"
STUCK = "The model m1 called tools again and again, and said nothing; ask otherwise"

FAULTS: dict[str, tuple[Answer, str]] = {
    "key": (
        refuses(401, f"Incorrect API key provided: {KEY}"),
        "W0012: the model m1 cannot be used; URL/ answered 401 (Incorrect API key provided: …",
    ),
    "name": (
        refuses(404, "model 'm1' not found"),
        "W0012: the model m1 cannot be used; URL/ answered 404 (model 'm1' not found)",
    ),
    "busy": (
        refuses(429, "slow down"),
        "W2502: the model m1 does not answer; URL/ said 429, so try again",
    ),
    "broken": (
        refuses(500, "oh no"),
        "W2502: the model m1 does not answer; URL/ said 500, so try again",
    ),
    "cut": (
        cuts({"content": "Half of "}),
        "W2502: the model m1 does not answer at URL/; try again",
    ),
    "cut in a call": (
        cuts({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "greeting"}}]}),
        "W2502: the model m1 does not answer at URL/; try again",
    ),
    "silent": (stays_silent(), "W2502: the model m1 does not answer at URL/; try again"),
    "silent in a sentence": (
        halts("Half "),
        "W2502: the model m1 does not answer at URL/; try again",
    ),
    "no endpoint": (sends("text/html", "<h1>Hello</h1>"), NOTHING),
    "no JSON": (sends("text/event-stream", "data: {no\n\n"), NOTHING),
    "half a call": (calls_tool("greeting", '{"who": "A'), STUCK),
    "again and again": (calls_tool("greeting", {"who": "Ada"}), STUCK),
    "invents": (
        calls_tool("no_such_tool", {}),
        (
            "The model m1 asked for what there is not"
            " (Tool no_such_tool not found in agent widgetd); try again"
        ),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_endpoint_failure_is_one_sentence_and_the_thread_continues(
    fault: str,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level("DEBUG")
    set_limits(monkeypatch, silence_s=0.3)
    answer, sentence = FAULTS[fault]
    state_folder = folder.parent / "state"
    state_folder.mkdir()
    async with (
        endpoint(answer) as there,
        serving(folder, state_dir=state_folder, **chat_settings(there.url)) as url,
    ):
        talker = Talker(url)
        events = await talker.say("Greet Ada")
        there.script[:] = [says("I am back.")]
        again = await talker.say("And now?")
        state = (await talker.get("/chat/state")).text
        saw = (await talker.get(f"/chat/seen/{talker.thread}")).text
        threads = b"".join(file.read_bytes() for file in state_folder.rglob("*") if file.is_file())

    assert problems(events) == [sentence.replace("URL", there.url)]
    assert agent_messages(events) == []
    assert agent_messages(again) == ["I am back."]
    assert b"I am back." in threads
    outputs = (str(events), state, saw, caplog.text, repr(threads), *capfd.readouterr())
    text = "".join(outputs)
    assert [KEY[at : at + 6] for at in range(len(KEY) - 5) if KEY[at : at + 6] in text] == []


DRIPS = {
    "bytes that are no event": drips(": "),
    "pieces of a sentence": drips(chunk({"content": "and "})),
    "pieces of a call": drips(
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": " "}}]})
    ),
}


@pytest.mark.parametrize("kind", DRIPS)
async def test_endless_slow_response_ends_with_the_turn_and_the_thread_continues(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, turn_s=1.0)
    async with endpoint(DRIPS[kind]) as there, serving(folder, **chat_settings(there.url)) as url:
        talker = Talker(url)
        events = await talker.say("Greet Ada")
        with anyio.fail_after(PATIENCE_S):
            await there.left.wait()
        monkeypatch.undo()
        there.script[:] = [says("I am back.")]
        again = await talker.say("And now?")
        types = [item["type"] for item in await talker.items()]

    assert problems(events) == ["W2501: this took longer than 1 s; try again"]
    assert agent_messages(again) == ["I am back."]
    assert types == ["user_message", "user_message", "assistant_message"]


CUT_SHORT = {"stopped": halts("Half "), "failed": cuts({"content": "Half "})}


def waiting() -> list[str]:
    """Return the tasks that wait for results of tools in a turn."""
    coroutines = (str(task.get_coro()) for task in asyncio.all_tasks())
    return [one for one in coroutines if "_AsyncQueueIterator" in one]


@pytest.mark.parametrize("how", CUT_SHORT)
async def test_interrupted_turn_leaves_no_task_behind(
    how: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        endpoint(CUT_SHORT[how]) as there,
        serving(folder, **chat_settings(there.url)) as url,
    ):
        talker = Talker(url)
        async with talker.begun("Greet Ada") as lines:
            async for line in lines:
                if how == "stopped" and "text_delta" in line:
                    break
        if how == "stopped":
            with anyio.fail_after(PATIENCE_S):
                await there.left.wait()
        await until(lambda: not waiting())
        gc.collect()

    assert [one.getMessage() for one in caplog.records if one.name == "asyncio"] == []


async def test_model_gets_the_error_of_an_invalid_call_and_corrects_it(folder: Path) -> None:
    script = (calls_tool("greeting", {}), calls_tool("greeting", {"who": "Ada"}), says("Done."))
    async with endpoint(*script) as there, serving(folder, **chat_settings(there.url)) as url:
        events = await Talker(url).say("Greet Ada")
        message = there.asked[1].body["messages"][-1]["content"]

    assert "missing required parameters: who" in str(message)
    assert len(shown_widgets(events)) == 1
    assert agent_messages(events) == ["Done."]


async def test_widget_saved_during_a_turn_is_drawn_whole_and_listed_at_the_next(
    folder: Path,
) -> None:
    calling = calls_tool("greeting", {"who": "Ada"})

    async def saves_and_calls(request: Any, stream: Any) -> None:
        (folder / "Greeting.widget").write_text(widget_file(text="Good day"))
        await calling(request, stream)

    async with (
        endpoint(saves_and_calls, says("Greeted.")) as there,
        serving(folder, **chat_settings(there.url)) as url,
    ):
        talker = Talker(url)
        [card] = shown_widgets(await talker.say("Greet Ada"))
        there.script, there.asked = [calling, says("Again.")], []
        with anyio.fail_after(PATIENCE_S):
            while "Good day" not in str(again := shown_widgets(await talker.say("And again"))):
                there.asked = []

    assert card["widget"]["children"][0]["value"] in {"Hello, Ada", "Good day, Ada"}
    assert again[0]["widget"]["children"] == [{"type": "Text", "value": "Good day, Ada"}]


RENDER_BY_ALIAS = calls_tool("render_widget", {"name": "greeting", "args": {"who": "Ada"}})
"""A call with another name of `arguments`, as models write it."""


async def test_widget_rendered_by_name_is_redrawn_with_its_arguments(folder: Path) -> None:
    async with (
        endpoint(RENDER_BY_ALIAS, says("Done.")) as there,
        serving(folder, **chat_settings(there.url)) as url,
    ):
        talker = Talker(url)
        [card] = shown_widgets(await talker.say("Greet Ada"))
        path = f"/chat/widgets/{talker.thread}/{card['id']}"
        (folder / "Greeting.widget").write_text(widget_file(text="Good day"))
        with anyio.fail_after(PATIENCE_S):
            while "Good day, Ada" not in (await talker.get(path)).text:  # noqa: ASYNC110 - no event reports it
                await anyio.sleep(0.01)


async def test_sensitive_argument_of_a_widget_rendered_by_name_is_not_stored_in_the_thread(
    folder: Path,
) -> None:
    (folder / "Greeting.widget.toml").write_text('sensitive = ["who"]')
    async with (
        endpoint(RENDER_BY_ALIAS, says("Done.")) as there,
        serving(folder, **chat_settings(there.url)) as url,
    ):
        talker = Talker(url)
        await talker.say("Greet her")
        [workflow] = [item for item in await talker.items() if item["type"] == "workflow"]

    assert "Render widget" in str(workflow)
    assert "Ada" not in str(workflow)


async def test_unreachable_endpoint_is_reported_in_one_sentence(folder: Path) -> None:
    async with serving(folder, **chat_settings("http://127.0.0.1:9/v1")) as url:
        events = await Talker(url).say("Greet Ada")

    assert problems(events) == [
        "W2502: the model m1 does not answer at http://127.0.0.1:9/v1/; try again"
    ]


def test_model_without_an_address_or_a_key_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError) as refused:
        require_key("m1", OPENAI_URL, has_key=False)

    assert refused.value.code == "W0012"
    assert str(refused.value) == (
        "the model m1 at https://api.openai.com/v1 needs a key; set WIDGETD_CHAT_KEY, or name "
        "another --chat-url (OPENAI_* variables are not read)"
    )


async def test_environment_variables_of_other_programs_redirect_neither_key_nor_conversation(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with endpoint(says("Hello.")) as there, endpoint(says("Stolen.")) as elsewhere:
        for name, value in {
            "BASE_URL": elsewhere.url,
            "API_KEY": "MARKER-key",
            "ADMIN_KEY": "MARKER-admin",
            "ORG_ID": "MARKER-org",
            "PROJECT_ID": "MARKER-project",
            "CUSTOM_HEADERS": "x-other: MARKER-header",
        }.items():
            monkeypatch.setenv(f"OPENAI_{name}", value)
        default = models.chat_model("m1", OPENAI_URL, Secret(KEY))
        assert main(["serve", "--settings"]) == 0
        async with serving(folder, **chat_settings(there.url)) as url:
            events = await Talker(url).say("Hello")

    assert default.url == f"{OPENAI_URL}/"
    assert f'"{OPENAI_URL}"  (default)' in capsys.readouterr().out
    assert agent_messages(events) == ["Hello."]
    assert elsewhere.asked == []
    assert "MARKER" not in str([one.headers for one in there.asked])


@given(st.text("abcdefghij0123456789-_", min_size=8, max_size=60), st.data())
def test_no_sentence_holds_a_piece_of_the_key(key: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(key) - 6))
    piece = key[start : start + data.draw(st.integers(6, len(key)))]
    around = st.text("*.,:;()' xyz", max_size=9)
    text = f"The key {data.draw(around)}{piece}{data.draw(around)} is not good"
    request = httpx2.Request("POST", "http://127.0.0.1:1/v1")
    response = httpx2.Response(401, request=request)
    error = openai.AuthenticationError("no", response=response, body={"message": text})
    model = models.ChatModel(model=ScriptedModel(), name="m1", url="http://h/v1", key=key)

    sentence = model.error_message(error)

    assert sentence is not None
    assert sentence.startswith("W0012: the model m1 cannot be used")
    assert [key[at : at + 6] for at in range(len(key) - 5) if key[at : at + 6] in sentence] == []
