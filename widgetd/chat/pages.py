"""The chat's pages in one table: ChatKit's one address, the page, and what the page draws from."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import orjson
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from widgetd.access.principal import ADMIN, CHAT, Caller, Principal
from widgetd.chat.opening import SCRIPTED
from widgetd.errors import CallError
from widgetd.mcp.http_calls import (
    caller_for,
    readable_payload,
    store_if_interactive,
    take_action,
)
from widgetd.mcp.server import Server
from widgetd.store.contract import StoredRender
from widgetd.web.app import routes
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.pages import frame, live, view_response
from widgetd.web.gallery.results import result_of
from widgetd.web.guard import Guard
from widgetd.web.page import PAGE_HEADERS, Page, PageRoute, RefusedError, body_of, caller_of
from widgetd.web.static_files import cacheable, static_file, static_files

if TYPE_CHECKING:
    from widgetd.chat.backend.server import ChatServer

MOST_BYTES = 1024 * 1024
"""Of a request: a long message, or a form."""


@dataclass(eq=False)
class Chat:
    """What the pages show.

    Attributes:
        make: Makes the ChatKit server. Its libraries take longer to import than all others.
        origins: Browser origins that may talk to it besides our own page's.
    """

    server: Server
    make: Callable[[], ChatServer]
    origins: Sequence[str] = ()
    _made: anyio.Event = field(default_factory=anyio.Event)
    _backend: ChatServer | None = None

    async def open(self) -> None:
        """Make the ChatKit server, beside what is served meanwhile."""
        self._backend = await anyio.to_thread.run_sync(self.make)
        self._made.set()

    async def backend(self) -> ChatServer:
        """The ChatKit server, as soon as it is there."""
        while self._backend is None:
            await self._made.wait()
        return self._backend


async def chatkit(chat: Chat, request: Request) -> Response:
    """ChatKit's protocol: a request in JSON; a stream of events, or JSON."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    if origin not in (f"http://{host}", f"https://{host}", *chat.origins):
        said = "only this chat's own page talks here; name others with --cors-origin"
        raise RefusedError(403, {"error": said})
    body = await body_of(request, MOST_BYTES)
    if body is None:
        raise RefusedError(413, {"error": f"expected at most {MOST_BYTES} bytes, got more"})
    backend = await chat.backend()
    try:
        answer: Any = await backend.process(body, caller_of(request).principal)
        if not hasattr(answer, "json_events"):
            return Response(answer.json, headers=PAGE_HEADERS, media_type="application/json")
        # Most of what is wrong with a request is known before the first event.
        first = await anext(answer.json_events)
    except (LookupError, ValueError, NotImplementedError) as error:
        status, said = _problem(error)
        raise RefusedError(status, {"error": said}) from None
    headers = {**PAGE_HEADERS, "x-accel-buffering": "no"}
    events = _events(first, answer.json_events)
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


