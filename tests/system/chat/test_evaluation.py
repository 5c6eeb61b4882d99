"""Evaluation of a model: its endpoint is asked each wish once, and decides every call."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.support.widgets import build_widget, snapshot_of
from tests.system.chat.endpoint import calls, endpoint, refuses, says
from widgetd.author.testing.eval_file import Cases, read_cases
from widgetd.author.testing.evaluation import Evaluator
from widgetd.author.testing.model_evaluation import ask_model, configured_model
from widgetd.base.errors import CallError, ConfigError
from widgetd.base.redaction import SecretUrl
from widgetd.settings import Settings

GREETING = build_widget("Greeting", sidecar='summary_fields = ["who"]')
SERVED = snapshot_of(GREETING)
TEXT = """
cases:
  - wish: Say hello to Ada
    arguments: [Ada]
  - wish: Say hello to Bo
    arguments: [Bo]
  - facts:
      Who is greeted?: Ada
    given: {who: Ada}
"""


@pytest.fixture
def cases(tmp_path: Path) -> Cases:
    (tmp_path / "Greeting.eval.yaml").write_text(TEXT)
    return read_cases(tmp_path, SERVED)


async def test_model_is_asked_each_wish_once_at_the_configured_endpoint(
    cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with anyio.fail_after(30):
        async with endpoint(calls("greeting", {"who": "Ada"}), says("Hello Bo!")) as at:
            settings = Settings(chat_model="m", chat_url=SecretUrl(at.url))
            model = configured_model(settings)
            filled, missed = await ask_model(model, Evaluator(SERVED), cases, SERVED, facts=False)

    assert (filled.is_found, filled.is_filled, filled.problem) == (True, True, "")
    assert (missed.is_found, missed.problem) == (False, "nothing is found")
    questions = [one.body["messages"][-1]["content"] for one in at.asked]
    assert questions == ["Say hello to Ada", "Say hello to Bo"]
    assert [tool["function"]["name"] for tool in at.asked[0].body["tools"]] == ["greeting"]


async def test_model_answers_questions_from_the_facts_alone(cases: Cases) -> None:
    with anyio.fail_after(30):
        async with endpoint(says("It is Ada.")) as at:
            model = configured_model(Settings(chat_model="m", chat_url=SecretUrl(at.url)))
            [outcome] = await ask_model(model, Evaluator(SERVED), cases, SERVED, facts=True)

    assert outcome.problem == ""
    [request] = at.asked
    assert '"who":"Ada"' in request.body["messages"][-1]["content"]
    assert "tools" not in request.body


async def test_refusal_by_an_endpoint_is_reported_in_one_sentence(cases: Cases) -> None:
    with anyio.fail_after(30):
        async with endpoint(refuses(404, "no such model")) as at:
            model = configured_model(Settings(chat_model="m", chat_url=SecretUrl(at.url)))
            with pytest.raises(CallError, match="the model m cannot be used") as caught:
                await ask_model(model, Evaluator(SERVED), cases, SERVED, facts=False)

    assert caught.value.code == "W2514"


def test_scripted_model_cannot_be_evaluated() -> None:
    with pytest.raises(ConfigError, match="the scripted model calls what a search finds"):
        configured_model(Settings(chat_model="scripted"))
