"""The page of one widget: what a model sees of it, what that costs, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from widgetd.access.principal import Caller
from widgetd.catalog.history import diff_versions
from widgetd.errors import CallError
from widgetd.limits import Limits
from widgetd.mcp.http_calls import store_if_interactive
from widgetd.render.tokens import tokens_of, tokens_of_tool
from widgetd.schema.json_values import is_json
from widgetd.text_search import nearest
from widgetd.web.gallery.call_snippets import calls
from widgetd.web.gallery.editing import editable
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.problems import problem_json
from widgetd.web.gallery.results import error_json, render_of, result_of
from widgetd.web.page import PAGE_HEADERS, caller_of
from widgetd.web.templating import html
from widgetd.widget.states import SAMPLE, ShownState, State
from widgetd.widget.widget import Widget

TABS = ("arguments", "model", "problems", "actions", "use", "source", "changes")


async def preview(
    gallery: Gallery, widget: Widget, seen: ShownState, caller: Caller
) -> dict[str, Any]:
    """Call `widget` for `caller`, who may act in it.

    Returns:
        What the page's script draws from. `result` is `{"content", "structuredContent", "_meta"}`,
        or None beside an `error` (`{"code", "message", "path", "slips"}`); `mended` are sentences
        on its arguments; `tokens` is what a model pays for the result, by profile; by `renderId`
        can be waited for what is done in it, where anything can; `note` is for people.
    """
    server = gallery.server
    shown: dict[str, Any] = {
        "schema": widget.schema.advertised,
        "arguments": seen.arguments,
        "result": None,
        "error": None,
        "summary": "",
        "ms": 0.0,
        "mended": (),
        "tokens": None,
        "renderId": "",
        "note": "",
        "generation": caller.snapshot.generation,
    }
    try:
        render = render_of(server, widget, seen)
    except CallError as error:
        # The page is JSON itself, and cannot repeat what none can say.
        sayable = is_json(seen.arguments, Limits().json_depth)
        return {**shown, "arguments": seen.arguments if sayable else {}, "error": error_json(error)}
    results = {profile: result_of(render, profile) for profile in ("chatkit", "split")}
    kept = gallery.built is None and await store_if_interactive(server, render, caller)
    return {
        **shown,
        "result": results["split"],
        "summary": render.text,
        "ms": render.duration_ms,
        "mended": render.coerced,
        "tokens": {profile: tokens_of(result) for profile, result in results.items()},
        "renderId": render.id if kept else "",
        "note": seen.note,
    }


async def widget_page(gallery: Gallery, request: Request) -> dict[str, Any] | Response:
    """One widget for people; where there is none of that name, the one most likely meant."""
    caller, query, tool = caller_of(request), request.query_params, request.path_params["tool"]
    snapshot = caller.snapshot
    layout = gallery.layout(request)
    if tool not in snapshot.widgets:
        missing = {**layout, "tool": tool, "match": nearest(tool, tuple(snapshot.widgets))}
        return HTMLResponse(html("missing.html", missing), 404, PAGE_HEADERS)
    widget = snapshot.widgets[tool]
    offered = gallery.states(widget)
    state = _state(offered, query)
    seen = await preview(gallery, widget, gallery.shown(widget, state.key), caller)
    earlier, changes = gallery.history.before(widget), None
    if earlier is not None:
        journal = gallery.server.rendering.journal
        with journal.rendering(earlier.key), journal.rendering(widget.key):
            changes = diff_versions(earlier, widget)
    tools, tab = tuple(snapshot.widgets), query.get("tab")
    at, sidecar = tools.index(tool), editable(gallery, widget, caller)
    written = calls(gallery.url, tool, seen["arguments"])
    return {
        **layout,
        "widget": widget,
        "definition": widget.definition,
        "before": tools[max(at - 1, 0)],
        "after": tools[min(at + 1, len(tools) - 1)],
        "state": state,
        "states": offered,
        "fault": gallery.problems.fault(snapshot, widget.definition.path),
        "tabs": TABS if sidecar is None else (*TABS, "sidecar"),
        "tab": tab if tab in TABS or (tab == "sidecar" and sidecar) else TABS[0],
        "sidecar": sidecar,
        "preview": seen,
        "tool_tokens": tokens_of_tool(widget),
        "changes": changes,
        "calls": written,
        "shown": {
            **seen,
            "calls": written,
            "images": gallery.images(widget),
            "digest": widget.key,
            "sidecar": sidecar,
        },
    }


async def widget_json(
    gallery: Gallery,
    widget: Widget,
    query: QueryParams,
    caller: Caller,
    arguments: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The same for programs, but for the warnings, which take longer to find.

    The address's query names the state, unless there are `arguments` instead.
    """
    definition = widget.definition
    given, offered = ShownState(arguments=arguments or {}), gallery.states(widget)
    if arguments is None:
        given = gallery.shown(widget, _state(offered, query).key)
    seen = await preview(gallery, widget, given, caller)
    return {
        **seen,
        "calls": calls(gallery.url, widget.tool, seen["arguments"]),
        "images": gallery.images(widget),
        "name": widget.tool,
        "title": definition.title,
        "description": widget.description,
        "path": definition.path,
        "tags": definition.tags,
        "digest": widget.key,
        "sidecar": editable(gallery, widget, caller),
        "tool": orjson.loads(gallery.server.listings.entry(widget)),
        "toolTokens": tokens_of_tool(widget),
        "states": [{"key": one.key, "label": one.label} for one in offered],
        "fault": problem_json(gallery.problems.fault(caller.snapshot, definition.path)),
        "view": definition.studio.view if definition.studio else None,
        "problems": f"/w/{widget.tool}/problems.json",
    }


def _state(offered: Iterable[State], query: QueryParams) -> State:
    states = {state.key: state for state in offered}
    return states.get(query.get("state", ""), states[SAMPLE])
