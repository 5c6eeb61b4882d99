"""Results of widgets as pages draw them: with any arguments, and the tiles of the index."""

from __future__ import annotations

from typing import Any, Literal
from weakref import WeakKeyDictionary

import orjson

from widgetd.base.errors import CallError
from widgetd.core.widget.states import SAMPLE, ShownState, show_state
from widgetd.core.widget.theme import NO_THEME
from widgetd.core.widget.widget import Widget
from widgetd.server.mcp.server import Server
from widgetd.server.render.result import Policy, failure, tool_result
from widgetd.server.store.contract import StoredRender
from widgetd.server.web.limits import LIMITS


class Tiles:
    """`{"result", "error"}` of each widget's sample as JSON, drawn once for each of its versions.

    Requests for tiles are free, so an index with any number of them costs as much as any other
    page. Therefore none is drawn twice.
    """

    def __init__(self) -> None:
        self._tiles: WeakKeyDictionary[Widget, bytes] = WeakKeyDictionary()
        self._bytes = 0
        self._theme = NO_THEME

    def tile(self, server: Server, widget: Widget) -> bytes:
        if self._theme != (theme := server.registry.current.theme):
            self._theme = theme
            self._tiles.clear()
        if widget not in self._tiles:
            report: dict[str, Any] = {"result": None, "error": None}
            try:
                sample = show_state(widget, SAMPLE)
                report["result"] = result_of(server, render_of(server, widget, sample))
            except CallError as error:
                report["error"] = error_json(error)
            tile = orjson.dumps(report, default=dict)
            self._bytes += len(tile)
            if self._bytes > LIMITS.tiles_bytes:
                self._tiles.clear()
                self._bytes = len(tile)
            self._tiles[widget] = tile
        return self._tiles[widget]


def render_of(server: Server, widget: Widget, state: ShownState) -> StoredRender:
    generation = server.registry.current.generation
    return server.rendering.compute_now(widget, state.arguments, generation, drawing=state.render)


def result_of(
    server: Server, render: StoredRender, profile: Literal["chatkit", "split"] = "split"
) -> dict[str, Any]:
    policy = Policy(inline_max_bytes=len(render.tree))
    palette = server.registry.current.theme.json or b"{}"
    return tool_result(render, profile, policy=policy, palette=palette).values()


def error_json(error: CallError) -> dict[str, Any]:
    return {
        "code": error.code,
        "message": error.message,
        "path": error.path,
        "slips": failure(error).details or (),
    }
