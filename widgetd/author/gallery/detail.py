"""The page of a widget: its result, tokens, findings, source and changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from widgetd.author.export.package import NOT_IN_STUDIO, file_name
from widgetd.author.gallery.call_snippets import calls
from widgetd.author.gallery.editing import editable_origins, read_arguments
from widgetd.author.gallery.gallery import Gallery
from widgetd.author.gallery.problems import problem_json
from widgetd.author.gallery.results import error_json, render_of, result_of
from widgetd.author.gallery.test_results import results_of
from widgetd.author.uploads.history import diff_versions
from widgetd.base.errors import CallError
from widgetd.base.limits import Limits
from widgetd.base.text_search import nearest
from widgetd.core.schema.json_values import is_json
from widgetd.core.widget.page_program import program_or_empty
from widgetd.core.widget.states import SAMPLE, ShownState, State, list_states, show_state
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import Caller
from widgetd.server.mcp.http_calls import store_if_interactive
from widgetd.server.render.tokens import tokens_of, tokens_of_tool
from widgetd.server.web.page import PAGE_HEADERS, caller_of
from widgetd.server.web.templating import html

TABS = ("arguments", "source", "model", "actions", "use")


async def preview(
    gallery: Gallery, widget: Widget, content: ShownState, caller: Caller
) -> dict[str, Any]:
    """Call `widget` for `caller`, with its actions.

    Returns:
        The value for the page's script: `result` is
        `{"content", "structuredContent", "_meta"}`, or None beside an `error`
        (`{"code", "message", "path", "slips"}`), `mended` are sentences about its arguments,
        `tokens` are the result's, by profile, `renderId` is empty unless the render has actions,
        `hasProgram` is true if a frame can draw other arguments by itself, `note` is for people,
        `calls` is code by its title, `images` are origins, and `origins` are the sidecar's, or
        None if it cannot be edited.
    """
    server = gallery.server
    # The page is JSON, and cannot repeat all refused arguments.
    arguments = content.arguments if is_json(content.arguments, Limits().json_depth) else {}
    report: dict[str, Any] = {
        "schema": widget.schema.advertised,
        "arguments": arguments,
        "result": None,
        "error": None,
        "summary": "",
        "ms": 0.0,
        "mended": (),
        "tokens": None,
        "renderId": "",
        "note": "",
        "hasProgram": bool(program_or_empty(widget)),
        "generation": caller.snapshot.generation,
        "calls": calls(gallery.url, widget.tool, arguments),
        "images": gallery.images(widget),
        "digest": widget.key,
        "origins": editable_origins(gallery, widget, caller),
    }
    try:
        render = render_of(server, widget, content)
    except CallError as error:
        return {**report, "error": error_json(error)}
    results = {profile: result_of(server, render, profile) for profile in ("chatkit", "split")}
    is_stored = gallery.built is None and await store_if_interactive(server, render, caller)
    return {
        **report,
        "result": results["split"],
        "summary": render.text,
        "ms": render.duration_ms,
        "mended": render.coerced,
        "tokens": {profile: tokens_of(result) for profile, result in results.items()},
        "renderId": render.id if is_stored else "",
        "note": content.note,
    }


async def widget_page(gallery: Gallery, request: Request) -> dict[str, Any] | Response:
    caller, tool = caller_of(request), request.path_params["tool"]
    snapshot = caller.snapshot
    layout = gallery.layout(request)
    if tool not in snapshot.widgets:
        missing = {**layout, "tool": tool, "match": nearest(tool, tuple(snapshot.widgets))}
        return HTMLResponse(html("missing.html", missing), 404, PAGE_HEADERS)
    widget = snapshot.widgets[tool]
    states = list_states(widget)
    state = _state(states, request)
    drawn = await preview(gallery, widget, show_state(widget, state.key), caller)
    earlier = gallery.history.before(widget, caller.principal.audience.sees)
    changes = None if earlier is None else diff_versions(earlier, widget)
    tools, tab = tuple(snapshot.widgets), request.query_params.get("tab")
    at, text = tools.index(tool), "edit" if drawn["origins"] is not None else "source"
    tabs = TABS[:1] if gallery.clean else (TABS[0], text, *TABS[2:])
    return {
        **layout,
        "widget": widget,
        "definition": widget.definition,
        "before": tools[max(at - 1, 0)],
        "after": tools[min(at + 1, len(tools) - 1)],
        "state": state,
        "states": states,
        "fault": gallery.problems.fault(snapshot, widget.definition.path),
        "tabs": tabs,
        "tab": text if tab == "source" else tab if tab in tabs else TABS[0],
        "studio_file": file_name(widget),
        "not_in_studio": NOT_IN_STUDIO,
        "preview": drawn,
        "tool_tokens": tokens_of_tool(widget),
        "changes": changes,
        "tests": () if gallery.built is not None else results_of(gallery.file(widget)),
        "shown": _select(gallery, drawn),
    }


_CLEAN = frozenset(
    {"schema", "arguments", "result", "error", "note", "hasProgram", "images", "origins"}
)
"""Parts of a widget's data that its page shows when it is handed over."""


def _select(gallery: Gallery, content: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in content.items() if name in _CLEAN or not gallery.clean}


async def widget_json(gallery: Gallery, request: Request) -> dict[str, Any]:
    """Return a widget's page for programs, without the warnings, because they take longer.

    It shows the state in the address, or the arguments of a POST.
    """
    widget, caller = gallery.widget(request), caller_of(request)
    definition, states = widget.definition, list_states(widget)
    arguments = await read_arguments(request)
    if arguments is None:
        chosen = show_state(widget, _state(states, request).key)
    else:
        chosen = ShownState(arguments=arguments)
    content = {
        **await preview(gallery, widget, chosen, caller),
        "name": widget.tool,
        "title": definition.title,
        "description": widget.description,
        "path": definition.path,
        "tags": definition.tags,
        "tool": orjson.loads(gallery.server.listings.entry(widget)),
        "toolTokens": tokens_of_tool(widget),
        "states": [{"key": state.key, "label": state.label} for state in states],
        "fault": problem_json(gallery.problems.fault(caller.snapshot, definition.path)),
        "view": definition.studio.view if definition.studio else None,
        "problems": f"/w/{widget.tool}/problems.json",
    }
    return _select(gallery, content)


def _state(states: Iterable[State], request: Request) -> State:
    by_key = {state.key: state for state in states}
    named = request.path_params.get("state", request.query_params.get("state", ""))
    return by_key.get(named, by_key[SAMPLE])
