"""The work of a request, in function calls, does not depend on the number of widgets."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Mapping
from types import FrameType
from typing import Any

from tests.support.widgets import build_widget, snapshot_of
from tests.unit.server.mcp.test_fast_path import request
from tests.unit.server.mcp.two_ways import MODERN, Recorder, Way
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.store.factory import local_store
from widgetd.server.web.app import app

CALL = "tools/call", {"name": "greeting", "arguments": {"who": "Ada"}}
READ = "resources/read", {"uri": "widget://greeting"}


async def count_function_calls(
    widgets: int, method: str, params: Mapping[str, Any]
) -> Counter[str]:
    """Return the function calls of one request among so many widgets, by function."""
    snapshot = snapshot_of(
        build_widget(), *(build_widget(f"W{number}") for number in range(1, widgets))
    )
    server = build(Registry(snapshot), local_store())
    way = Way(app=app(server, ()), server=server, recorder=Recorder())
    message = request(MODERN, method, params)
    counts: Counter[str] = Counter()

    def count(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            counts[frame.f_code.co_qualname] += 1
        elif event == "c_call":
            counts[argument.__qualname__] += 1

    async with way.app.router.lifespan_context(way.app):
        for _ in range(3):  # caches are filled
            status, _, _ = await way.ask(message.headers("", ""), message.body)
            assert status == 200
        gc.disable()  # A plugin's callback of the collector would count.
        sys.setprofile(count)
        try:
            await way.ask(message.headers("", ""), message.body)
        finally:
            sys.setprofile(None)
            gc.enable()
    return counts


async def test_call_takes_no_more_function_calls_among_more_widgets() -> None:
    few, many = await count_function_calls(4, *CALL), await count_function_calls(80, *CALL)

    assert few["Renderer.compute"] == 1
    assert many == few


async def test_resource_is_made_once_for_a_request() -> None:
    counts = await count_function_calls(1, *READ)

    assert counts["Resources.find"] == 1
