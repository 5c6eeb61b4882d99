"""The chat's pages in one table: ChatKit's one address, the page, and what the page draws from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from chatkit.server import StreamingResult
from chatkit.store import NotFoundError
from chatkit.types import WidgetItem
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from widgetd.chat.model import SCRIPTED
from widgetd.chat.server import ChatServer
from widgetd.errors import CallError
from widgetd.mcp.http_calls import keep_shown
from widgetd.mcp.principal import ADMIN, CHAT, Principal
from widgetd.mcp.server import Server
from widgetd.store.contract import StoredRender
from widgetd.web.app import PAGE_HEADERS, Page, RefusedError, routes
from widgetd.web.gallery.detail import result_of
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.pages import frame, live, view_response
from widgetd.web.guard import Guard
from widgetd.web.static_files import cacheable, static_file, static_files

MOST_BYTES = 1024 * 1024
"""Of a request: a long message, or a form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """What the pages show.

    Attributes:
        server: Whose widgets are shown.
        backend: The ChatKit server.
        origins: Browser origins that may talk to it besides our own page's.
    """

    server: Server
    backend: ChatServer
    origins: Sequence[str] = ()

    @property
    def owner(self) -> Principal:
        """Who asks."""
        return self.server.rendering.caller.principal


async def chatkit(chat: Chat, request: Request) -> Response:
    """ChatKit's protocol: a request in JSON; a stream of events, or JSON."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    if origin not in (f"http://{host}", f"https://{host}", *chat.origins):
        said = "only this chat's own page talks here; name others with --cors-origin"
        raise RefusedError(403, {"error": said})
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise RefusedError(413, {"error": f"expected at most {MOST_BYTES} bytes, got more"})
    try:
        answer = await chat.backend.process(bytes(body), chat.owner)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise RefusedError(400, {"error": f"this is no request of ChatKit's ({problem})"}) from None
    except NotFoundError as error:
        raise RefusedError(404, {"error": f"there is no {error}"}) from None
    except NotImplementedError as error:
        raise RefusedError(501, {"error": str(error)}) from None
    if isinstance(answer, StreamingResult):
        headers = {**PAGE_HEADERS, "x-accel-buffering": "no"}
        return StreamingResponse(_closed(answer), media_type="text/event-stream", headers=headers)
    return Response(answer.json, headers=PAGE_HEADERS, media_type="application/json")


async def state(chat: Chat, _request: Request) -> dict[str, Any]:
    """Which model is asked, how its servers are, and which views to have ready."""
    backend, model = chat.backend, chat.backend.model
    async with backend.connected(chat.owner) as (_servers, states):
        servers = states()
    widgets = chat.server.rendering.caller.snapshot.widgets
    return {
        "model": model.name,
        "scripted": model.name == SCRIPTED,
        "servers": servers,
        "preload": [tool for tool, one in widgets.items() if one.definition.sidecar.preload],
    }


async def widget(chat: Chat, request: Request) -> dict[str, Any]:
    """A widget of a thread as it is drawn now; as it was, where it is served no more."""
    thread, item = request.path_params["thread"], request.path_params["item"]
    threads, owner = chat.backend.threads, chat.owner
    try:
        shown = await threads.load_item(thread, item, owner)
    except NotFoundError:
        raise RefusedError(404, {"error": f"there is no {item}"}) from None
    facts = await threads.noted(thread, item, owner)
    found = await rendered(chat.server, facts)
    if found is None:
        tree = shown.widget.model_dump(exclude_none=True) if isinstance(shown, WidgetItem) else {}
        return {"tool": "", "title": "A widget", "result": {"structuredContent": tree}}
    if found.id != facts.get("render"):
        await threads.note(thread, item, {**facts, "render": found.id}, owner)
    served = chat.server.rendering.caller.snapshot.widgets[found.tool]
    return {
        "tool": found.tool,
        "title": served.definition.title,
        "ui": orjson.loads(found.ui)["uiMetadata"],
        "result": result_of(found, "split"),
    }


async def rendered(server: Server, facts: Mapping[str, Any]) -> StoredRender | None:
    """The render that a widget of a thread shows now; None where there is none any more.

    What was drawn is kept as long as the widget is the same, so that whoever waits for what is
    done in it goes on waiting.
    """
    rendering, render_id = server.rendering, facts.get("render", "")
    served = rendering.caller.snapshot.widgets.get(facts.get("tool", ""))
    if served is None:
        return None
    try:
        kept = await rendering.stored(render_id)
    except CallError:
        kept = None
    arguments = facts.get("arguments")
    if kept is not None and (arguments is None or orjson.loads(kept.mark)["digest"] == served.key):
        return kept
    if arguments is None:
        return None
    try:
        made = rendering.make(served, arguments, server.registry.current.generation)
    except CallError:
        return kept
    await keep_shown(server, made)
    return made


async def redrawn(server: Server, _item: str, facts: Mapping[str, Any]) -> Any:
    """The tree that a widget of a thread shows now; None where there is none any more."""
    render = await rendered(server, facts)
    return None if render is None else orjson.loads(render.tree)


async def seen(chat: Chat, request: Request) -> dict[str, Any]:
    """What the model was told in the last turn of a thread, and what it said."""
    try:
        return await chat.backend.threads.noted(request.path_params["thread"], "seen", chat.owner)
    except NotFoundError as error:
        raise RefusedError(404, {"error": f"there is no {error}"}) from None


async def page(_chat: Chat, request: Request) -> Response:
    """The page."""
    return cacheable(request, static_files("widgetd.chat")["chat.html"], "text/html", PAGE_HEADERS)


async def static(_chat: Chat, request: Request) -> Response:
    """A file of the page."""
    return static_file(request, "widgetd.chat", PAGE_HEADERS)


async def bare_frame(_gallery: Gallery, request: Request) -> Response:
    """The view for a widget that this daemon does not serve; it loads no images."""
    return view_response(request, ())


_Page = partial(Page, scopes=frozenset({ADMIN, CHAT}))

PAGES = (
    _Page(path="/chatkit", view=chatkit, methods=("POST",)),
    _Page(path="/chat", view=page),
    _Page(path="/chat/state", view=state),
    _Page(path="/chat/widgets/{thread}/{item}", view=widget),
    _Page(path="/chat/seen/{thread}", view=seen),
    _Page(path="/chat/static/{name}", view=static),
)

GALLERY_PAGES = (
    _Page(path="/chat/frame", view=bare_frame),
    _Page(path="/chat/frame/{tool}", view=frame),
    _Page(path="/chat/live", view=live),
)
"""What the chat shows as the gallery does, for those who may chat."""


def chat_routes(chat: Chat, gallery: Gallery, guard: Guard) -> list[Route]:
    """The chat's routes."""
    return routes(PAGES, chat, guard) + routes(GALLERY_PAGES, gallery, guard)


async def _closed(answer: StreamingResult) -> AsyncIterator[bytes]:
    """The events of `answer`; whoever goes away ends the turn."""
    async with aclosing(answer.json_events) as events:
        async for event in events:
            yield event
