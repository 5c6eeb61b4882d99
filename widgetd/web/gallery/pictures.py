"""Pictures and accessibility checks of a widget, for its page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from widgetd.browser.pictures import DEFAULT_WIDTH_PX, MAX_WIDTH_PX, MIN_WIDTH_PX
from widgetd.errors import CallError
from widgetd.web.gallery.editing import read_arguments
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.page import PAGE_HEADERS, caller_of
from widgetd.widget.states import SAMPLE, ShownState

if TYPE_CHECKING:
    from widgetd.browser.camera import Camera
    from widgetd.browser.picture import Screenshot


async def picture(gallery: Gallery, request: Request) -> Response:
    """Answer with a PNG of the widget, in a state or with the arguments of a POST."""
    camera, shot = await _read_request(gallery, request)
    taken = await camera.take(shot, owner=caller_of(request).principal.name)
    return Response(taken.content, headers=PAGE_HEADERS, media_type="image/png")


async def sheet(gallery: Gallery, request: Request) -> Response:
    """Answer with one PNG of all states of the widget."""
    owner = caller_of(request).principal.name
    taken = await _camera(gallery).take_states(gallery.widget(request), owner=owner)
    return Response(taken.content, headers=PAGE_HEADERS, media_type="image/png")


async def accessibility(gallery: Gallery, request: Request) -> list[dict[str, Any]]:
    """Return the violations that axe finds in the widget, one element each."""
    camera, shot = await _read_request(gallery, request)
    return await camera.find_violations(shot, owner=caller_of(request).principal.name)


def _camera(gallery: Gallery) -> Camera:
    if gallery.camera is None:
        raise CallError("W3201", "there is no browser here to draw in")
    return gallery.camera


async def _read_request(gallery: Gallery, request: Request) -> tuple[Camera, Screenshot]:
    """Return the camera, and the picture that the request describes."""
    # Most galleries never draw a picture, and start sooner without the import.
    from widgetd.browser.picture import Screenshot  # noqa: PLC0415

    arguments = await read_arguments(request)
    camera = _camera(gallery)
    widget, query = gallery.widget(request), request.query_params
    key = query.get("state", SAMPLE)
    state = next((one for one in gallery.states(widget) if one.key == key), None)
    seen = gallery.show(widget, key) if arguments is None else ShownState(arguments=arguments)
    width = query.get("width", "")
    journal = gallery.server.rendering.journal
    with journal.rendering(widget.key, "" if arguments is None else journal.digest(arguments)):
        tree = seen.tree(widget)
    shot = Screenshot(
        tree=tree,
        title=widget.definition.title,
        theme="dark" if query.get("theme") == "dark" else "light",
        width=max(MIN_WIDTH_PX, min(int(width), MAX_WIDTH_PX))
        if width.isdecimal() and len(width) < 5
        else DEFAULT_WIDTH_PX,
        scale=1 if query.get("scale") == "1" else 2,
        locale=state.locale if state and state.locale else "en-US",
        transparent=True,
    )
    return camera, shot
