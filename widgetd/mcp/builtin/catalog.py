"""The tools that are always there, for hosts that never fetch a list again.

A widget that such a host has not heard of is found by `search_widgets`,
explained by `get_widget_details` and shown by `render_widget`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import orjson
from pydantic import PrivateAttr

from widgetd.errors import CallError, nearest
from widgetd.limits import Limits
from widgetd.mcp.caller import Caller
from widgetd.mcp.calls import Rendering
from widgetd.mcp.entry import READ_ONLY
from widgetd.mcp.error_result import error_result
from widgetd.mcp.result import Result, structured_result
from widgetd.mcp.search import Search
from widgetd.mcp.tool import WidgetdTool
from widgetd.schema.validator import Schema, compile_schema
from widgetd.widget.actions import known_actions
from widgetd.widget.widget import Widget

Answer = Callable[[Caller, Mapping[str, Any]], Awaitable[Result]]

MOST_HITS = 50
"""More than a model would read."""

_SEARCH = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "What the user should see, in a few words. Empty lists every widget.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_HITS,
            "default": 10,
            "description": "How many widgets to answer with.",
        },
    },
    "additionalProperties": False,
}
_DETAILS = {
    "type": "object",
    "properties": {
        "names": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MOST_HITS,
            "description": "Names of widgets, as search_widgets gives them.",
        },
    },
    "additionalProperties": False,
}
_RENDER = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The widget's name."},
        "arguments": {
            "type": "object",
            "description": "What the widget's inputSchema asks for; see get_widget_details.",
        },
    },
    "required": ["name"],
    "additionalProperties": False,
}
_SHOW = {
    "type": "object",
    "properties": {"render_id": {"type": "string", "description": "The id of the render."}},
    "required": ["render_id"],
    "additionalProperties": False,
}


class StandingTool(WidgetdTool):
    """A tool of widgetd's own."""

    _schema: Schema = PrivateAttr()
    _answer: Answer = PrivateAttr()
    _rendering: Rendering = PrivateAttr()

    def __init__(self, answer: Answer, rendering: Rendering, **fields: Any) -> None:
        super().__init__(**fields)
        self._schema = compile_schema(self.parameters, limits=Limits())
        self._answer = answer
        self._rendering = rendering

    async def answer(self, arguments: dict[str, Any]) -> Result:
        """Check the arguments and answer; errors are results too."""
        try:
            checked = self._schema.check(_listed(arguments, self.parameters))
            filled = self._schema.with_defaults(checked.arguments)
            return await self._answer(self._rendering.caller, filled)
        except CallError as error:
            return error_result(error)


def standing_tools(rendering: Rendering) -> tuple[StandingTool, ...]:
    """Every standing tool, over the snapshot of the moment of each call."""
    return (
        _tool(
            rendering,
            "search_widgets",
            "Find the widget that shows what the user should see, by what it is for. "
            "Then call it by its name, or by render_widget where it is not in your list of tools.",
            _SEARCH,
            partial(_search, Search()),
        ),
        _tool(
            rendering,
            "get_widget_details",
            "Read what widgets show, the arguments they take and an example of each.",
            _DETAILS,
            _details,
        ),
        _tool(
            rendering,
            "render_widget",
            "Show a widget by name, with arguments for its inputSchema. "
            "The same as calling the widget's own tool.",
            _RENDER,
            partial(_render, rendering),
        ),
        _tool(
            rendering,
            "show_render",
            "Show a widget that was rendered before, by a backend or in an earlier call.",
            _SHOW,
            partial(_show, rendering),
        ),
    )


def _tool(
    rendering: Rendering, name: str, description: str, schema: Mapping[str, Any], answer: Answer
) -> StandingTool:
    return StandingTool(
        answer,
        rendering,
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=description,
        parameters=dict(schema),
        annotations=dict(READ_ONLY),
    )


async def _search(search: Search, caller: Caller, arguments: Mapping[str, Any]) -> Result:
    """`{"items": [{"name", "title", "description", "score"}], "total"}`, best first."""
    snapshot, audience = caller.snapshot, caller.principal.audience
    await search.prepare(snapshot, audience=audience)
    hits, total = search.find(
        snapshot, arguments.get("query", ""), arguments["limit"], audience=audience
    )
    items = [
        {
            "name": hit.widget.tool,
            "title": hit.widget.definition.title,
            "description": hit.widget.description,
            "score": hit.score,
        }
        for hit in hits
    ]
    return structured_result({"items": items, "total": total})


async def _details(caller: Caller, arguments: Mapping[str, Any]) -> Result:
    """`{"items": [{"name", "status", ...}]}`, one for each name asked for, in that order."""
    widgets = caller.snapshot.widgets
    items = [
        _known(caller, widgets[name]) if name in widgets else _unknown(name, widgets)
        for name in arguments.get("names", ())
    ]
    return structured_result({"items": items})


async def _render(rendering: Rendering, caller: Caller, arguments: Mapping[str, Any]) -> Result:
    name = arguments["name"]
    widget = caller.snapshot.widgets.get(name)
    if widget is None:
        raise unknown_widget(name, caller.snapshot.widgets)
    return await rendering.call(widget, arguments.get("arguments", {}))


async def _show(rendering: Rendering, _caller: Caller, arguments: Mapping[str, Any]) -> Result:
    return await rendering.show(arguments["render_id"])


def _known(caller: Caller, widget: Widget) -> dict[str, Any]:
    definition = widget.definition
    item: dict[str, Any] = {
        "name": widget.tool,
        "status": "ok",
        "title": definition.title,
        "description": widget.description,
        "inputSchema": widget.schema.advertised,
        "example": widget.example,
    }
    actions = known_actions(widget)
    if actions:
        item["actions"] = [action.said() for action in actions]
    fault = caller.snapshot.faults.get(definition.path)
    if fault is not None:
        item["problems"] = [str(fault)]
    return item


def _unknown(name: str, widgets: Mapping[str, Widget]) -> dict[str, Any]:
    return {"name": name, "status": "not_found", "suggestions": list(_suggestions(name, widgets))}


def unknown_widget(name: str, widgets: Mapping[str, Widget]) -> CallError:
    """There is no such widget (W2001); the error names the nearest one."""
    suggestions = _suggestions(name, widgets)
    hint = (
        f"did you mean '{suggestions[0]}'?" if suggestions else "search_widgets finds what there is"
    )
    problem = f"there is no widget '{name:.60}'"
    return CallError("W2001", f"{problem}; {hint}", path="name", suggestions=suggestions)


def _suggestions(name: str, widgets: Mapping[str, Widget]) -> tuple[str, ...]:
    match = nearest(name, tuple(widgets))
    return () if match is None else (match,)


def _listed(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with whatever a caller wrote for a list of strings made one."""
    properties = schema["properties"]
    return {
        name: strings(value) if properties.get(name, {}).get("type") == "array" else value
        for name, value in arguments.items()
    }


def strings(value: object) -> object:
    """A list of strings from an array, a JSON text, a comma list, one string or nothing.

    Anything else comes back as it is, for the schema to refuse.
    """
    if value is None:
        return []
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
    return [part for part in (part.strip() for part in value.split(",")) if part]
