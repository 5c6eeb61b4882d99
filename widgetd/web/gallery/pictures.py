"""Pictures of a widget, and what axe has against it, for whoever looks at its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from widgetd.browser.pictures import LEAST_WIDTH, MOST_WIDTH, USUAL_WIDTH
from widgetd.errors import CallError
from widgetd.web.app import PAGE_HEADERS, RefusedError
from widgetd.web.gallery.gallery import Gallery
from widgetd.widget.states import SAMPLE, Shown

if TYPE_CHECKING:
    from widgetd.browser.camera import Camera
    from widgetd.browser.picture import Shot

_STATUS = {"W3201": 501, "W3202": 504, "W3203": 413, "W3204": 503}


async def picture_of(
    gallery: Gallery, request: Request, arguments: Mapping[str, Any] | None
) -> Response:
    """The widget and nothing else as a PNG, for `state` or with arguments instead.

    Raises:
        RefusedError: There is no such widget, it cannot be drawn, or there is nothing to draw in.
    """
    try:
        taken = await _camera(gallery).take(_shot(gallery, request, arguments))
    except CallError as error:
        raise _refused(error) from None
    return Response(taken.content, headers=PAGE_HEADERS, media_type="image/png")


async def violations_of(
    gallery: Gallery, request: Request, arguments: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """What axe has against the drawn widget, an element at a time.

    Raises:
        RefusedError: As `picture_of` does, or axe is missing.
    """
    try:
        return await _camera(gallery).violations(_shot(gallery, request, arguments))
    except CallError as error:
        raise _refused(error) from None


def _camera(gallery: Gallery) -> Camera:
    if gallery.camera is None:
        raise CallError("W3201", "there is no browser here to draw in")
    return gallery.camera


def _shot(gallery: Gallery, request: Request, arguments: Mapping[str, Any] | None) -> Shot:
    # Most galleries are asked for no picture.
    from widgetd.browser.picture import Shot  # noqa: PLC0415

    widget, query = gallery.widget(request), request.query_params
    key = query.get("state", SAMPLE)
    state = next((one for one in gallery.states(widget) if one.key == key), None)
    seen = gallery.shown(widget, key) if arguments is None else Shown(arguments=arguments)
    width = query.get("width", "")
    with gallery.server.rendering.draws.of(widget.key):
        tree = seen.tree(widget)
    return Shot(
        tree=tree,
        title=widget.definition.title,
        theme="dark" if query.get("theme") == "dark" else "light",
        width=max(LEAST_WIDTH, min(int(width), MOST_WIDTH))
        if width.isdecimal() and len(width) < 5
        else USUAL_WIDTH,
        scale=1 if query.get("scale") == "1" else 2,
        locale=state.locale if state and state.locale else "en-US",
        transparent=True,
    )


def _refused(error: CallError) -> RefusedError:
    body = {"error": error.message, "code": error.code, "retryAfterS": error.retry_after_s}
    return RefusedError(_STATUS.get(error.code, 422), body)
