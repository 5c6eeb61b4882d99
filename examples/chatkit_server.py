"""A ChatKit server whose agent shows widgets in the thread.

    python -m examples.chatkit_server

The agent calls a widget over MCP like any other tool. The model reads the short
text; the tree goes into the thread through ChatKit's own `stream_widget`. The
model is scripted, so nothing here needs a network.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
from agents import Agent, RunConfig, Runner
from agents.mcp import MCPServer, MCPServerStreamableHttp, MCPToolCustomDataContext
from chatkit.agents import AgentContext, simple_to_agent_input, stream_agent_response
from chatkit.server import ChatKitServer, StreamingResult
from chatkit.types import ThreadMetadata, ThreadStreamEvent, UserMessageItem
from typing_extensions import override

import widgetd
from examples.memory import MemoryStore
from examples.scripted import ScriptedModel, calls, says
from examples.served import BUNDLED, serve_widgets

ROOTS = {"Card", "ListView", "Basic"}

MESSAGE = {
    "type": "threads.create",
    "params": {
        "input": {
            "content": [{"type": "input_text", "text": "Where is NF 221?"}],
            "attachments": [],
            "inference_options": {},
        }
    },
}


async def show(call: MCPToolCustomDataContext) -> None:
    """Stream the widget that a call answered with into the caller's thread."""
    tree = call.structured_content
    if tree and tree.get("type") in ROOTS and not call.is_error:
        context: AgentContext[None] = call.run_context.context
        await context.stream_widget(widgetd.to_chatkit(dict(tree)))


class Desk(ChatKitServer[None]):
    """Answers each message with an agent that knows the widgets of one MCP server."""

    def __init__(self, widgets: MCPServer) -> None:
        super().__init__(MemoryStore())
        flight = widgetd.load_widget(BUNDLED / "Flight Tracker.widget")
        self._agent = Agent[AgentContext[None]](
            name="desk",
            mcp_servers=[widgets],
            model=ScriptedModel(
                calls("flight_tracker", flight.example),
                says("NF 221 is boarding at gate 22."),
            ),
        )

    @override
    async def respond(
        self, thread: ThreadMetadata, input_user_message: UserMessageItem | None, context: None
    ) -> AsyncIterator[ThreadStreamEvent]:
        """Run the agent on the whole thread."""
        items = await self.store.load_thread_items(thread.id, None, 100, "asc", context)
        agent_context = AgentContext(thread=thread, store=self.store, request_context=context)
        run = Runner.run_streamed(
            self._agent,
            await simple_to_agent_input(items.data),
            context=agent_context,
            run_config=RunConfig(tracing_disabled=True),
        )
        async for event in stream_agent_response(agent_context, run):
            yield event


async def main() -> None:
    """Post one message, and print what a browser would be sent."""
    async with (
        serve_widgets() as url,
        MCPServerStreamableHttp({"url": url}, custom_data_extractor=show) as widgets,
    ):
        answer = await Desk(widgets).process(json.dumps(MESSAGE), None)
        assert isinstance(answer, StreamingResult)  # noqa: S101 - for the types
        async for line in answer:
            event = json.loads(line.removeprefix(b"data: "))
            print(event["type"], describe_item(event.get("item", {})))


def describe_item(item: dict[str, Any]) -> str:
    """Describe an item of a thread in one line."""
    if item.get("type") == "widget":
        tree = item["widget"]
        return f"widget: {tree['type']} of {', '.join(c['type'] for c in tree['children'])}"
    texts = [part["text"] for part in item.get("content", []) if "text" in part]
    return f"{item['type']}: {' '.join(texts)}" if item else ""


if __name__ == "__main__":
    anyio.run(main)
