"""What a model sees of a widget, and what that costs it: the tool, and a result of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from widgetd.errors import CallError
from widgetd.mcp.http_calls import keep_shown
from widgetd.mcp.result import Policy, tool_result
from widgetd.mcp.server import Server
from widgetd.mcp.tokens import CHARACTERS_OF_A_TOKEN
from widgetd.store.values import StoredRender
from widgetd.widget.widget import Widget


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
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
    """

    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    summary: str = ""
    ms: float = 0.0
    mended: tuple[str, ...] = ()
    tokens: Mapping[str, int] | None = None
    render_id: str = ""


def entry(server: Server, widget: Widget) -> Mapping[str, Any]:
    """The widget's entry in a list of tools, as it goes to clients."""
    told: dict[str, Any] = orjson.loads(server.listings.entry(widget))
    return told


async def told(server: Server, widget: Widget, arguments: Mapping[str, Any]) -> Told:
    """Call `widget` for somebody who looks at what comes of it, and may act in it."""
    try:
        render = server.rendering.make(widget, arguments, server.registry.current.generation)
    except CallError as error:
        return Told(arguments=arguments, error=_error(error))
    shown = _result(render, "split")
    plain = _result(render, "chatkit")
    return Told(
        arguments=arguments,
        result=shown,
        summary=render.text,
        ms=render.mark["ms"],
        mended=tuple(render.mark.get("mended") or ()),
        tokens={"chatkit": _seen(plain), "split": _seen(shown)},
        render_id=render.id if await keep_shown(server, render) else "",
    )


def glimpsed(server: Server, widget: Widget, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`{"result", "error"}` of a call, for a small picture that nobody can act in."""
    try:
        render = server.rendering.make(widget, arguments, server.registry.current.generation)
    except CallError as error:
        return {"result": None, "error": _error(error)}
    return {"result": _result(render, "split"), "error": None}


def _result(render: StoredRender, profile: Any) -> dict[str, Any]:
    policy = Policy(inline_max_bytes=render.size_bytes)
    return tool_result(render, profile, policy=policy, protocol="")


def _seen(result: Mapping[str, Any]) -> int:
    """What of a result stands before the model, where its host shows structured content to it."""
    text = "".join(block.get("text", "") for block in result["content"])
    return (len(text) + len(orjson.dumps(result["structuredContent"]))) // CHARACTERS_OF_A_TOKEN


def _error(error: CallError) -> dict[str, Any]:
    return {
        "code": error.code,
        "message": error.message,
        "path": error.path,
        "slips": [
            {"path": slip.path, "expected": slip.expected, "got": slip.got} for slip in error.slips
        ],
    }
