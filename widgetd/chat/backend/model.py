"""The model that the agent asks: the scripted one, or whatever speaks OpenAI's chat completions.

OpenAI, Ollama, vLLM, LM Studio and Anthropic's compatible endpoint all do. What an endpoint
does wrong becomes one sentence for the thread, without the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from json import JSONDecodeError

import openai
from agents import (
    MaxTurnsExceeded,
    Model,
    ModelBehaviorError,
    OpenAIChatCompletionsModel,
    RunResultStreaming,
    set_tracing_disabled,
)
from httpx2 import Timeout, TransportError
from openai import AsyncOpenAI
from pydantic import SecretStr

from widgetd.chat.backend.script import ScriptedModel
from widgetd.chat.opening import SCRIPTED

SILENCE_S = 50.0
"""How long an endpoint may say nothing; it is asked twice."""

LONGEST_ANSWER = 300
"""Characters of what an endpoint says of itself that are passed on."""

PIECE = 6
"""Letters of a key that must not stand together."""

SILENT = "W2502"


class NoAnswerError(Exception):
    """A model neither said anything nor called a tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatModel:
    """A model, and how it is spoken of.

    Attributes:
        name: As the operator named it.
        url: Where it is; empty for the scripted one.
        key: What must stand nowhere.
    """

    model: Model
    name: str = SCRIPTED
    url: str = ""
    key: str = ""

    def sentence(self, error: Exception) -> str | None:
        """What went wrong with the model, for whoever chats; None where it was something else."""
        where = f"the model {self.name}"
        match error:
            case openai.APIStatusError(
                status_code=400 | 401 | 403 | 404 | 422 as status, body=body
            ):
                reason = body.get("message") if isinstance(body, dict) else body
                shown = " ".join(str(reason or "").split())[:LONGEST_ANSWER]
                said = f"W0012: {where} cannot be used; {self.url} answered {status}"
                said += f" ({shown})" if shown else ""
            case openai.APIStatusError(status_code=status):
                said = f"{SILENT}: {where} does not answer; {self.url} said {status}, so try again"
            case openai.APITimeoutError() | openai.APIConnectionError() | TransportError():
                said = f"{SILENT}: {where} does not answer at {self.url}; try again"
            case NoAnswerError() | JSONDecodeError():
                said = f"{SILENT}: {where} gave no answer; does {self.url} speak OpenAI's protocol?"
            case openai.OpenAIError():
                said = f"{SILENT}: {where} stopped in the middle of its answer; try again"
            case ModelBehaviorError():
                said = f"{where} asked for what there is not ({error}); try again"
            case MaxTurnsExceeded():
                said = f"{where} called tools again and again, and said nothing; ask otherwise"
            case _:
                return None
        said = said if said[0] == "W" else said[0].upper() + said[1:]
        return _without(self.key, said)


def demand_answer(run: RunResultStreaming) -> None:
    """Raise `NoAnswerError` if nothing came of asking, as where a page on the web is asked."""
    if not run.final_output and len(run.raw_responses) == 1:
        raise NoAnswerError


def chat_model(name: str, url: str, key: SecretStr | None) -> ChatModel:
    """Build the model that the settings name.

    The settings alone decide where conversation and key go: of the `OPENAI_*` variables, which
    are often set for other programs, none is applied.
    """
    # Conversations are nobody's but whoever has them.
    set_tracing_disabled(True)
    if name == SCRIPTED:
        return ChatModel(model=ScriptedModel())
    secret = "" if key is None else key.get_secret_value()
    client = AsyncOpenAI(
        base_url=url,
        # Ollama and vLLM want none, but the client wants to send one.
        api_key=secret or "none",
        timeout=Timeout(SILENCE_S, connect=5.0),
        max_retries=1,
    )
    # An address and a key that are given win over the variables; these have no such argument.
    client.organization = client.project = client.admin_api_key = None
    client._custom_headers = {}  # noqa: SLF001 - OPENAI_CUSTOM_HEADERS
    return ChatModel(
        model=OpenAIChatCompletionsModel(name, client, buffer_streamed_tool_calls=True),
        name=name,
        url=str(client.base_url),
        key=secret,
    )


def _without(key: str, said: str) -> str:
    """`said` without words that hold a piece of the key, which some endpoints repeat in part."""
    pieces = {key[at : at + PIECE] for at in range(max(len(key) - PIECE, 0) + 1)} - {""}
    words = said.split(" ")
    return " ".join("…" if any(one in word for one in pieces) else word for word in words)
