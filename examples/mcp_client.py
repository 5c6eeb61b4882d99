"""Find a widget, learn its arguments and call it, with the plain `mcp` client.

    python -m examples.mcp_client

The same URL serves both eras of the protocol: sessions that begin with
`initialize` ("legacy"), and single requests that need none ("auto" finds out).
"""

from __future__ import annotations

from typing import Any

import anyio
from mcp import Client

from examples.served import serve_widgets


async def main() -> None:
    """Do the same in both eras."""
    async with serve_widgets() as url:
        for mode in ("legacy", "auto"):
            async with Client(url, mode=mode) as client:
                print(f"MCP {client.protocol_version}:")
                await show_a_flight(client)


async def show_a_flight(client: Client) -> None:
    """List the tools, search among them, and call the one found with its own example."""
    tools = (await client.list_tools()).tools
    print(f"  listed    {len(tools)} tools, among them {', '.join(t.name for t in tools[:3])}")

    found = await call_tool(client, "search_widgets", query="where is my flight", limit=1)
    name = found["items"][0]["name"]
    print(f"  found     {name}: {found['items'][0]['title']}")

    details = await call_tool(client, "get_widget_details", names=[name])
    example = details["items"][0]["example"]
    print(f"  example   {', '.join(example)}")

    result = await client.call_tool(name, example)
    for block in result.content:
        if block.type == "text":
            facts, *_, address = block.text.splitlines()
            print(f"  content   {facts}")
            print(f"  address   {address}")
    tree = result.structured_content or {}
    print(f"  widget    {tree['type']} of {', '.join(c['type'] for c in tree['children'])}")

    refused = await client.call_tool(name, {**example, "progress": "half way"})
    for block in refused.content:
        if block.type == "text":
            print(f"  refused   {block.text.partition('. ')[0]}")


async def call_tool(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call `tool` and return its structured content."""
    result = await client.call_tool(tool, arguments)
    return result.structured_content or {}


if __name__ == "__main__":
    anyio.run(main)
