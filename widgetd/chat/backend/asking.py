"""Ask a model one question with some tools, and run none of those that it calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agents import FunctionTool, ModelSettings, ModelTracing
from openai.types.responses import ResponseCompletedEvent, ResponseFunctionToolCall

from widgetd.chat.backend.model import ChatModel, NoAnswerError
from widgetd.chat.backend.tools import as_object, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """A model's answer.

    Attributes:
        text: Its text.
        calls: The name and arguments of each call.
        tokens: What it cost by the endpoint's count; 0 if that counts none.
    """

    text: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    tokens: int


async def ask_once(
    model: ChatModel, instructions: str, question: str, tools: Iterable[Mapping[str, Any]] = ()
) -> ModelAnswer:
    """Ask a model once.

    Args:
        model: The model.
        instructions: What it is for.
        question: The user's words.
        tools: Entries of a tool list.

    Raises:
        NoAnswerError: It answered without text and called no tool.
    """

    async def refuse(_context: Any, _arguments: str) -> str:
        raise NotImplementedError  # the SDK calls tools in runs alone, and this is none

    functions = [
        FunctionTool(
            name=tool["name"],
            description=tool["description"],
            params_json_schema=tool["inputSchema"],
            on_invoke_tool=refuse,
            strict_json_schema=False,
        )
        for tool in tools
    ]
    # Streamed as in the chat: some endpoints count and cut otherwise.
    events = model.model.stream_response(
        instructions,
        question,
        ModelSettings(temperature=0, include_usage=True),
        list(functions),
        None,
        [],
        ModelTracing.DISABLED,
        previous_response_id=None,
        conversation_id=None,
        prompt=None,
    )
    async for event in events:
        if isinstance(event, ResponseCompletedEvent):
            usage, output = event.response.usage, event.response.output
            calls = [one for one in output if isinstance(one, ResponseFunctionToolCall)]
            texts = [
                text_of(one.model_dump()["content"]) for one in output if one.type == "message"
            ]
            if not calls and not any(texts):
                break
            return ModelAnswer(
                text="\n".join(texts),
                calls=tuple((one.name, as_object(one.arguments or "{}")) for one in calls),
                tokens=usage.total_tokens if usage else 0,
            )
    raise NoAnswerError
