"""A widget's call, answered before FastMCP looks for a tool.

FastMCP's way to a tool is made for tools that anybody may add, wrap, mount or rename,
and takes as long as all the rest of a call. What it promises is kept: the SDK holds
the call and its answer to the protocol, and what nobody foresaw tells the caller
nothing of the inside.
"""

from __future__ import annotations

from typing import Any

import structlog
from mcp_types import CallToolRequestParams

from widgetd.mcp import sdk
from widgetd.mcp.caller import CALLER
from widgetd.mcp.result import Result, result_of, text_block
from widgetd.mcp.tool import WidgetdTool, WidgetTools

_log = structlog.get_logger()


def direct(tools: WidgetTools, otherwise: sdk.Handler) -> sdk.Handler:
    """What answers a call of a widget itself, and leaves every other to `otherwise`."""

    async def answer(context: sdk.Context, params: CallToolRequestParams) -> Any:
        caller = CALLER.get(None)
        widget = caller.snapshot.widgets.get(params.name) if caller is not None else None
        if widget is None or (caller is not None and caller.refusal is not None):
            return await otherwise(context, params)
        result = await _run(tools.of(widget), params.arguments or {})
        # Of what it says, the SDK drops what the caller's protocol does not know.
        return {"resultType": "complete", **result}

    return answer


async def _run(tool: WidgetdTool, arguments: dict[str, Any]) -> Result:
    try:
        return await tool.answer(arguments)
    except Exception:  # noqa: BLE001 - the boundary of one call: no other may fail with it
        _log.exception("call.crashed", tool=tool.name)
        sorry = text_block(f"Error calling tool '{tool.name}'")
        return result_of([sorry], None, is_error=True)
