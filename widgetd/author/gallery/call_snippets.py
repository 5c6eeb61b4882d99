"""Code of a call of a widget, ready to run, in a few languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from widgetd.base.text_search import compile_pattern

_WORD = compile_pattern(r"\b(?:URL(?!\()|TOOL|JSON|REQUEST|PROTOCOL)\b")

_CURL = """\
curl URL \\
  -H 'content-type: application/json' \\
  -H 'accept: application/json, text/event-stream' \\
  -H 'mcp-protocol-version: PROTOCOL' \\
  -H 'mcp-method: tools/call' \\
  -H 'mcp-name: TOOL' \\
  -d @- <<'END'
REQUEST
END"""

_PYTHON = """\
import asyncio
import json

from mcp import Client

ARGUMENTS = json.loads(r'''
JSON
''')


async def main():
    async with Client("URL") as client:
        result = await client.call_tool("TOOL", ARGUMENTS)
        print(json.dumps(result.structured_content, indent=2))


asyncio.run(main())"""

_TYPESCRIPT = """\
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL("URL")));
const result = await client.callTool({
  name: "TOOL",
  arguments: JSON,
});
console.log(result.structuredContent);"""

_LANGGRAPH = """\
import asyncio
import json

from langchain.mcp import MCPAdapter  # of langchain[mcp]

ARGUMENTS = json.loads(r'''
JSON
''')


async def main():
    async with MCPAdapter("URL") as widgets:
        [tool] = [one for one in await widgets.list_tools() if one.name == "TOOL"]
        call = {"type": "tool_call", "id": "1", "name": "TOOL", "args": ARGUMENTS}
        message = await tool.ainvoke(call)
    print(message.artifact)


asyncio.run(main())"""

_CHATKIT = """\
import json

from chatkit.server import stream_widget
from chatkit.widgets import DynamicWidgetRoot
from mcp import Client

ARGUMENTS = json.loads(r'''
JSON
''')


async def show(thread, store, context):
    \"\"\"Send the widget into a thread, from `ChatKitServer.respond`.\"\"\"
    async with Client("URL") as client:
        result = await client.call_tool("TOOL", ARGUMENTS)
    tree = result.meta.get("widgetd/widget") or result.structured_content
    widget = DynamicWidgetRoot.model_validate(tree)
    async for event in stream_widget(
        thread, widget, generate_id=lambda kind: store.generate_item_id(kind, thread, context)
    ):
        yield event"""

SNIPPETS: Mapping[str, str] = {
    "curl": _CURL,
    "Python": _PYTHON,
    "TypeScript": _TYPESCRIPT,
    "LangGraph": _LANGGRAPH,
    "ChatKit server": _CHATKIT,
}
"""Snippets by title; the words in capitals are replaced in each call."""

PROTOCOL = "2026-07-28"


def calls(url: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    pretty = orjson.dumps(arguments, default=dict, option=orjson.OPT_INDENT_2).decode()
    # As an escape it ends no string of a shell or of Python.
    safe = pretty.replace("'", "\\u0027")
    meta = {
        "io.modelcontextprotocol/protocolVersion": PROTOCOL,
        "io.modelcontextprotocol/clientInfo": {"name": "curl", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    request = orjson.dumps(message, default=dict).decode()
    words = {"URL": url, "TOOL": tool, "JSON": safe, "REQUEST": request, "PROTOCOL": PROTOCOL}
    return {
        title: _WORD.sub(lambda match: words[match[0]], snippet)
        for title, snippet in SNIPPETS.items()
    }
