"""Tools to find, describe and show any widget, for hosts that never refetch the tool list.

`search_widgets` finds a widget, `get_widget_details` describes it, `render_widget` shows it and
`show_render` shows a stored render again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from widgetd.core.widget.actions import find_widget_actions
from widgetd.server.access.principal import CALL
from widgetd.server.mcp.builtin.table import BuiltinTool, ToolContext, argument, closed_object
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.render.result import Result, not_found, structured_result

_ALIASES = {"args": "arguments", "parameters": "arguments", "input": "arguments", "tool": "name"}
"""Other names of render_widget's arguments. Models take them from other protocols."""


async def search_widgets(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result:
    """Return `{"items": [{"name", "title", "description", "score"}], "total"}`, best first.

    Without a match, `hint` says so and `tags` lists the known tags.
    """
    query, tags, limit = arguments.get("query", ""), arguments.get("tags", ()), arguments["limit"]
    hits, total = await context.search.search(context.caller, query, limit, tags=tags)
    snapshot = context.caller.snapshot
    items = [hit.to_json() for hit in hits]
    answer: dict[str, Any] = {"items": items, "total": total}
    if not items and snapshot.widgets:
        answer["hint"] = "nothing fits these words; try others, or one of the tags"
        answer["tags"] = sorted(
            {tag for widget in snapshot.widgets.values() for tag in widget.definition.tags}
        )[: LIMITS.hits]
    return structured_result(answer)


async def get_widget_details(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result:
    """Return `{"items": [{"name", "status", ...}], "left"?}`, an item for each requested name.

    Without names, return every widget's name and title. `left` holds the names without room in the
    answer.
    """
    widgets = context.caller.snapshot.widgets
    names: Sequence[str] = arguments.get("names") or tuple(widgets)
    briefly = not arguments.get("names")
    items: list[dict[str, Any]] = []
    room = LIMITS.details_bytes
    for at, name in enumerate(names):
        item: dict[str, Any]
        if briefly:
            item = {"name": name, "status": "ok", "title": widgets[name].definition.title}
        else:
            item = _describe(context, name)
        room -= len(orjson.dumps(item))
        if room < 0 and items:
            left = list(names[at : at + LIMITS.hits])
            return structured_result({"items": items, "left": left})
        items.append(item)
    return structured_result({"items": items})


def _describe(context: ToolContext[None], name: str) -> dict[str, Any]:
    snapshot = context.caller.snapshot
    widget = snapshot.widgets.get(name)
    if widget is None:
        return not_found(name, snapshot.widgets)
    item: dict[str, Any] = {
        "name": widget.tool,
        "status": "ok",
        "title": widget.definition.title,
        "description": widget.description,
        "inputSchema": context.schema(widget),
        "example": widget.call_example,
    }
    actions = find_widget_actions(widget)
    if actions:
        item["actions"] = [action.to_dict() for action in actions]
    fault = snapshot.faults.get(widget.definition.path)
    if fault is not None:
        item["problems"] = [str(fault)]
    return item


async def render_widget(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result:
    """Render a widget by name and return its result, as its own tool does.

    Raises:
        CallError: There is no such widget (W2001), or its own tool would fail: the template on
            these arguments (W2004), the budget (W2005), the client's version (W2010) or the
            upstream of the widget (W5001 to W5020).
    """
    name, widgets = arguments["name"], context.caller.snapshot.widgets
    if name not in widgets:
        raise await context.search.explain_unknown(name, context.caller)
    widget_arguments = arguments.get("arguments", {})
    return await context.rendering.call(widgets[name], widget_arguments, context.caller)


def rename_arguments(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    renamed = {_ALIASES.get(name, name): value for name, value in arguments.items()}
    return renamed if len(renamed) == len(arguments) else arguments


def _show_render_example(context: ToolContext[None]) -> Mapping[str, Any] | None:
    for widget in context.caller.snapshot.widgets.values():
        return {"name": widget.tool, "arguments": widget.call_example or {}}
    return None


async def show_render(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result:
    """Return the result of a stored render, in the profile of this call.

    Raises:
        CallError: There is no such render, or it has expired (W2007).
    """
    render = await context.rendering.load(arguments["render_id"], context.caller)
    return context.rendering.result(render, context.caller)


TOOLS = (
    BuiltinTool(
        name="search_widgets",
        description="Find the widget that shows what the user should see; then call it by its "
        "name, or by render_widget where it is not in your list of tools.",
        input_schema=closed_object(
            {
                "query": argument("string", "What to show, in a few words; empty lists all."),
                "limit": argument(
                    "integer",
                    "How many to list.",
                    minimum=1,
                    maximum=LIMITS.hits,
                    default=10,
                ),
                "tags": argument(
                    "array",
                    "Only those with one of these.",
                    items={"type": "string"},
                    maxItems=LIMITS.hits,
                ),
            }
        ),
        handler=search_widgets,
    ),
    BuiltinTool(
        name="get_widget_details",
        description="Read what widgets show, their arguments and an example of each.",
        input_schema=closed_object(
            {
                "names": argument(
                    "array",
                    "As search_widgets names them; by default, all are named.",
                    items={"type": "string"},
                    maxItems=LIMITS.hits,
                )
            }
        ),
        handler=get_widget_details,
    ),
    BuiltinTool(
        name="render_widget",
        description="Show a widget by name, as its own tool does.",
        input_schema=closed_object(
            {
                "name": argument("string", "The widget's name."),
                "arguments": argument("object", "For its inputSchema; see get_widget_details."),
            },
            required=("name",),
        ),
        handler=render_widget,
        reads=rename_arguments,
        example=_show_render_example,
        scope=CALL,
        widget_argument="name",
    ),
    BuiltinTool(
        name="show_render",
        description="Show a widget that was rendered before, by a call or a backend.",
        input_schema=closed_object(
            {"render_id": argument("string", "Its id, as r_….")}, required=("render_id",)
        ),
        handler=show_render,
        scope=CALL,
    ),
)