async def _events(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    """The events of a turn; whoever goes away ends it."""
    yield first
    async with aclosing(rest) as events:
        try:
            async for event in events:
                yield event
        except (LookupError, ValueError, NotImplementedError) as error:
            _status, said = _problem(error)
            told = {"type": "error", "code": "custom", "message": said, "allow_retry": False}
            yield b"data: " + orjson.dumps(told) + b"\n\n"


def _problem(error: Exception) -> tuple[int, str]:
    """What is wrong with a request, as a status and a sentence."""
    match error:
        case ValidationError():
            problem = error.errors(include_url=False, include_input=False)[0]["msg"]
            return 400, f"this is no request of ChatKit's ({problem})"
        case LookupError():
            return 404, f"there is no {error.args[0]}"
        case ValueError():
            return 400, str(error)
    return 501, str(error)


async def state(chat: Chat, request: Request) -> dict[str, Any]:
    """Which model is asked, how its servers are, and which views to have ready."""
    backend = await chat.backend()
    model, caller = backend.model, caller_of(request)
    async with backend.connected(caller.principal) as (_servers, states):
        servers = states()
    widgets = caller.snapshot.widgets
    return {
        "model": model.name,
        "scripted": model.name == SCRIPTED,
        "servers": servers,
        "preload": [tool for tool, one in widgets.items() if one.definition.sidecar.preload],
    }


async def widget(chat: Chat, request: Request) -> dict[str, Any]:
    """A widget of a thread as it is drawn now; as it was, where it is served no more."""
    thread, item = request.path_params["thread"], request.path_params["item"]
    threads, caller = (await chat.backend()).threads, caller_of(request)
    owner = caller.principal
    try:
        shown: Any = await threads.load_item(thread, item, owner)
    except LookupError:
        raise RefusedError(404, {"error": f"there is no {item}"}) from None
    facts = await threads.noted(thread, item, owner)
    found = await rendered(chat.server, facts, caller)
    if found is None:
        tree = shown.widget.model_dump(exclude_none=True) if shown.type == "widget" else {}
        return {"tool": "", "title": "A widget", "result": {"structuredContent": tree}}
    if found.id != facts.get("render"):
        await threads.note(thread, item, {**facts, "render": found.id}, owner)
    served = caller.snapshot.widgets[found.tool]
    return {
        "tool": found.tool,
        "title": served.definition.title,
        "ui": orjson.loads(found.ui)["uiMetadata"],
        "result": result_of(found, "split"),
    }


async def rendered(server: Server, facts: Mapping[str, Any], caller: Caller) -> StoredRender | None:
    """The render that a widget of a thread shows now; None where there is none any more.

    What was drawn is kept as long as the widget is the same, so that whoever waits for what is
    done in it goes on waiting.
    """
    rendering, render_id = server.rendering, facts.get("render", "")
    served = caller.snapshot.widgets.get(facts.get("tool", ""))
    if served is None:
        return None
    try:
        kept = await rendering.load(render_id, caller)
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
    await store_if_interactive(server, made, caller)
    return made


async def redrawn(server: Server, facts: Mapping[str, Any], owner: Principal) -> Any:
    """The tree that a widget of a thread shows now; None where there is none any more."""
    render = await rendered(server, facts, caller_for(server, owner))
    return None if render is None else orjson.loads(render.tree)


async def take(
    server: Server, arguments: Mapping[str, Any], owner: Principal
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Take an action that the chat's user did.

    Returns:
        The answer of `widget_action`, and the payload as the agent may read it: the chat does not
        await the action, so passwords and sensitive fields are not in it.
    """
    caller = caller_for(server, owner)
    answer = await take_action(server, arguments, caller, delegated=True)
    refused = answer.get("isError")
    return answer, {} if refused else await readable_payload(server, arguments, caller)


def sensitive_paths(server: Server, tool: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the dotted paths in a call's arguments that the called widget calls sensitive."""
    # Of the current snapshot: the agent's call may see a widget that its turn began without.
    widgets = server.registry.current.widgets
    if tool in widgets:
        return widgets[tool].definition.sidecar.sensitive
    if "arguments" not in arguments:
        return ()
    # A built-in tool that passes arguments on: to the widget of a name, or that of a render.
    named = widgets.get(str(arguments.get("name")))
    called = widgets.values() if named is None else (named,)
    return tuple(
        {f"arguments.{path}" for one in called for path in one.definition.sidecar.sensitive}
    )


async def seen(chat: Chat, request: Request) -> dict[str, Any]:
    """What the model was told in the last turn of a thread, and what it said."""
    thread, backend = request.path_params["thread"], await chat.backend()
    try:
        return await backend.last_turn(thread, caller_of(request).principal)
    except LookupError:
        raise RefusedError(404, {"error": f"there is no {thread}"}) from None


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
_Free = partial(_Page, cost=0)

PAGES = (
    _Page(path="/chatkit", view=chatkit, methods=("POST",), waits=True),
    _Free(path="/chat", view=page, cross_site="navigate"),
    _Page(path="/chat/state", view=state),
    _Free(path="/chat/widgets/{thread}/{item}", view=widget),
    _Page(path="/chat/seen/{thread}", view=seen),
    _Free(path="/chat/static/{name}", view=static),
)

GALLERY_PAGES = (
    _Free(path="/chat/frame", view=bare_frame),
    _Free(path="/chat/frame/{tool}", view=frame),
    _Free(path="/chat/live", view=live),
)
"""What the chat shows as the gallery does, for those who may chat."""


def chat_routes(chat: Chat, gallery: Gallery, guard: Guard) -> list[PageRoute]:
    """The chat's routes."""
    return routes(PAGES, chat, guard) + routes(GALLERY_PAGES, gallery, guard)
