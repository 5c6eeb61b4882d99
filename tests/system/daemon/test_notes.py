"""What operators read of files that nothing uses, and of lists that do not change."""

from __future__ import annotations

from pathlib import Path

import anyio
from mcp.client.subscriptions import ResourceUpdated

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask

JSX = "<Card><Text value={number} /></Card>"


async def test_sidecar_under_another_name_is_reported_with_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "Flight.widget.jsx").write_text(JSX)
    (tmp_path / "Flight.widget.toml").write_text('title = "Flight"')
    problem = (
        "there is no widget 'Flight.widget' that this could be about; "
        "did you mean 'Flight.widget.jsx.toml'?"
    )
    with captured_logs() as events, anyio.fail_after(PATIENCE_S):
        async with serving(tmp_path) as url:
            before = (await ask(url, "/status")).json()["faults"]
            (tmp_path / "Flight.widget.toml").rename(tmp_path / "Flight.widget.jsx.toml")
            while (await ask(url, "/status")).json()["faults"]:  # noqa: ASYNC110 - no client hears of it
                await anyio.sleep(0.01)

    ignored = {"path": "Flight.widget.toml", "code": "W1120", "state": "ignored"}
    assert before == [{**ignored, "problem": f"Flight.widget.toml: {problem}"}]
    [event] = [event for event in events.all if event["event"] == "widget.refused"]
    assert f"{event['problem']}; {event['advice']}" == problem


async def test_short_list_is_reported_and_saves_reach_clients_by_resource(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    with captured_logs() as events, anyio.fail_after(PATIENCE_S):
        async with serving(tmp_path, list_tokens=1) as url, connect_client(url, "modern") as client:
            status = (await ask(url, "/status")).json()
            async with client.client.listen(resource_subscriptions=["widget://greeting"]) as heard:
                (tmp_path / "Greeting.widget").write_text(widget_file(template='{"type": "Card"}'))
                async for event in heard:
                    if isinstance(event, ResourceUpdated):
                        break

    assert "more than 1 tokens (list_tokens)" in status["listing"]
    assert "subscribe to widget://NAME" in status["listing"]
    [started] = [event for event in events.all if event["event"] == "daemon.started"]
    assert started["listing"] == status["listing"]
