"""The gallery's pages in a table, with their scopes and costs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from widgetd.author.browser.pictures import DEFAULT_WIDTH_PX, MAX_WIDTH_PX, MIN_WIDTH_PX
from widgetd.author.export.package import file_name, pack
from widgetd.author.gallery import drafts
from widgetd.author.gallery.detail import widget_json, widget_page
from widgetd.author.gallery.editing import (
    editable_origins,
    json_object,
    read_arguments,
    require_own_origin,
    save_origins,
    upload,
)
from widgetd.author.gallery.gallery import Gallery
from widgetd.author.gallery.index import index_json, index_page
from widgetd.author.gallery.live import events
from widgetd.author.gallery.problems import problem_json
from widgetd.author.gallery.results import result_of
from widgetd.author.gallery.test_results import read_picture, results_of
from widgetd.author.guide.component_details import describe_properties
from widgetd.author.guide.component_sheet import build_sheet
from widgetd.author.guide.guide import page, pages, render_blocks
from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.core.checks.images import find_refused_origins
from widgetd.core.widget import states
from widgetd.core.widget.components import load_vocabulary
from widgetd.core.widget.page_program import program_or_empty
from widgetd.core.widget.states import SAMPLE, ShownState
from widgetd.core.widget.theme import Theme
from widgetd.server.access.principal import ADMIN, GALLERY, WRITE
from widgetd.server.mcp.http_calls import take_action
from widgetd.server.render.view import frame_headers, page_of, view_html
from widgetd.server.web.app import routes
from widgetd.server.web.guard import Guard
from widgetd.server.web.page import (
    PAGE_HEADERS,
    STREAM_HEADERS,
    PageRoute,
    RefusedError,
    WebPage,
    caller_of,
)
from widgetd.server.web.static_files import cacheable, static_files, static_view
from widgetd.server.web.templating import html

if TYPE_CHECKING:
    from widgetd.author.browser.camera import Camera
    from widgetd.author.browser.picture import Screenshot


async def grid_page(gallery: Gallery, request: Request) -> dict[str, Any]:
    widget = gallery.widget(request)
    content = {"widget": widget, "states": states.list_states(widget)}
    content |= {"widths": states.GRID_WIDTHS_PX, "themes": states.THEMES}
    return {**gallery.layout(request), **content}


async def evidence(gallery: Gallery, request: Request) -> Response:
    results = results_of(gallery.file(gallery.widget(request)))
    path = "{id}/{name}".format_map(request.path_params)
    content = read_picture(path, results)
    if content is None:
        raise RefusedError(404, {"error": "there is no such picture of the last tests"})
    return Response(content, headers=PAGE_HEADERS, media_type="image/png")


async def problems(gallery: Gallery, request: Request) -> dict[str, Any]:
    """Show the warnings of a widget, as a part of its page.

    `origins` are the sample's, for a press to allow, if the caller may edit the sidecar.
    """
    widget, caller = gallery.widget(request), caller_of(request)
    origins: tuple[str, ...] = ()
    if editable_origins(gallery, widget, caller) is not None:
        with suppress(CallError):
            tree = states.show_state(widget, SAMPLE).tree(widget)
            allowed = {*widget.definition.image_origins, *gallery.image_origins}
            origins = find_refused_origins([tree], allowed)
    warnings = await gallery.problems.warnings(widget, caller.snapshot.theme)
    return {"problems": warnings, "origins": origins}


async def problems_as_json(gallery: Gallery, request: Request) -> list[Any]:
    theme = caller_of(request).snapshot.theme
    warnings = await gallery.problems.warnings(gallery.widget(request), theme)
    return [problem_json(problem) for problem in warnings]


async def picture(gallery: Gallery, request: Request) -> Response:
    camera, shot = await _read_request(gallery, request)
    taken = await camera.take(shot, owner=caller_of(request).principal.name)
    return Response(taken.content, headers=PAGE_HEADERS, media_type="image/png")


async def sheet(gallery: Gallery, request: Request) -> Response:
    owner = caller_of(request).principal.name
    taken = await _camera(gallery).take_states(gallery.widget(request), owner=owner)
    return Response(taken.content, headers=PAGE_HEADERS, media_type="image/png")


async def accessibility(gallery: Gallery, request: Request) -> list[dict[str, Any]]:
    camera, shot = await _read_request(gallery, request)
    return await camera.find_violations(shot, owner=caller_of(request).principal.name)


def _camera(gallery: Gallery) -> Camera:
    if gallery.camera is None:
        raise CallError("W3201", "there is no browser here to draw in")
    return gallery.camera


async def _read_request(gallery: Gallery, request: Request) -> tuple[Camera, Screenshot]:
    # Most galleries never draw a picture, and start sooner without the import.
    from widgetd.author.browser.picture import Screenshot  # noqa: PLC0415

    arguments = await read_arguments(request)
    camera = _camera(gallery)
    widget, query = gallery.widget(request), request.query_params
    key = query.get("state", SAMPLE)
    state = next((choice for choice in states.list_states(widget) if choice.key == key), None)
    content = (
        states.show_state(widget, key) if arguments is None else ShownState(arguments=arguments)
    )
    width = query.get("width", "")
    journal = gallery.server.rendering.journal
    with journal.rendering(widget.key, "" if arguments is None else journal.digest(arguments)):
        tree = content.tree(widget)
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


async def studio_file(gallery: Gallery, request: Request) -> Response:
    widget = gallery.widget(request)
    packed = await SYSTEM.threads.run_blocking(pack, widget)
    name = f"attachment; filename*=UTF-8''{quote(file_name(widget))}"
    headers = {**PAGE_HEADERS, "content-disposition": name}
    return Response(packed.content, headers=headers, media_type="application/json")


async def action(gallery: Gallery, request: Request) -> dict[str, Any]:
    gallery.widget(request)
    require_own_origin(request, "may act in a widget")
    return await take_action(
        gallery.server, await json_object(request), caller_of(request), dry_run=gallery.dry_run
    )


async def guide_page(gallery: Gallery, request: Request) -> dict[str, Any] | Response:
    guides = pages()
    name = request.path_params.get("name", next(iter(guides)))
    layout = {**gallery.layout(request), "pages": tuple(guides.values())}
    try:
        guide = page(name)
    except CallError as error:
        missing = {**layout, "page": None, "blocks": (), "problem": error.message}
        return HTMLResponse(html("guide.html", missing), 404, PAGE_HEADERS)
    return {**layout, "page": guide, "blocks": tuple(render_blocks(guide.text)), "problem": ""}


async def empty_frame(gallery: Gallery, request: Request) -> Response:
    return view_response(request, (), gallery.server.registry.current.theme)


async def components_page(gallery: Gallery, request: Request) -> dict[str, Any]:
    components = load_vocabulary().components.values()
    rows = [(component, describe_properties(component)) for component in components]
    return {**gallery.layout(request), "components": rows}


async def component_sheet(_gallery: Gallery, request: Request) -> dict[str, Any]:
    type_ = request.path_params["type"]
    if type_ not in load_vocabulary().components:
        raise RefusedError(404, {"error": f"there is no component '{type_}'"})
    return {"result": {"content": [], "structuredContent": build_sheet(type_)}}


async def tile(gallery: Gallery, request: Request) -> Response:
    content = gallery.tiles.tile(gallery.server, gallery.widget(request))
    return Response(content, headers=PAGE_HEADERS, media_type="application/json")


async def frame(gallery: Gallery, request: Request) -> Response:
    """Answer with the page of MCP hosts, and the origins of the widget's images.

    With `?pick`, it reports the clicked component, and draws its input alone, else it outlines the
    elements named by the page.
    """
    widget, picks = gallery.widget(request), "pick" in request.query_params
    folder, name = ("editor", "pick.js") if picks else ("static", "point.js")
    script = static_files("widgetd.author.gallery", folder)[name].decode()
    program = b"" if picks else program_or_empty(widget)
    theme = gallery.server.registry.current.theme
    images, script = gallery.images(widget), f"<script>{script}</script>"
    return view_response(request, images, theme, program, script)


def view_response(
    request: Request, images: Iterable[str], theme: Theme, program: bytes = b"", script: str = ""
) -> Response:
    page = page_of(view_html(), program, theme).replace("</body>", f"{script}</body>")
    return cacheable(request, page.encode(), "text/html", frame_headers(images))


async def live(gallery: Gallery, request: Request) -> Response:
    server = gallery.server
    principal = caller_of(request).principal
    stream = events(
        server.registry,
        lambda now: server.views.of(now, principal.audience),
        gallery.stop,
        server.store.renders,
        principal.name,
    )
    return StreamingResponse(stream, media_type="text/event-stream", headers=STREAM_HEADERS)


async def stored_render(gallery: Gallery, request: Request) -> dict[str, Any]:
    try:
        render_id, caller = request.path_params["id"], caller_of(request)
        render = await gallery.server.rendering.load(render_id, caller)
    except CallError as error:
        raise RefusedError(404, {"error": error.message}) from None
    return {"result": result_of(gallery.server, render), "summary": render.text}


_Page = partial(WebPage, scopes=frozenset({ADMIN, GALLERY}))
_Free = partial(_Page, cost=0)
_Linked = partial(_Page, cross_site="navigate")
_Drawn = partial(_Page, methods=("GET", "POST"))

PAGES = (
    _Linked(path="/", view=index_page, template="index.html"),
    _Page(path="/index.json", view=index_json),
    _Page(path="/w/{tool}.json", view=widget_json, methods=("GET", "POST")),
    _Page(path="/w/{tool}/states/{state}.json", view=widget_json),
    # Worked out once for each version of a widget, as tiles are.
    _Free(path="/w/{tool}/problems.json", view=problems_as_json),
    _Free(path="/w/{tool}/problems", view=problems, template="problems.html"),
    _Drawn(path="/w/{tool}/picture.png", view=picture),
    _Drawn(path="/w/{tool}/accessibility.json", view=accessibility),
    _Page(path="/w/{tool}/sheet.png", view=sheet),
    _Page(path="/w/{tool}/studio.widget", view=studio_file),
    _Page(path="/w/{tool}/tests/{id}/{name}", view=evidence),
    _Linked(path="/w/{tool}/grid", view=grid_page, template="grid.html"),
    _Linked(path="/w/{tool}", view=widget_page, template="widget.html"),
    # Charged as a call.
    _Free(path="/w/{tool}/action", view=action, methods=("POST",)),
    _Linked(path="/guide", view=guide_page, template="guide.html"),
    _Linked(path="/guide/{name}", view=guide_page, template="guide.html"),
    _Linked(path="/components", view=components_page, template="components.html"),
    _Free(path="/gallery/sheet/{type}.json", view=component_sheet),
    _Free(path="/gallery/tile/{tool}", view=tile),
    _Free(path="/gallery/frame/{tool}", view=frame),
    _Free(path="/gallery/frame", view=empty_frame),
    _Free(path="/gallery/live", view=live, waits=True),
    _Free(path="/gallery/render/{id}", view=stored_render),
    _Free(path="/gallery/static/{name}", view=static_view("widgetd.author.gallery")),
)

_Editing = partial(WebPage, methods=("POST",), scopes=frozenset({WRITE}))
_Edited = partial(WebPage, scopes=frozenset({WRITE}))

EDITING = (
    _Editing(path="/gallery/files", view=upload),
    _Editing(path="/w/{tool}/origins", view=save_origins),
    _Edited(path="/gallery/edit/{tool}", view=drafts.parts),
    _Edited(path="/gallery/edit/{tool}/previous", view=drafts.previous),
    _Edited(path="/gallery/vocabulary.json", view=drafts.vocabulary, cost=0),
    _Edited(
        path="/gallery/editor/{name}", view=static_view("widgetd.author.gallery", "editor"), cost=0
    ),
    _Editing(path="/gallery/draft", view=drafts.save_draft),
    _Editing(path="/gallery/draft/trial", view=drafts.try_draft),
)


def gallery_routes(gallery: Gallery, guard: Guard) -> list[PageRoute]:
    return routes((*PAGES, *EDITING) if gallery.uploads else PAGES, gallery, guard)
