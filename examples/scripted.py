"""A scripted model for the OpenAI Agents SDK: no network, no key."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from agents import Model, ModelResponse
from agents.items import TResponseStreamEvent
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
)
from typing_extensions import override


class ScriptedModel(Model):
    """Says one line of the script each time it is asked."""

    def __init__(self, *script: ResponseOutputItem) -> None:
        self._script: Iterator[ResponseOutputItem] = iter(script)

    @override
    async def get_response(self, *_asked: Any, **_more: Any) -> ModelResponse:
        raise NotImplementedError("the example streams")

    @override
    async def stream_response(
        self, *_asked: Any, **_more: Any
    ) -> AsyncIterator[TResponseStreamEvent]:
        line = next(self._script)
        yield ResponseOutputItemDoneEvent(
            type="response.output_item.done", item=line, output_index=0, sequence_number=0
        )
        yield ResponseCompletedEvent(
            type="response.completed", response=_response(line), sequence_number=1
        )


def calls(tool: str, arguments: Mapping[str, Any]) -> ResponseFunctionToolCall:
    """Build a line of the script in which the model calls `tool`."""
    return ResponseFunctionToolCall(
        type="function_call",
        id="call_item_1",
        call_id="call_1",
        name=tool,
        arguments=json.dumps(arguments),
    )


def says(text: str) -> ResponseOutputMessage:
    """Build a line of the script in which the model answers."""
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        type="message", id="answer_1", role="assistant", status="completed", content=[part]
    )


def _response(line: ResponseOutputItem) -> Response:
    return Response(
        id="response_1",
        object="response",
        created_at=0,
        model="scripted",
        output=[line],
        parallel_tool_calls=False,
        tool_choice="auto",
        tools=[],
    )
