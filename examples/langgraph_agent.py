"""A LangGraph agent that calls a widget, and where its program finds the tree.

    python -m examples.langgraph_agent

The model reads the short text of the tool message; the message's `artifact`,
which no model sees, holds the widget. The chat model is scripted, so nothing
here needs a network.
"""

from __future__ import annotations

import anyio
from langchain.agents import create_agent
from langchain.mcp import MCPAdapter
from langchain_core.messages import HumanMessage

import widgetd
from examples.conversation import QUESTION, build_model, tell
from examples.served import BUNDLED, serve_widgets


async def main() -> None:
    """Ask the agent one question, and print each message and the widget."""
    flight = widgetd.load_widget(BUNDLED / "Flight Tracker.widget")
    async with serve_widgets() as url, MCPAdapter(url) as widgets:
        model = build_model("flight_tracker", dict(flight.example))
        agent = create_agent(model, await widgets.list_tools())
        answer = await agent.ainvoke({"messages": [HumanMessage(QUESTION)]})
    tell(answer["messages"])


if __name__ == "__main__":
    anyio.run(main)
