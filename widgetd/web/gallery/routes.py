"""Where the gallery's pages are, and who may do what there."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio.to_thread
import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from widgetd.mcp.http_calls import take_action
from widgetd.web.gallery.detail import widget_json, widget_page
from widgetd.web.gallery.faults import problem_json, problem_list
from widgetd.web.gallery.frame import frame_page
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.index import index_json, index_page
from widgetd.web.gallery.layout import HEADERS, STATIC, remembered, static
from widgetd.web.gallery.live import events
from widgetd.web.gallery.not_found import missing_page
from widgetd.web.gallery.preview import glimpsed
from widgetd.web.gallery.requests import NO_OBJECT, decoded, is_ours, json_object
from widgetd.web.gallery.upload import RefusedError, take
from widgetd.widget.states import SAMPLE, arguments_of
from widgetd.widget.widget import Widget

Answer = Callable[[Request], Awaitable[Response]]
OfWidget = Callable[[Request, Widget], Awaitable[Response]]


def gallery_routes(gallery: Gallery) -> list[Route]:
    """Every page of the gallery, and what the pages fetch."""
    routes = [
        _get("/", _index(gallery)),
        _get("/index.json", _index_json(gallery)),
        Route("/w/{tool}.json", _widget_json(gallery), methods=["GET", "POST"]),
        _get("/w/{tool}/problems.json", _problems_json(gallery)),
        _get("/w/{tool}/problems", _problems(gallery)),
        _get("/w/{tool}", _widget(gallery)),
        Route("/w/{tool}/action", _action(gallery), methods=["POST"]),
        _get("/gallery/tile/{tool}", _tile(gallery)),
        _get("/gallery/frame/{tool}", _frame(gallery)),
        _get("/gallery/live", _live(gallery)),
        _get(STATIC + "/{name}", _static),
    ]
    if gallery.upload:
        routes.append(Route("/gallery/files", _upload(gallery), methods=["POST"]))
    return routes


def _get(path: str, answer: Answer) -> Route:
    return Route(path, answer, methods=["GET"])


def _index(gallery: Gallery) -> Answer:
    async def answer(request: Request) -> Response:
        return await index_page(gallery, request.query_params)

    return answer


def _index_json(gallery: Gallery) -> Answer:
    async def answer(request: Request) -> Response:
        return _json(await index_json(gallery, request.query_params))

    return answer


def _of_widget(gallery: Gallery, found: OfWidget, *, page: bool = False) -> Answer:
    """Answers with `found` for the widget that the address names, or says that there is none."""

    async def answer(request: Request) -> Response:
        tool = request.path_params["tool"]
        widget = gallery.snapshot.widgets.get(tool)
        if widget is not None:
            return await found(request, widget)
        if page:
            return missing_page(gallery, tool, request.query_params)
        return _json({"error": f"there is no widget '{tool}'"}, 404)

    return answer


def _widget(gallery: Gallery) -> Answer:
    async def found(request: Request, widget: Widget) -> Response:
        return await widget_page(gallery, widget, request.query_params)

    return _of_widget(gallery, found, page=True)


def _widget_json(gallery: Gallery) -> Answer:
    async def found(request: Request, widget: Widget) -> Response:
        arguments = None
        if request.method == "POST":
            arguments = await json_object(request)
            if arguments is None:
                return _json(NO_OBJECT, 400)
        return _json(await widget_json(gallery, widget, request.query_params, arguments))

    return _of_widget(gallery, found)


def _problems(gallery: Gallery) -> Answer:
    async def found(_request: Request, widget: Widget) -> Response:
        return problem_list(await gallery.problems.warnings(widget))

    return _of_widget(gallery, found)


def _problems_json(gallery: Gallery) -> Answer:
    async def found(_request: Request, widget: Widget) -> Response:
        return _json([problem_json(one) for one in await gallery.problems.warnings(widget)])

    return _of_widget(gallery, found)


def _action(gallery: Gallery) -> Answer:
    async def found(request: Request, _widget: Widget) -> Response:
        if not is_ours(request):
            return _json({"error": "only this gallery's own pages may act in a widget"}, 403)
        arguments = await json_object(request)
        if arguments is None:
            return _json(NO_OBJECT, 400)
        return _json(await take_action(gallery.server, arguments))

    return _of_widget(gallery, found)


def _tile(gallery: Gallery) -> Answer:
    async def found(_request: Request, widget: Widget) -> Response:
        return _json(glimpsed(gallery.server, widget, arguments_of(widget, SAMPLE)))

    return _of_widget(gallery, found)


def _frame(gallery: Gallery) -> Answer:
    async def found(request: Request, widget: Widget) -> Response:
        return frame_page(gallery, widget, request)

    return _of_widget(gallery, found)


def _live(gallery: Gallery) -> Answer:
    async def answer(_request: Request) -> Response:
        told = events(gallery.server.registry, gallery.view(), gallery.stop)
        # nginx would hold the events back until it has a page of them.
        headers = {**HEADERS, "x-accel-buffering": "no"}
        return StreamingResponse(told, media_type="text/event-stream", headers=headers)

    return answer


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    try:
        content = static(name)
    except FileNotFoundError:
        return Response(status_code=404)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return remembered(request, content, kind, HEADERS)


def _upload(gallery: Gallery) -> Answer:
    async def answer(request: Request) -> Response:
        if not is_ours(request):
            return _json({"error": "only this gallery's own pages may put files here"}, 403)
        files = decoded(await json_object(request))
        if files is None:
            return _json(NO_OBJECT, 400)
        replace = request.query_params.get("replace") == "1"
        try:
            tool = await anyio.to_thread.run_sync(lambda: take(gallery, files, replace=replace))
        except RefusedError as error:
            return _json(error.wire(), error.status)
        return _json({"tool": tool, "page": f"/w/{tool}"}, 201)

    return answer


def _json(value: Mapping[str, Any] | list[Any], status: int = 200) -> Response:
    content = orjson.dumps(value, default=dict)
    return Response(content, status, HEADERS, media_type="application/json")
