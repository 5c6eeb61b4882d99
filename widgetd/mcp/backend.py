"""Render a widget from a backend's own data, which no model has to type.

The same checks as a call: scopes, rate, places, the widgets that the caller sees,
and only then the arguments. Knows nothing of how the backend asks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from widgetd.errors import CallError
from widgetd.mcp.admission import CALLS, admitted
from widgetd.mcp.auth import principal_of
from widgetd.mcp.builtin.catalog import unknown_widget
from widgetd.mcp.caller import Caller
from widgetd.mcp.error_result import failure
from widgetd.mcp.instrumentation import observed
from widgetd.mcp.result import render_uri
from widgetd.mcp.server import Server

Read = Callable[[], Awaitable[Mapping[str, Any]]]
"""Gets the arguments from whoever sends them; raises `CallError` where they are none."""


async def keep_render(server: Server, user: object, name: str, read: Read) -> dict[str, Any]:
    """Render `name` and keep the render for `show_render`.

    Args:
        server: What is served.
        user: Who asks, as the HTTP layer found out.
        name: The widget's tool name.
        read: Called only for those who are let in, and for a widget that is there.

    Returns:
        `{"renderId", "uri", "summary"}`, or `{"error": {"code", "message", "path", ...}}`.
    """
    principal = principal_of(user, server.otherwise)
    snapshot = server.views.of(server.registry.current, principal.audience)
    caller = Caller(snapshot=snapshot, principal=principal)
    params: dict[str, Any] = {"name": name}

    async def arguments() -> Mapping[str, Any]:
        params["arguments"] = given = await read()
        return given

    answer = await observed(
        partial(_answer, server, caller, name, arguments),
        params,
        caller,
        standing=(),
        observers=server.observers,
    )
    told: dict[str, Any] = answer["structuredContent"]
    return told


async def _answer(server: Server, caller: Caller, name: str, read: Read) -> dict[str, Any]:
    """As a call would be answered, so that whoever observes calls need not know better."""
    try:
        return {"structuredContent": await _kept(server, caller, name, read)}
    except CallError as error:
        said = failure(error).wire()
        return {
            "isError": True,
            "structuredContent": {"error": said},
            "_meta": {"widgetd/error": said},
        }


async def _kept(server: Server, caller: Caller, name: str, read: Read) -> dict[str, Any]:
    widgets, generation = caller.snapshot.widgets, caller.snapshot.generation
    async with admitted(CALLS, {"name": name}, caller.principal, server.store.limits) as refusal:
        if refusal is not None:
            raise refusal
        if name not in widgets:
            raise unknown_widget(name, widgets)
        render = await server.rendering.render(widgets[name], await read(), generation)
    return {"renderId": render.id, "uri": render_uri(render.id), "summary": render.text}
