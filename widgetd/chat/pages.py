"""The chat's pages in a table: ChatKit's single address, the page, and its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import orjson
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from widgetd.author.gallery.gallery import Gallery
from widgetd.author.gallery.pages import empty_frame, frame, live
from widgetd.author.gallery.results import result_of
from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.chat.limits import LIMITS, MESSAGE_TOO_LONG, ChatLimits
from widgetd.chat.preflight import SCRIPTED
from widgetd.chat.samples import list_suggestions
from widgetd.server.access.principal import ADMIN, CHAT, Caller, Principal
from widgetd.server.mcp.builtin.consent import ask_by_card
from widgetd.server.mcp.http_calls import (
    caller_for,
    readable_payload,
    store_if_interactive,
    take_action,
)
from widgetd.server.mcp.server import Server
from widgetd.server.store.contract import Decision, StoredRender
from widgetd.server.store.limits import LIMITS as STORE_LIMITS
from widgetd.server.web.app import routes
from widgetd.server.web.guard import Guard
from widgetd.server.web.page import (
    PAGE_HEADERS,
    STREAM_HEADERS,
    PageRoute,
    RefusedError,
    WebPage,
    body_of,
    caller_of,
    own_origins,
)
from widgetd.server.web.static_files import static_view

if TYPE_CHECKING:
    from widgetd.chat.backend.server import ChatServer
    from widgetd.upstreams.connection import Upstream

_MESSAGES = frozenset({"threads.create", "threads.add_user_message"})
_TURNS = _MESSAGES | {
    "threads.add_client_tool_output",
    "threads.add_structured_input",
    "threads.custom_action",
    "threads.retry_after_item",
}
"""The types of ChatKit's requests that start a turn, and those of them with a message."""

_REQUEST_ERRORS = (LookupError, ValueError, NotImplementedError)
"""What ChatKit raises of a request. A `CallError` is none of them: its own status answers it."""


@dataclass(eq=False)
class Chat:
    """The chat's ChatKit server and the rules of its pages.

    Attributes:
        make: Builds the ChatKit server, whose libraries take longer to import than all others.
        origins: Browser origins allowed besides our own page's.
        limits: The limits of a user.
        upstreams: Returns the upstreams for a user's agent.
    """

    server: Server
    make: Callable[[], ChatServer]
    origins: Sequence[str] = ()
    limits: ChatLimits = LIMITS
    upstreams: Callable[[Principal], Sequence[Upstream]] = lambda _user: ()
    _ready: anyio.Event = field(default_factory=anyio.Event)
    _backend: ChatServer | None = None
    _turns: Counter[str] = field(default_factory=Counter)

    async def open(self) -> None:
        """Build the ChatKit server, while other requests are served."""
        self._backend = await SYSTEM.threads.run_blocking(self.make)
        self._ready.set()

    def close(self) -> None:
        if self._backend is not None:
            self._backend.threads.close()

    async def backend(self) -> ChatServer:
        while self._backend is None:
            await self._ready.wait()
        return self._backend

    @asynccontextmanager
    async def admit_turn(self, user: Principal) -> AsyncIterator[None]:
        """Charge a turn and hold a place of its user while the block runs.

        The places are separate from those of calls: a turn waits for the calls of its own agent.

        Raises:
            CallError: The user's rate or places are used up (W2201, W2202).
        """
        places = self.server.store.limits.slot(f"turns of {user.name}")
        async with places as place:
            place.check()
            if self._turns[user.name] >= self.limits.turns_at_once:
                Decision(code="W2202", retry_after_s=STORE_LIMITS.slot_retry_s).check()
            self._turns[user.name] += 1
            try:
                await self.charge(user, self.limits.turn_cost)
                yield
            finally:
                self._turns[user.name] -= 1
                self._turns += Counter()  # without those at zero

    async def charge(self, user: Principal, cost: float) -> None:
        """Charge `cost` calls to the user's rate.

        Raises:
            CallError: The rate is used up (W2201).
        """
        (await self.server.store.limits.take(user.name, cost=cost)).check()


class TurnResponse(StreamingResponse):
    """The events of a turn, ended with the connection."""

    def __init__(self, first: bytes, rest: AsyncGenerator[bytes]) -> None:
        async def events() -> AsyncIterator[bytes]:
            yield first
            async for event in rest:
                yield event

        super().__init__(events(), media_type="text/event-stream", headers=STREAM_HEADERS)
        self._turn = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Also where the client left before the first event: closing `events` would not do it.
        async with aclosing(self._turn):
            await super().__call__(scope, receive, send)


