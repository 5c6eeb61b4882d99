"""The toolset `pictures`: agents see what widgets look like.

Every start imports these rows for their names, so Playwright and the camera are imported by the
first call.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import orjson

from widgetd.author.browser.limits import LIMITS
from widgetd.base.errors import CallError
from widgetd.core.widget.states import SAMPLE, THEMES, ShownState, find_state, show_state
from widgetd.server.access.principal import AUTHOR
from widgetd.server.mcp.builtin.table import (
    BuiltinResource,
    BuiltinTool,
    ToolContext,
    closed_object,
)
from widgetd.server.render.result import Result, structured_result, unknown_widget

if TYPE_CHECKING:
    from widgetd.author.browser.camera import Camera
    from widgetd.author.browser.picture import Picture, Screenshot

MIN_WIDTH_PX, DEFAULT_WIDTH_PX, MAX_WIDTH_PX = 200, 400, 1_600
"""Width of the room that a widget is drawn in, in CSS pixels."""

LOCALE = r"^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$"
"""Language, script and region; browsers throw a RangeError for other tags.

Source: Unicode LDML, "Unicode Locale Identifier".
"""

THEME = {"type": "string", "enum": list(THEMES), "default": "light"}
WIDTH = {
    "type": "integer",
    "minimum": MIN_WIDTH_PX,
    "maximum": MAX_WIDTH_PX,
    "default": DEFAULT_WIDTH_PX,
}


async def take_picture(context: ToolContext[Camera], arguments: Mapping[str, Any]) -> Result:
    """Return an image and `{"width", "height", "bytes", "digest", "console", "overflow", "left"}`.

    Several names, or none, give a sheet. `left` names the widgets without a place on it.

    Raises:
        CallError: There is no such widget (W2001), render (W2007) or state (W4402), a part or
            arguments name no single widget (W2002), there are too many names (W3003), or the
            browser is missing (W3201), too slow (W3202) or in use (W3204), or the picture too
            large (W3203).
    """
    camera, names = context.services, arguments.get("names", [])
    owner = context.caller.principal.name
    screenshots, left = await _screenshots(context, names, arguments)
    if len(screenshots) == 1:
        [(name, screenshot)] = screenshots.items()
        picture = await camera.take(screenshot, owner=owner)
        pictures = {name: picture}
    else:
        taken = count(1)

        async def report(name: str, _picture: Picture) -> None:
            await context.caller.report(next(taken), len(screenshots), name)

        picture, pictures = await camera.sheet(screenshots, owner=owner, report=report)
    complaints = {
        key: [
            f"{name}: {text}" if len(pictures) > 1 else text
            for name, picture in pictures.items()
            for text in getattr(picture, key)
        ]
        for key in ("console", "overflow")
    }
    facts = {
        "width": picture.width,
        "height": picture.height,
        "bytes": len(picture.content),
        "digest": picture.digest,
        **complaints,
        "left": left,
    }
    return structured_result(facts, image_block(picture.content, picture.format))


def image_block(content: bytes, format_: str = "png") -> dict[str, Any]:
    data = b64encode(content).decode()
    return {"type": "image", "mimeType": f"image/{format_}", "data": data}


def demand_few(names: Sequence[str], most: int) -> None:
    if len(names) > most:
        problem = f"{len(names)} are too many at once; ask for at most {most}"
        raise CallError("W3003", problem, path="names")


async def _screenshots(
    context: ToolContext[Camera], names: list[str], arguments: Mapping[str, Any]
) -> tuple[dict[str, Screenshot], list[str]]:
    from widgetd.author.browser.picture import Screenshot  # noqa: PLC0415
    from widgetd.author.browser.targets import NOWHERE, read_target  # noqa: PLC0415

    widgets, render_id = context.caller.snapshot.widgets, arguments.get("render_id")
    demand_few(names, LIMITS.sheet_widgets)
    if len(names) + bool(render_id) != 1 and (arguments.get("part") or arguments.get("arguments")):
        raise CallError("W2002", "a part, or arguments, are of one widget; name it", path="names")
    try:
        part = read_target(arguments["part"]) if arguments.get("part") else NOWHERE
    except ValueError as error:
        raise CallError("W2002", str(error), path="part") from None
    options = {name: arguments[name] for name in ("theme", "width", "format")}
    if render_id:
        render = await context.rendering.load(render_id, context.caller)
        widget = widgets.get(render.tool)
        title = widget.definition.title if widget else render.tool
        tree = orjson.loads(render.tree)
        scale = arguments["scale"]
        screenshot = Screenshot(tree=tree, title=title, part=part, scale=scale, **options)
        return {render.tool: screenshot}, []
    tools = names or list(widgets)
    screenshots = {}
    for name in tools[: LIMITS.sheet_widgets]:
        if name not in widgets:
            raise unknown_widget(name, widgets)
        widget = widgets[name]
        state = find_state(widget, arguments["state"])
        chosen = arguments.get("arguments")
        journal = context.rendering.journal
        with journal.rendering(widget.key, "" if chosen is None else journal.digest(chosen)):
            example = (
                show_state(widget, state.key) if chosen is None else ShownState(arguments=chosen)
            )
            tree = example.tree(widget)
        screenshots[name] = Screenshot(
            tree=tree,
            title=widget.definition.title,
            part=part,
            scale=arguments["scale"] if len(tools) == 1 else 1,
            locale=state.locale or "en-US",
            **options,
        )
    if not screenshots:
        raise CallError("W2001", "there are no widgets here", path="names")
    return screenshots, tools[LIMITS.sheet_widgets :]


async def _read_sample(context: ToolContext[Camera], name: str) -> bytes | None:
    from widgetd.author.browser.picture import Screenshot  # noqa: PLC0415

    widget = context.caller.snapshot.widgets.get(name)
    if widget is None:
        return None
    tree = show_state(widget, SAMPLE).tree(widget)
    screenshot = Screenshot(tree=tree, title=widget.definition.title)
    owner = context.caller.principal.name
    return (await context.services.take(screenshot, owner=owner)).content


RESOURCES = (
    BuiltinResource(
        uri="widgetd://pictures/{name}",
        name="picture",
        description="What the sample of a widget looks like, of the tool of that name.",
        mime_type="image/png",
        read=_read_sample,
        scope=AUTHOR,
        toolset="pictures",
    ),
)

TOOLS = (
    BuiltinTool(
        name="take_picture",
        description="See a widget or a render. Several names, or none: a sheet.",
        input_schema=closed_object(
            {
                "names": {"type": "array", "items": {"type": "string"}},
                "render_id": {"type": "string"},
                "arguments": {"type": "object"},
                "state": {"type": "string", "default": SAMPLE},
                "theme": THEME,
                "width": WIDTH,
                "scale": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1},
                "part": {"type": "string", "description": "As component=Badge."},
                "format": {"type": "string", "enum": ["png", "jpeg"], "default": "png"},
            }
        ),
        handler=take_picture,
        scope=AUTHOR,
        toolset="pictures",
    ),
)
