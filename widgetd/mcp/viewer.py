"""Show a widget on a page of ours, and take what is done there the way of every action.

    page -> widget_action, with all its checks -> whoever waits in await_widget_action

Knows nothing of pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from widgetd.mcp.admission import CALLS, admitted
from widgetd.mcp.caller import Caller
from widgetd.mcp.error_result import error_result
from widgetd.mcp.instrumentation import observed
from widgetd.mcp.server import Server
from widgetd.store.values import StoredRender
from widgetd.widget.actions import offers_any

_ACT = "widget_action"


async def keep_shown(server: Server, render: StoredRender) -> bool:
    """Keep what a page shows where something can be done in it, and say whether it can."""
    offered = offers_any(render.tree)
    if offered:
        await server.store.renders.put(render)
    return offered


async def take_action(server: Server, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What `widget_action` answers to whoever looks at the page.

    Args:
        server: What is served.
        arguments: Of `widget_action`, as they came.

    Returns:
        The result as it goes to clients: `{"content", "structuredContent", "isError", "_meta"}`.
    """
    caller = server.rendering.caller
    params = {"name": _ACT, "arguments": arguments}
    answer: dict[str, Any] = await observed(
        partial(_taken, server, caller, params),
        params,
        caller,
        standing=(_ACT,),
        observers=server.observers,
    )
    return answer


async def _taken(server: Server, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
    tool = server.standing[_ACT]
    async with admitted(CALLS, params, caller.principal, server.store.limits) as refusal:
        if refusal is not None:
            return error_result(refusal)
        return await tool.answer(dict(params["arguments"]))