async def chatkit(chat: Chat, request: Request) -> Response:
    """Answer a request of ChatKit's protocol with a stream of events, or with JSON."""
    if request.headers.get("origin") not in (*own_origins(request), *chat.origins):
        problem = "only this chat's own page talks here; name others with --cors-origin"
        raise RefusedError(403, {"error": problem})
    most, user = chat.limits.request_bytes, caller_of(request).principal
    body = await body_of(request, most)
    if body is None:
        raise RefusedError(413, {"error": f"expected at most {most} bytes, got more"})
    kind = _kind(body, chat.limits)
    backend = await chat.backend()
    try:
        if kind in _TURNS:
            turn = _turn(chat, backend, body, user)
            # Most faults of a request show before the first event, where they still have a status.
            return TurnResponse(await anext(turn), turn)
        await chat.charge(user, 1)
        answer: Any = await backend.process(body, user)
        return Response(answer.json, headers=PAGE_HEADERS, media_type="application/json")
    except _REQUEST_ERRORS as error:
        status, problem = _problem(error)
        raise RefusedError(status, {"error": problem}) from None


def _kind(body: bytes, limits: ChatLimits) -> str:
    """Return the type of a request, or raise `RefusedError` if its message is too long (W2503)."""
    try:
        request = orjson.loads(body)
        kind = str(request["type"])
        value = request["params"]["input"] if kind in _MESSAGES else None
    except (ValueError, KeyError, TypeError):
        return ""  # ChatKit says what is wrong with it.
    most = limits.message_bytes
    if len(orjson.dumps(value)) > most:
        problem = f"{MESSAGE_TOO_LONG}: a message has at most {most} bytes; send less"
        raise RefusedError(413, {"error": problem, "code": MESSAGE_TOO_LONG})
    return kind


async def _turn(
    chat: Chat, backend: ChatServer, body: bytes, user: Principal
) -> AsyncGenerator[bytes]:
    started = False
    async with chat.admit_turn(user):
        answer: Any = await backend.process(body, user)
        async with aclosing(answer.json_events) as events:
            try:
                async for event in events:
                    started = True
                    yield event
            except _REQUEST_ERRORS as error:
                if not started:
                    raise
                _status, problem = _problem(error)
                event = {
                    "type": "error",
                    "code": "custom",
                    "message": problem,
                    "allow_retry": False,
                }
                yield b"data: " + orjson.dumps(event) + b"\n\n"


def _problem(error: Exception) -> tuple[int, str]:
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
    """Return the model's name, the state of its servers, and the views to load ahead."""
    backend = await chat.backend()
    model, caller = backend.model, caller_of(request)
    async with backend.connect(caller.principal) as (_servers, states):
        servers = states()
    widgets = caller.snapshot.widgets
    return {
        "model": model.name,
        "scripted": model.name == SCRIPTED,
        "servers": servers,
        "suggestions": list_suggestions(caller.snapshot, chat.upstreams(caller.principal)),
        "preload": [tool for tool, widget in widgets.items() if widget.definition.sidecar.preload],
    }


async def widget(chat: Chat, request: Request) -> dict[str, Any]:
    """Return a widget of a thread as it is drawn now, or as it was if it is no longer served."""
    thread, item = request.path_params["thread"], request.path_params["item"]
    threads, caller = (await chat.backend()).threads, caller_of(request)
    owner = caller.principal
    try:
        entry: Any = await threads.load_item(thread, item, owner)
    except LookupError:
        raise RefusedError(404, {"error": f"there is no {item}"}) from None
    facts = await threads.load_note(thread, item, owner)
    render = await render_of(chat.server, facts, caller)
    if render is None:
        tree = entry.widget.model_dump(exclude_none=True) if entry.type == "widget" else {}
        return {"tool": "", "title": "A widget", "result": {"structuredContent": tree}}
    if render.id != facts.get("render"):
        await threads.save_note(thread, item, {**facts, "render": render.id}, owner)
    # The page is told of new versions, and does not ask for them.
    with chat.server.rendering.feeds.following(render, LIMITS.follow_s):
        served = caller.snapshot.widgets.get(render.tool)
    return {
        "tool": render.tool,
        "title": "A question" if served is None else served.definition.title,
        "ui": orjson.loads(render.ui).get("uiMetadata", {}),
        "result": result_of(chat.server, render),
    }


