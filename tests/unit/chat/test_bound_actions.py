from __future__ import annotations

from tests.support.booking import Airline, airport, host, shown
from widgetd.chat.pages import act
from widgetd.server.access.principal import LOCAL


async def test_user_of_the_chat_presses_and_the_agent_cannot() -> None:
    airline = Airline(confirms=True)
    server = airport(airline)
    async with host(server, draws=False) as agent:
        render = await shown(agent)
    press = {"render_id": render["id"], "action": "seat.book", "payload": {"seat": "12A"}}

    events, _, _ = await act(server, press, LOCAL)
    token = events["structuredContent"]["token"]
    done, _, _ = await act(server, {**press, "token": token}, LOCAL)

    assert "press" not in render
    assert events["structuredContent"]["text"].startswith("Book 12A?\n")
    assert done["structuredContent"]["status"] == "done"
    assert done["_meta"]["widgetd/render"]["version"] == 2
    assert airline.calls.total() == 1
