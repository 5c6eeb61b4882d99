"""An agent has the tools of the upstreams that its principal may call."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.chat.endpoint import calls_tool, endpoint, says
from tests.system.chat.talking import Talker, agent_messages, shown_widgets
from tests.system.upstreams.servers import Flights, serve_mcp


def chips(events: list[dict[str, Any]]) -> dict[str, str]:
    """States of the servers at the end of a turn."""
    lists = [one["data"]["servers"] for one in events if one.get("name") == "widgetd.servers"]
    return {one["name"]: one["problem"] for one in lists[-1]}


def chat_settings(folder: Path, flights: str) -> dict[str, Any]:
    (folder / "w").mkdir()
    (folder / "w" / "Greeting.widget").write_text(widget_file())
    (folder / "u.toml").write_text(f'[flights]\nurl = "{flights}"\n')
    return {"chat": True, "upstreams": folder / "u.toml"}


async def test_upstream_is_called_again_after_an_outage_of_one_turn(tmp_path: Path) -> None:
    flights, first = Flights(), AsyncExitStack()
    at = await first.enter_async_context(serve_mcp(flights.mcp))
    port = int(at.removesuffix("/mcp").rpartition(":")[2])
    asks = calls_tool("mcp_flights__get_flight", {"flight_no": "UA 123"})
    greets = calls_tool("mcp_widgetd__greeting", {"who": "Ada"})
    settings = chat_settings(tmp_path, at)
    async with (
        endpoint(asks, says("It flies.")) as there,
        serving(tmp_path / "w", chat_model="m", chat_url=there.url, **settings) as url,
    ):
        talker = Talker(url)
        with_it = await talker.say("Where is UA 123?")
        message = str(there.asked[1].body["messages"][-1])
        await first.aclose()
        there.script, there.asked = [asks, greets, says("Hello.")], []
        without = await talker.say("Where is it now? And greet Ada")
        refused = str(there.asked[1].body["messages"][-1])
        async with serve_mcp(flights.mcp, port=port):
            there.script, there.asked = [asks, says("It flies again.")], []
            back = await talker.say("And now?")

    assert flights.calls == ["UA 123", "UA 123"]
    assert "United" in message
    assert chips(with_it) == chips(back) == {"widgetd": "", "flights": ""}
    assert (agent_messages(with_it), agent_messages(back)) == (["It flies."], ["It flies again."])
    assert "the upstream 'flights' is not available (refused)" in refused
    assert chips(without)["flights"]
    assert len(shown_widgets(without)) == 1


async def test_upstreams_need_permission_to_call_them(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(
        "ada 0123456789abcdef chat operate\nbob fedcba9876543210 chat\n"
    )
    (tmp_path / "tokens").chmod(0o600)
    async with serve_mcp(Flights().mcp) as at:
        settings = chat_settings(tmp_path, at)
        async with serving(tmp_path / "w", token_file=tmp_path / "tokens", **settings) as url:
            named = []
            for token in ("0123456789abcdef", "fedcba9876543210"):
                talker = Talker(url, {"authorization": f"Bearer {token}"})
                state = (await talker.get("/chat/state")).json()
                named.append([one["name"] for one in state["servers"]])

    assert named == [["widgetd", "flights"], ["widgetd"]]
