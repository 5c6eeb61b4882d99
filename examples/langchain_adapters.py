"""A LangGraph agent that calls a widget through `langchain-mcp-adapters`.

    make example NAME=langchain_adapters

The adapters need an older `mcp` than widgetd does, so this program runs in an
environment of its own and knows of widgetd nothing but a URL. The chat model is
scripted, so nothing here needs a network.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import anyio
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient

from examples.conversation import QUESTION, build_model, tell


async def example_of(tools: Sequence[BaseTool], name: str) -> dict[str, Any]:
    """Arguments that the widget called `name` gives as its example."""
    details = next(tool for tool in tools if tool.name == "get_widget_details")
    call = {"type": "tool_call", "id": "call_0", "name": details.name, "args": {"names": [name]}}
    message: ToolMessage = await details.ainvoke(call)
    example: dict[str, Any] = message.artifact["structured_content"]["items"][0]["example"]
    return example


async def main(url: str) -> None:
    """Ask the agent one question, and print each message and the widget."""
    client = MultiServerMCPClient({"widgetd": {"transport": "http", "url": url}})
    tools = await client.get_tools()
    flight = await example_of(tools, "flight_tracker")
    agent = create_agent(build_model("flight_tracker", flight), tools)
    answer = await agent.ainvoke({"messages": [HumanMessage(QUESTION)]})
    tell(answer["messages"])


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
