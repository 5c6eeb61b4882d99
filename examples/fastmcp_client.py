"""Receive a notification when a widget is added, with the `fastmcp` client.

python -m examples.fastmcp_client
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from fastmcp import Client
from mcp.client.subscriptions import listen

from examples.served import BUNDLED, serve_widgets

DROPPED = "Weather Current.widget"


async def main() -> None:
    """Serve a folder with one widget, drop another into it, and call the new one."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        shutil.copy(BUNDLED / "Flight Tracker.widget", folder)
        async with serve_widgets(folder) as url, Client(url) as client:
            await drop_and_call(client, folder)


async def drop_and_call(client: Client[Any], folder: Path) -> None:
    """Listen first: then no change can come between the list and the listening."""
    async with listen(client.session, tools_list_changed=True) as changes:
        before = {tool.name for tool in await client.list_tools()}
        print(f"served    {', '.join(sorted(before))}")

        shutil.copy(BUNDLED / DROPPED, folder)
        print(f"dropped   {DROPPED}")
        with anyio.fail_after(10):
            change = await anext(aiter(changes))
        print(f"told      {type(change).__name__}")

    added = {tool.name for tool in await client.list_tools()} - before
    print(f"added     {', '.join(added)}")
    for name in added:
        details = await call_tool(client, "get_widget_details", names=name)
        tree = await call_tool(client, name, **details["items"][0]["example"])
        print(f"widget    {tree['type']} of {', '.join(c['type'] for c in tree['children'])}")


async def call_tool(client: Client[Any], tool: str, **arguments: Any) -> dict[str, Any]:
    """Call `tool` and return its structured content; raise if the call fails."""
    result = await client.call_tool(tool, arguments)
    return result.structured_content or {}


if __name__ == "__main__":
    anyio.run(main)
