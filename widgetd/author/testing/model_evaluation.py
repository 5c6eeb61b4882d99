"""Evaluate widgets by what a model calls and answers."""

from __future__ import annotations

import orjson

from widgetd.author.testing.eval_file import Cases, ModelCall
from widgetd.author.testing.evaluation import Evaluator, Verdict, judge_answer
from widgetd.base.errors import CallError, ConfigError
from widgetd.chat.backend.asking import ask_once
from widgetd.chat.backend.model import ChatModel, chat_model
from widgetd.chat.backend.server import INSTRUCTIONS
from widgetd.chat.preflight import SCRIPTED, require_key
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.render.entry import tool_entry
from widgetd.settings import Settings

UNANSWERED = "W2514"

FROM_FACTS = "Answer in a few words, from these facts alone. If they do not say it, say so."


def configured_model(settings: Settings) -> ChatModel:
    """Return the model of the settings, which no variable of another program changes.

    Raises:
        ConfigError: It has no key (W0012), or is the script, which calls what a search finds.
    """
    if settings.chat_model == SCRIPTED:
        problem = "the scripted model calls what a search finds"
        raise ConfigError("W0012", problem, "leave out --model, and the index is evaluated")
    url = settings.chat_url.get_secret_value()
    require_key(settings.chat_model, url, has_key=settings.chat_key is not None)
    return chat_model(settings.chat_model, url, settings.chat_key)


async def ask_model(
    model: ChatModel, evaluator: Evaluator, cases: Cases, snapshot: Snapshot, *, facts: bool
) -> list[Verdict]:
    """Ask a model each wish with all widgets as its tools, or with `facts` each question.

    Raises:
        CallError: The model does not answer (W2514).
    """
    verdicts: list[Verdict] = []
    try:
        for question in cases.questions if facts else ():
            result_facts = evaluator.facts(question)
            text = f"{orjson.dumps(result_facts).decode()}\n\n{question.text}"
            answer = await ask_once(model, FROM_FACTS, text)
            verdicts.append(judge_answer(question, result_facts, answer.text))
        entries = [orjson.loads(one.entry or tool_entry(one)) for one in snapshot.widgets.values()]
        for wish in () if facts else cases.wishes:
            answer = await ask_once(model, INSTRUCTIONS, wish.text, entries)
            calls = [ModelCall(tool=tool, arguments=given) for tool, given in answer.calls]
            verdicts.append(evaluator.judge(wish, calls, tokens=answer.tokens))
    except Exception as error:
        # One sentence, without the model's key.
        message = model.error_message(error)
        if message is None:
            raise
        raise CallError(UNANSWERED, message) from None
    return verdicts
