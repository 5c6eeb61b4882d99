"""A scripted chat model for LangChain, and the printing of its conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from typing_extensions import override

QUESTION = "Where is NF 221?"


class ScriptedChatModel(FakeMessagesListChatModel):
    """Says one message of the script each time it is asked, whatever tools it is given."""

    @override
    def bind_tools(self, *_tools: Any, **_more: Any) -> ScriptedChatModel:
        return self


def build_model(tool: str, arguments: dict[str, Any]) -> ScriptedChatModel:
    """Build a model that calls `tool` and then answers the question."""
    call = {"name": tool, "args": arguments, "id": "call_1"}
    script: list[BaseMessage] = [
        AIMessage("", tool_calls=[call]),
        AIMessage("NF 221 is boarding at gate 22."),
    ]
    return ScriptedChatModel(responses=script)


def tell(messages: Iterable[BaseMessage]) -> None:
    """Print each message, and the widget that is the artifact of a tool's."""
    for message in messages:
        said = message.text.partition("\n")[0]
        if isinstance(message, AIMessage) and message.tool_calls:
            said = f"calls {message.tool_calls[0]['name']}"
        print(f"{message.type:10}{said}")
        if isinstance(message, ToolMessage):
            tree = message.artifact["structured_content"]
            print(f"artifact  {tree['type']} of {', '.join(c['type'] for c in tree['children'])}")
