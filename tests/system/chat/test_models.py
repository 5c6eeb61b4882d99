"""The conversation over a real endpoint's protocol, and with all that an endpoint does wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tests.serving import serving, widget_file
from tests.system.chat.endpoint import Answer, calls, cuts, endpoint, refuses, says, stays_silent
from tests.system.chat.talking import Talker, problems, said, widgets
from widgetd.chat.backend import model as models
from widgetd.chat.opening import demand_address
from widgetd.errors import ConfigError

KEY = "sk-not-to-be-seen-0123456789"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    return tmp_path


def named(url: str) -> dict[str, Any]:
    return {"chat": True, "chat_model": "m1", "chat_url": url, "chat_key": SecretStr(KEY)}


async def test_an_agent_of_an_endpoint_shows_a_widget_and_speaks(folder: Path) -> None:
    script = (calls("greeting", {"who": "Ada"}), says("Ada is greeted."), says("Twice."))
    async with endpoint(*script) as there, serving(folder, **named(there.url)) as url:
        talker = Talker(url)
        events = await talker.say("Greet Ada")
        again = await talker.say("And again")
        kept = [item for item in await talker.items() if item["type"] == "assistant_message"]
        first, second = there.asked[:2]

    [shown] = widgets(events)
    assert shown["widget"]["children"] == [{"type": "Text", "value": "Hello, Ada"}]
    assert (said(events), said(again)) == (["Ada is greeted."], ["Twice."])
    assert len(kept) == 2
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert "greeting" in {tool["function"]["name"] for tool in first.body["tools"]}
    assert '"Card"' not in str(second.body["messages"])


FAULTS: dict[str, tuple[Answer, str]] = {
    "key": (
        refuses(401, f"Incorrect API key provided: {KEY}"),
        "W0012: the model m1 cannot be used; URL/ answered 401 (Incorrect API key provided: …)",
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
    "invents": (
        calls("no_such_tool", {}),
        (
            "The model m1 asked for what there is not"
            " (Tool no_such_tool not found in agent widgetd); try again"
        ),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_an_endpoint_does_wrong_is_one_sentence_and_the_thread_goes_on(
    fault: str,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setattr(models, "SILENCE_S", 0.3)
    answer, sentence = FAULTS[fault]
    async with endpoint(answer) as there, serving(folder, **named(there.url)) as url:
        talker = Talker(url)
        events = await talker.say("Greet Ada")
        there.script[:] = [says("I am back.")]
        again = await talker.say("And now?")
        items = str(await talker.items())
        state = (await talker.get("/chat/state")).text

    assert problems(events) == [sentence.replace("URL", there.url)]
    assert said(events) == []
    assert said(again) == ["I am back."]
    seen = "".join([str(events), items, state, caplog.text, *capfd.readouterr()])
    assert KEY not in seen


async def test_a_call_that_does_not_fit_is_told_to_the_model_which_mends_it(folder: Path) -> None:
    script = (calls("greeting", {}), calls("greeting", {"who": "Ada"}), says("Done."))
    async with endpoint(*script) as there, serving(folder, **named(there.url)) as url:
        events = await Talker(url).say("Greet Ada")
        told = there.asked[1].body["messages"][-1]["content"]

    assert "missing required parameters: who" in str(told)
    assert len(widgets(events)) == 1
    assert said(events) == ["Done."]


async def test_an_endpoint_that_is_down_is_one_sentence(folder: Path) -> None:
    async with serving(folder, **named("http://127.0.0.1:9/v1")) as url:
        events = await Talker(url).say("Greet Ada")

    assert problems(events) == [
        "W2502: the model m1 does not answer at http://127.0.0.1:9/v1/; try again"
    ]


def test_a_model_without_an_address_or_a_key_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError) as refused:
        demand_address("m1", None, has_key=False)

    assert (refused.value.code, str(refused.value)) == (
        "W0012",
        "nobody knows where the model m1 is; name its --chat-url, or set WIDGETD_CHAT_KEY",
    )