async def render_of(
    server: Server, facts: Mapping[str, Any], caller: Caller
) -> StoredRender | None:
    """Return the present render of a widget in a thread, None if it cannot be drawn.

    While the widget is unchanged this is the first render, because a caller may await its actions.
    """
    rendering, render_id = server.rendering, facts.get("render", "")
    served = caller.snapshot.widgets.get(facts.get("tool", ""))
    if served is None and facts.get("tool"):
        return None
    try:
        stored = await rendering.load(render_id, caller)
    except CallError:
        stored = None
    if served is None:  # a card with a question before a call
        return stored
    arguments = facts.get("arguments")
    if stored is not None and (arguments is None or stored.digest == served.key):
        return stored
    if arguments is None:
        return None
    try:
        fresh = rendering.compute_now(served, arguments, server.registry.current.generation)
    except CallError:
        return stored
    await store_if_interactive(server, fresh, caller)
    return fresh


async def redraw(server: Server, facts: Mapping[str, Any], owner: Principal) -> Any:
    """Return the present tree of a widget in a thread, None if it cannot be drawn."""
    render = await render_of(server, facts, caller_for(server, owner))
    return None if render is None else orjson.loads(render.tree)


async def act(
    server: Server, arguments: Mapping[str, Any], owner: Principal
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Take an action of the chat's user.

    Returns:
        The answer of `widget_action`, the payload as the agent may read it: the chat does not
        await the action, so passwords and sensitive fields are not in it, and the outcome in
        words for people.
    """
    caller = caller_for(server, owner)
    # This request is the user's own. The agent cannot make it.
    render = await server.store.renders.get(str(arguments["render_id"]))
    if render is not None and render.press:
        arguments = {**arguments, "press": render.press}
    # On a card the user allows what the agent may not do by itself.
    delegated = render is None or render.tool != ""
    answer = await take_action(server, arguments, caller, delegated=delegated)
    if answer.get("isError"):
        return answer, {}, ""
    outcome = answer.get("structuredContent", {})
    if not delegated:
        return answer, {"outcome": outcome.get("line", "")}, str(outcome.get("note", ""))
    readable, words = await readable_payload(server, arguments, caller)
    return answer, readable, words


async def ask_upstream_call(
    server: Server, owner: Principal, upstream: str, tool: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    context = server.context(caller_for(server, owner)).of("upstreams")
    row = context.consent["call_upstream"]
    call = {"name": upstream, "tool": tool, "arguments": arguments}
    question = None if row.asks is None else row.asks(context, call)
    if question is None:  # the list of tools has changed since
        raise CallError("W5004", f"the upstream '{upstream}' has no such tool any more")
    card = await ask_by_card(context, row, call, question)
    return card.values()


def sensitive_paths(server: Server, tool: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the dotted paths of sensitive arguments of the called widget in a call's arguments."""
    # Of the current snapshot: the agent's call may see a widget added since the start of its turn.
    widgets = server.registry.current.widgets
    if tool in widgets:
        return widgets[tool].definition.sidecar.sensitive
    if "arguments" not in arguments:
        return ()
    # A built-in tool that passes arguments on: to the widget of a name, or that of a render.
    named = widgets.get(str(arguments.get("name")))
    called = widgets.values() if named is None else (named,)
    return tuple(
        {f"arguments.{path}" for widget in called for path in widget.definition.sidecar.sensitive}
    )


async def last_turn(chat: Chat, request: Request) -> dict[str, Any]:
    """Return what the model read and said in the last turn of a thread."""
    thread, backend = request.path_params["thread"], await chat.backend()
    try:
        return await backend.last_turn(thread, caller_of(request).principal)
    except LookupError:
        raise RefusedError(404, {"error": f"there is no {thread}"}) from None


_Page = partial(WebPage, scopes=frozenset({ADMIN, CHAT}))
_Free = partial(_Page, cost=0)

PAGES = (
    # It charges by itself: a turn costs more than a list of threads.
    _Free(path="/chatkit", view=chatkit, methods=("POST",)),
    _Free(path="/chat", view=static_view("widgetd.chat", name="chat.html"), cross_site="navigate"),
    _Page(path="/chat/state", view=state),
    _Free(path="/chat/widgets/{thread}/{item}", view=widget),
    _Page(path="/chat/seen/{thread}", view=last_turn),
    _Free(path="/chat/static/{name}", view=static_view("widgetd.chat")),
)

GALLERY_PAGES = (
    _Free(path="/chat/frame", view=empty_frame),
    _Free(path="/chat/frame/{tool}", view=frame),
    _Free(path="/chat/live", view=live, waits=True),
)
"""Pages of the gallery that the chat shares, for users with its scope."""


def chat_routes(chat: Chat, gallery: Gallery, guard: Guard) -> list[PageRoute]:
    return routes(PAGES, chat, guard) + routes(GALLERY_PAGES, gallery, guard)
