"""The gallery's pages in one table: what each shows, and who may do what there."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Undecodable
from collections.abc import Iterable, Mapping
from functools import partial
from math import ceil
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from widgetd.catalog.intake import Reason, RefusedUploadError, Writer
from widgetd.errors import CallError
from widgetd.limits import Limits
from widgetd.mcp.http_calls import take_action
from widgetd.mcp.principal import ADMIN, GALLERY, WRITE
from widgetd.mcp.view import frame_headers, view_html
from widgetd.schema.json_text import NotJsonError, parse_sent
from widgetd.web.app import PAGE_HEADERS, Page, RefusedError, json_response, routes
from widgetd.web.gallery.detail import thumbnail, widget_json, widget_page
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.guide import guide_page
from widgetd.web.gallery.index import index_json, index_page
from widgetd.web.gallery.live import events
from widgetd.web.gallery.problems import problem_json
from widgetd.web.guard import Guard
from widgetd.web.static_files import cacheable, static_file

MOST_BYTES = 4 * Limits().file_bytes
"""Of a body: a widget and its sidecar in base64, or arguments as long."""

_STATUS: Mapping[Reason, int] = {
    "name": 400,
    "forbidden": 403,
    "taken": 409,
    "long": 413,
    "unfit": 422,
    "full": 507,
}

_NO_OBJECT = {"error": "the body is no JSON object, or too long"}


async def widget_as_json(gallery: Gallery, request: Request) -> dict[str, Any]:
    """The same as `widget_page` for programs, or with the arguments that are posted."""
    shown = gallery.widget(request)
    arguments = await _json_object(request) if request.method == "POST" else None
    return await widget_json(gallery, shown, request.query_params, arguments)


async def problems(gallery: Gallery, request: Request) -> dict[str, Any]:
    """The warnings of one widget, as a piece of a page."""
    return {"problems": await gallery.problems.warnings(gallery.widget(request))}


async def problems_as_json(gallery: Gallery, request: Request) -> list[Any]:
    """The same for programs."""
    return [problem_json(one) for one in await gallery.problems.warnings(gallery.widget(request))]


async def action(gallery: Gallery, request: Request) -> dict[str, Any]:
    """What was done in a widget goes the way of every action."""
    gallery.widget(request)
    _demand_own_page(request, "may act in a widget")
    return await take_action(gallery.server, await _json_object(request))


async def tile(gallery: Gallery, request: Request) -> dict[str, Any]:
    """What the index draws of one widget."""
    return thumbnail(gallery, gallery.widget(request))


async def frame(gallery: Gallery, request: Request) -> Response:
    """The view that MCP hosts get, allowed to load the images that the widget may load in one."""
    return view_response(request, gallery.images(gallery.widget(request)))


def view_response(request: Request, images: Iterable[str]) -> Response:
    """The view in a frame, which may load images from these origins."""
    return cacheable(request, view_html().encode(), "text/html", frame_headers(images))


async def live(gallery: Gallery, _request: Request) -> Response:
    """Which widgets changed, as Server-Sent Events."""
    server = gallery.server
    audience = server.rendering.caller.principal.audience
    stream = events(server.registry, lambda now: server.views.of(now, audience), gallery.stop)
    # nginx would hold the events back until it has a page of them.
    headers = {**PAGE_HEADERS, "x-accel-buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def static(_gallery: Gallery, request: Request) -> Response:
    """A file of the gallery's own."""
    return static_file(request, "widgetd.web.gallery", PAGE_HEADERS)


async def upload(gallery: Gallery, request: Request) -> Response:
    """A widget that was dropped onto a page."""
    _demand_own_page(request, "may put files here")
    if gallery.intake is None:
        return Response(status_code=404)
    sent = await _json_object(request)
    try:
        given = {name: b64decode(text, validate=True) for name, text in sent.items()}
    except (Undecodable, ValueError, TypeError):
        given = {}
    if not given:
        raise RefusedError(400, _NO_OBJECT)
    replace = request.query_params.get("replace") == "1"
    server = gallery.server
    principal = server.rendering.caller.principal
    audience = principal.audience
    writer = Writer(
        name=principal.name,
        sees_everything=audience.sees_everything,
        sees=audience.sees,
        view=lambda snapshot: server.views.of(snapshot, audience),
    )
    try:
        tool = await gallery.intake.take(writer, given, replace=replace)
    except CallError as error:
        body = {"error": error.message, "code": error.code, "retryAfterS": error.retry_after_s}
        retry = {"retry-after": str(ceil(error.retry_after_s or 1))}  # whole seconds
        return json_response(body, 429, {**PAGE_HEADERS, **retry})
    except RefusedUploadError as error:
        finding = error.finding
        body = {
            "path": finding.path,
            "at": finding.at,
            "code": finding.code,
            "problem": finding.problem,
            "advice": finding.advice,
            "replaceable": error.replaceable,
        }
        raise RefusedError(_STATUS[error.reason], body) from None
    return json_response({"tool": tool, "page": f"/w/{tool}"}, 201)


_Page = partial(Page, scopes=frozenset({ADMIN, GALLERY}))

PAGES = (
    _Page(path="/", view=index_page, template="index.html"),
    _Page(path="/index.json", view=index_json),
    _Page(path="/w/{tool}.json", view=widget_as_json, methods=("GET", "POST")),
    _Page(path="/w/{tool}/problems.json", view=problems_as_json),
    _Page(path="/w/{tool}/problems", view=problems, template="problems.html"),
    _Page(path="/w/{tool}", view=widget_page, template="widget.html"),
    _Page(path="/w/{tool}/action", view=action, methods=("POST",)),
    _Page(path="/guide", view=guide_page, template="guide.html"),
    _Page(path="/guide/{name}", view=guide_page, template="guide.html"),
    _Page(path="/gallery/tile/{tool}", view=tile),
    _Page(path="/gallery/frame/{tool}", view=frame),
    _Page(path="/gallery/live", view=live),
    _Page(path="/gallery/static/{name}", view=static),
)

UPLOAD = Page(path="/gallery/files", view=upload, methods=("POST",), scopes=frozenset({WRITE}))


def gallery_routes(gallery: Gallery, guard: Guard) -> list[Route]:
    """The gallery's routes; files are taken only where they may be put into the folder."""
    return routes((*PAGES, UPLOAD) if gallery.intake else PAGES, gallery, guard)


def _demand_own_page(request: Request, what: str) -> None:
    """Refuse whatever no page of this very origin asks; other loopback ports may look."""
    host = request.headers.get("host", "")
    if request.headers.get("origin") not in (f"http://{host}", f"https://{host}"):
        raise RefusedError(403, {"error": f"only this gallery's own pages {what}"})


async def _json_object(request: Request) -> dict[str, Any]:
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            raise RefusedError(400, _NO_OBJECT)
    try:
        given = parse_sent(content)
    except NotJsonError:
        given = None
    if not isinstance(given, dict):
        raise RefusedError(400, _NO_OBJECT)
    return given
