"""The agent's model: the scripted model, or an endpoint for OpenAI's chat completions.

OpenAI, Ollama, vLLM, LM Studio and Anthropic's compatible endpoint have such an endpoint. Its
failures become a sentence for the thread, without the key.
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

from widgetd.base.redaction import Secret, redact
from widgetd.chat.backend.script import Samples, ScriptedModel
from widgetd.chat.limits import LIMITS, ChatLimits
from widgetd.chat.preflight import SCRIPTED

PIECE = 6
"""The shortest piece of a key, in characters, that is never shown."""

SILENT = "W2502"
ANSWER_TOO_LONG = "W2504"


class NoAnswerError(Exception):
    """A model neither said anything nor called a tool."""


class AnswerTooLongError(Exception):
    """A model said more in a turn than this many bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatModel:
    """A model, and its description in error messages.

    Attributes:
        name: The operator's name for it.
        url: Its endpoint, empty for the scripted model.
        key: The secret, kept out of every message.
    """

    model: Model
    name: str = SCRIPTED
    url: str = ""
    key: str = ""

    def error_message(self, error: Exception) -> str | None:
        """Return the user's text about a failure of the model, None for any other error."""
        where = f"the model {self.name}"
        match error:
            case openai.APIStatusError(
                status_code=400 | 401 | 403 | 404 | 422 as status, body=body
            ):
                reason = body.get("message") if isinstance(body, dict) else body
                detail = " ".join(str(reason or "").split())[: LIMITS.endpoint_error_chars]
                sentence = f"W0012: {where} cannot be used; {self.url} answered {status}"
                sentence += f" ({detail})" if detail else ""
            case openai.APIStatusError(status_code=status):
                sentence = (
                    f"{SILENT}: {where} does not answer; {self.url} said {status}, so try again"
                )
            case openai.APITimeoutError() | openai.APIConnectionError() | TransportError():
                sentence = f"{SILENT}: {where} does not answer at {self.url}; try again"
            case NoAnswerError() | JSONDecodeError():
                sentence = (
                    f"{SILENT}: {where} gave no answer; does {self.url} speak OpenAI's protocol?"
                )
            case openai.OpenAIError():
                sentence = f"{SILENT}: {where} stopped in the middle of its answer; try again"
            case AnswerTooLongError(args=(most,)):
                sentence = f"{ANSWER_TOO_LONG}: {where} said more than {most} bytes; ask for less"
            case ModelBehaviorError():
                sentence = f"{where} asked for what there is not ({error}); try again"
            case MaxTurnsExceeded():
                sentence = f"{where} called tools again and again, and said nothing; ask otherwise"
            case _:
                return None
        sentence = sentence if sentence[0] == "W" else sentence[0].upper() + sentence[1:]
        return _remove_key(self.key, sentence)


def require_answer(run: RunResultStreaming) -> None:
    """Raise `NoAnswerError` if the endpoint sent nothing, as an ordinary web page does."""
    if not run.final_output and len(run.raw_responses) == 1:
        raise NoAnswerError


def chat_model(
    name: str,
    url: str,
    key: Secret | None,
    limits: ChatLimits = LIMITS,
    samples: Samples = lambda _tool: None,
) -> ChatModel:
    """Build the model of the settings.

    The settings alone decide where conversation and key go: of the `OPENAI_*` variables, often
    set for other programs, none is applied. `samples` are for the scripted model.
    """
    # The SDK would send each conversation to OpenAI's dashboard.
    set_tracing_disabled(True)
    if name == SCRIPTED:
        return ChatModel(model=ScriptedModel(samples))
    secret = "" if key is None else key.get_secret_value()
    client = AsyncOpenAI(
        base_url=url,
        # Ollama and vLLM need no key, but the client insists on one.
        api_key=secret or "none",
        timeout=Timeout(limits.silence_s, connect=5.0),
        max_retries=1,
    )
    # The arguments above win over their variables. These have no argument.
    client.organization = client.project = client.admin_api_key = None
    client._custom_headers = {}  # noqa: SLF001 - OPENAI_CUSTOM_HEADERS
    return ChatModel(
        model=OpenAIChatCompletionsModel(name, client, buffer_streamed_tool_calls=True),
        name=name,
        url=redact(str(client.base_url)),
        key=secret,
    )


def _remove_key(key: str, sentence: str) -> str:
    pieces = {key[at : at + PIECE] for at in range(max(len(key) - PIECE, 0) + 1)} - {""}
    words = sentence.split(" ")
    return " ".join("…" if any(piece in word for piece in pieces) else word for word in words)
