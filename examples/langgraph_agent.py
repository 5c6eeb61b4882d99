"""A LangGraph agent that calls a widget, and where its program finds the tree.

    python -m examples.langgraph_agent

The model reads the short text of the tool message; the message's `artifact`,
which no model sees, holds the widget. The chat model is scripted, so nothing
here needs a network.
"""

from __future__ import annotations

from typing import Any

import anyio
from langchain.agents import create_agent
from langchain.mcp import MCPAdapter
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from typing_extensions import override

import widgetd
from examples.served import BUNDLED, served


class ScriptedChatModel(FakeMessagesListChatModel):
    """Says one message of the script each time it is asked, whatever tools it is given."""

    @override
    def bind_tools(self, *_tools: Any, **_more: Any) -> ScriptedChatModel:
        return self


def script() -> list[BaseMessage]:
    """A call of the flight tracker, then an answer."""
    flight = widgetd.load_widget(BUNDLED / "Flight Tracker.widget")
    call = {"name": "flight_tracker", "args": flight.example or {}, "id": "call_1"}
    return [
        AIMessage(content="", tool_calls=[call]),
        AIMessage(content="NF 221 is boarding at gate 22."),
    ]


async def main() -> None:
    """Ask the agent one question, and print each message and the widget."""
    async with served() as url, MCPAdapter(url) as widgets:
        agent = create_agent(ScriptedChatModel(responses=script()), await widgets.list_tools())
        answer = await agent.ainvoke({"messages": [HumanMessage("Where is NF 221?")]})
    for message in answer["messages"]:
        said = message.text.partition("\n")[0]
        print(f"{message.type:10}{said or 'calls ' + message.tool_calls[0]['name']}")
        if isinstance(message, ToolMessage):
            tree = message.artifact["structured_content"]
            print(f"artifact  {tree['type']} of {', '.join(c['type'] for c in tree['children'])}")


if __name__ == "__main__":
    anyio.run(main)
