"""Large arguments are validated and drawn beside the loop, so that others are answered."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from tests.support.widgets import build_widget, snapshot_of
from widgetd.base.errors import CallError
from widgetd.server.catalog.registry import Registry
from widgetd.server.render.calls import Renderer
from widgetd.server.render.limits import LIMITS
from widgetd.server.render.result import Policy
from widgetd.server.store.factory import local_store

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
