"""The page of one widget: what a model sees of it, what that costs, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from widgetd.catalog.history import changes_between
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CallError, nearest
from widgetd.limits import Limits
from widgetd.mcp.http_calls import keep_shown
from widgetd.mcp.result import Policy, failure, tool_result
from widgetd.mcp.server import Server
from widgetd.mcp.tokens import tokens_of, tokens_of_tool
from widgetd.schema.json_values import is_json
from widgetd.store.contract import StoredRender
from widgetd.web.app import PAGE_HEADERS
from widgetd.web.gallery.editing import editable
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.handing_over import calls
from widgetd.web.gallery.problems import problem_json
from widgetd.web.templating import html
from widgetd.widget.states import SAMPLE, Shown, State
from widgetd.widget.widget import Widget

TABS = ("arguments", "model", "problems", "actions", "use", "source", "changes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One call of a widget, as its caller would get it.

    Attributes:
        arguments: What it was called with.
        result: `{"content", "structuredContent", "_meta"}` for whoever draws it; None if it failed.
        error: `{"code", "message", "path", "slips"}`; None if it did not.
        summary: What the model reads of the result.
        ms: How long rendering took.
        mended: What was mended in the arguments, as sentences.
        tokens: What the model pays for a result, by profile.
        render_id: By which what is done in it can be waited for; empty where nothing can be done.
        note: What people should know of what is shown, in a sentence; empty where there is nothing.
    """

    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    summary: str = ""
    ms: float = 0.0
    mended: tuple[str, ...] = ()
    tokens: Mapping[str, int] | None = None
    render_id: str = ""
    note: str = ""

    def json(self, snapshot: Snapshot, widget: Widget) -> dict[str, Any]:
        """What the page's script draws from."""
        return {
            "schema": widget.schema.advertised,
            "arguments": self.arguments,
            "result": self.result,
            "error": self.error,
            "summary": self.summary,
            "ms": self.ms,
            "mended": self.mended,
            "tokens": self.tokens,
            "renderId": self.render_id,
            "note": self.note,
            "generation": snapshot.generation,
        }


async def preview(gallery: Gallery, widget: Widget, seen: Shown) -> Preview:
    """Show `widget` to somebody who looks at what comes of it, and may act in it."""
    arguments, server = seen.arguments, gallery.server
    try:
        render = _make(server, widget, seen)
    except CallError as error:
        # The page is JSON itself, and cannot repeat what none can say.
        sayable = is_json(arguments, Limits().json_depth)
        return Preview(arguments=arguments if sayable else {}, error=_error(error))
    mark = orjson.loads(render.mark)
    results = {profile: result_of(render, profile) for profile in ("chatkit", "split")}
    return Preview(
        arguments=arguments,
        result=results["split"],
        summary=render.text,
        ms=mark["ms"],
        mended=tuple(mark.get("mended") or ()),
        tokens={profile: tokens_of(result) for profile, result in results.items()},
        render_id=render.id if gallery.built is None and await keep_shown(server, render) else "",
        note=seen.note,
    )


def thumbnail(gallery: Gallery, widget: Widget) -> dict[str, Any]:
    """`{"result", "error"}` of the sample, for a small picture that nobody can act in."""
    try:
        render = _make(gallery.server, widget, gallery.shown(widget, SAMPLE))
    except CallError as error:
        return {"result": None, "error": _error(error)}
    return {"result": result_of(render, "split"), "error": None}


async def widget_page(gallery: Gallery, request: Request) -> dict[str, Any] | Response:
    """One widget for people; where there is none of that name, the one most likely meant."""
    snapshot, query, tool = gallery.snapshot, request.query_params, request.path_params["tool"]
    layout = gallery.layout(request)
    if tool not in snapshot.widgets:
        missing = {**layout, "tool": tool, "match": nearest(tool, tuple(snapshot.widgets))}
        return HTMLResponse(html("missing.html", missing), 404, PAGE_HEADERS)
    widget = snapshot.widgets[tool]
    offered = gallery.states(widget)
    state = _state(offered, query)
    seen = await preview(gallery, widget, gallery.shown(widget, state.key))
    earlier, changes = gallery.history.before(widget), None
    if earlier is not None:
        draws = gallery.server.rendering.draws
        with draws.of(earlier.key), draws.of(widget.key):
            changes = changes_between(earlier, widget)
    tools, tab = tuple(snapshot.widgets), query.get("tab")
    at, sidecar = tools.index(tool), editable(gallery, widget)
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
        "calls": calls(gallery.url, tool, seen.arguments),
        "shown": {
            **seen.json(snapshot, widget),
            "calls": calls(gallery.url, tool, seen.arguments),
            "images": gallery.images(widget),
            "digest": widget.key,
            "sidecar": sidecar,
        },
    }


async def widget_json(
    gallery: Gallery, widget: Widget, query: QueryParams, arguments: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The same for programs, but for the warnings, which take longer to find.

    Args:
        gallery: Where the widget is shown.
        widget: The widget.
        query: The address's query; it holds the state.
        arguments: Instead of those of the state.
    """
    snapshot, definition = gallery.snapshot, widget.definition
    given, offered = Shown(arguments=arguments or {}), gallery.states(widget)
    if arguments is None:
        given = gallery.shown(widget, _state(offered, query).key)
    seen = await preview(gallery, widget, given)
    return {
        **seen.json(snapshot, widget),
        "calls": calls(gallery.url, widget.tool, seen.arguments),
        "images": gallery.images(widget),
        "name": widget.tool,
        "title": definition.title,
        "description": widget.description,
        "path": definition.path,
        "tags": definition.tags,
        "digest": widget.key,
        "sidecar": editable(gallery, widget),
        "tool": orjson.loads(gallery.server.listings.entry(widget)),
        "toolTokens": tokens_of_tool(widget),
        "states": [{"key": one.key, "label": one.label} for one in offered],
        "fault": problem_json(gallery.problems.fault(snapshot, definition.path)),
        "view": definition.studio.view if definition.studio else None,
        "problems": f"/w/{widget.tool}/problems.json",
    }


def _state(offered: Iterable[State], query: QueryParams) -> State:
    states = {state.key: state for state in offered}
    return states.get(query.get("state", ""), states[SAMPLE])


def _make(server: Server, widget: Widget, seen: Shown) -> StoredRender:
    generation = server.registry.current.generation
    return server.rendering.make(widget, seen.arguments, generation, made=seen.render)


def result_of(render: StoredRender, profile: Literal["chatkit", "split"]) -> dict[str, Any]:
    """What a caller of that profile is sent of `render`, however large it is."""
    policy = Policy(inline_max_bytes=len(render.tree))
    return tool_result(render, profile, policy=policy, protocol="").values()


def _error(error: CallError) -> dict[str, Any]:
    return {
        "code": error.code,
        "message": error.message,
        "path": error.path,
        "slips": failure(error).details or (),
    }
