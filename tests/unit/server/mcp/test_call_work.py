"""The work of a request, in function calls, does not depend on the number of widgets."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Mapping
from types import FrameType
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from tests.support.widgets import build_widget, snapshot_of
from tests.unit.server.mcp.test_fast_path import request
from tests.unit.server.mcp.two_ways import MODERN, Recorder, Way
from widgetd.base.errors import CallError
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.render.calls import Renderer
from widgetd.server.render.limits import LIMITS
from widgetd.server.render.result import Policy
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


TABLE = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}


async def turns_during(arguments: dict[str, Any]) -> int:
    """Count the turns of the loop while a widget is rendered with `arguments`, or refused."""
    table = build_widget("Table", schema=TABLE)
    rendering = Renderer(Registry(snapshot_of(table)), Policy(), local_store())
    turns, done = 0, False

    async def turn() -> None:
        nonlocal turns
        while not done:
            turns += 1
            await checkpoint()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turn)
            await checkpoint()
            try:
                await rendering.compute(table, arguments, "", owner="")
            except CallError as error:
                assert error.code == "W2002"  # noqa: PT017 - some are admitted
            done = True
    return turns


@pytest.mark.parametrize("last", [7, "seven"], ids=["admitted", "refused"])
async def test_loop_keeps_turning_while_large_arguments_are_decided(last: object) -> None:
    few = await turns_during({"rows": [*range(10), last]})
    many = await turns_during({"rows": [*range(LIMITS.threaded_values * 10), last]})

    assert few < 10 < many
