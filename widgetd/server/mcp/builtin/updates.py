"""Tools for replacing a render in its pages.

    update_render, a backend's POST -> store.renders -> follow_render -> redrawn in place

`follow_render` is for the page: no host forwards change notifications to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from widgetd.base.errors import CallError
from widgetd.server.access.principal import CALL
from widgetd.server.mcp.builtin.actions import (
    PRESS,
    RENDER_ID,
    SHOWN_ID,
    find_last_action,
    is_from_page,
)
from widgetd.server.mcp.builtin.table import BuiltinTool, ToolContext, argument, closed_object
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.render.result import Result, structured_result
from widgetd.server.store.contract import StoredRender

if TYPE_CHECKING:
    from widgetd.server.access.principal import Caller
    from widgetd.server.render.calls import Renderer


async def update_render(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result:
    """Return `{"renderId", "version", "summary"}`.

    Raises:
        CallError: There are neither arguments nor a note, or a failure has no note (W2002), there
            is no such render (W2007), it was replaced in the meantime (W2406), or the template
            fails on the arguments (W2004, W2005).
    """
    return structured_result(await replace_render(context.rendering, arguments, context.caller))


async def replace_render(
    rendering: Renderer, arguments: Mapping[str, Any], caller: Caller, *, tool: str = ""
) -> dict[str, Any]:
    """Replace a render of the widget `tool`, or of any, as `update_render` does.

    Raises:
        CallError: It has neither arguments nor a note, or a failure without a note (W2002). See
            also `Renderer.update`.
    """
    drawn, failed = arguments.get("arguments"), arguments.get("failed", False)
    note = arguments.get("note", "")
    if failed and not note:
        raise CallError("W2002", "expected a sentence that says why it failed", path="note")
    if drawn is None and not note:
        raise CallError("W2002", "expected arguments to draw, or a note to show", path="arguments")
    render = await rendering.update(
        arguments["render_id"],
        drawn,
        caller,
        tool=tool,
        after=arguments.get("after"),
        failed=failed,
        note=note,
    )
    return {"renderId": render.id, "version": render.version, "summary": render.text}


async def follow_render(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result:
    """Return the newer version's result, or `{"status", "acted"?}`: timeout, draining, expired.

    `acted` is the last accepted action of this version. A page that is mounted again shows it.

    Raises:
        CallError: There is no such render, or it has expired (W2007).
    """
    render_id, after = arguments["render_id"], arguments["after"]
    if arguments["differed"]:
        render = await context.rendering.load(render_id, context.caller)
        is_own = is_from_page(context, render, arguments)
        if is_own and (widget := context.caller.snapshot.widgets.get(render.tool)):
            for observer in context.observers:
                observer.on_difference(widget)
    newer = await context.rendering.wait_for_newer(
        render_id, context.caller, after=after, timeout_s=arguments["timeout_s"]
    )
    if isinstance(newer, StoredRender):
        return context.rendering.result(newer, context.caller, is_for_page=True)
    answer: dict[str, Any] = {"status": newer}
    if newer == "timeout" and (acted := await find_last_action(context.store, render_id, after)):
        answer["acted"] = acted
    return structured_result(answer)


TOOLS = (
    BuiltinTool(
        name="update_render",
        description="Redraw a widget that is shown, where it stands, and say what came of "
        "what the user did in it. Show nothing a second time that you can update.",
        input_schema=closed_object(
            {
                "render_id": RENDER_ID,
                "arguments": argument(
                    "object",
                    "All of them, as they are now; by default, only the note is shown.",
                ),
                "note": argument(
                    "string",
                    "A sentence beneath the widget.",
                    maxLength=LIMITS.note_chars,
                    default="",
                ),
                "failed": argument(
                    "boolean", "It could not be done; the note says why.", default=False
                ),
                "after": argument("integer", "Refuse at any other version.", minimum=1),
            },
            required=("render_id",),
        ),
        handler=update_render,
        scope=CALL,
        read_only=False,
    ),
    BuiltinTool(
        name="follow_render",
        description="Wait for a newer version of a widget that is shown.",
        input_schema=closed_object(
            {
                "render_id": SHOWN_ID,
                "after": argument("integer", "The version that is shown.", minimum=0, default=1),
                "timeout_s": argument(
                    "number",
                    "How long to wait for it.",
                    minimum=0,
                    maximum=LIMITS.wait_s,
                    default=20,
                ),
                "differed": argument(
                    "boolean", "Whether the page had drawn another tree.", default=False
                ),
                "press": PRESS,
            },
            required=("render_id",),
        ),
        handler=follow_render,
        scope=CALL,
        waits=True,
        app_only=True,
    ),
)
