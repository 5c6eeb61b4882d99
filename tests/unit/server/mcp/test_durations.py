"""Requests are measured with attributes that no client chooses."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from mcp import MCPError

from tests.support.clients import Era, connect_client
from tests.support.widgets import build_widget, snapshot_of
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import ServerOptions
from widgetd.server.store.factory import local_store


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_durations_have_the_method_a_known_tool_and_the_kind_of_error(era: Era) -> None:
    measured: list[tuple[float, Mapping[str, str]]] = []
    options = ServerOptions(record_duration=lambda *each: measured.append(each))
    server = build(Registry(snapshot_of(build_widget())), local_store(), options)
    async with connect_client(sdk.lowlevel_of(server.mcp), era) as client:
        await client.call("greeting", who="Ada")
        await client.call("greeting", who=True)
        await client.call("chosen by a client")
        await client.tools()
        with pytest.raises(MCPError):
            await client.client.read_resource("widget://absent")

    attributes = [dict(each) for _, each in measured]
    call = {"mcp.method.name": "tools/call"}
    failed = {"error.type": "tool_error"}
    for expected in (
        {**call, "gen_ai.tool.name": "greeting"},
        {**call, "gen_ai.tool.name": "greeting", **failed},
        {**call, **failed},
        {"mcp.method.name": "tools/list"},
        {"mcp.method.name": "resources/read", "error.type": "-32602"},
    ):
        assert expected in attributes
    assert all(0 <= seconds < 10 for seconds, _ in measured)
