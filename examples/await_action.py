"""An agent that waits for what the user does in a form.

    python -m examples.await_action

The text of the widget ends with an address, which the user opens in a browser.
An action stays until a later `after` says that it was dealt with, so an
agent that lost its connection asks again and loses nothing.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import anyio
from httpx2 import AsyncClient
from mcp import Client

from examples.served import serve_widgets

FORM = "payment_form"


async def main() -> None:
    """Show a form, wait for an action, and let go of it."""
    async with serve_widgets() as url, Client(url) as agent:
        details = await answer(agent, "get_widget_details", names=[FORM])
        shown = await agent.call_tool(FORM, details["items"][0]["example"])
        render_id = (shown.meta or {})["widgetd/render"]["id"]
        confirm = (shown.structured_content or {})["confirm"]
        address = next(block.text.split()[-1] for block in shown.content if block.type == "text")
        print(f"shown     {FORM}, with the button {confirm['label']}, at {address}")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, agent, render_id)
            tasks.start_soon(press, address, confirm["action"])


async def wait(agent: Client, render_id: str) -> None:
    """Wait for the user's actions between two turns of the model."""
    heard = await answer(agent, "await_widget_action", render_id=render_id, timeout_s=20)
    for one in heard["actions"]:
        print(f"heard     {one['action']} {json.dumps(one['payload'])}")
    again = await answer(
        agent, "await_widget_action", render_id=render_id, after=heard["next"], timeout_s=0
    )
    print(f"let go    {len(again['actions'])} left, {again['status']}")


async def press(address: str, action: dict[str, Any]) -> None:
    """Submit the form as the page at the address does when the user presses the button."""
    payload = {**action["payload"], "payment": {"method": "card"}}
    press = {"action": action["type"], "payload": payload, "idempotency_key": str(uuid4())}
    async with AsyncClient() as browser:
        result = await browser.post(f"{address.partition('#')[0]}/widget_action", json=press)
    print(f"pressed   {action['type']}: {result.json()['structuredContent']['status']}")


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call `tool` and return its structured content."""
    result = await client.call_tool(tool, arguments)
    return result.structured_content or {}


if __name__ == "__main__":
    anyio.run(main)
