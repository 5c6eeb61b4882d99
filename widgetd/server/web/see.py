"""The page of a render in any browser, `/see/ID`, for clients without pictures.

    GET  /see/ID           the page without any change, because chats fetch addresses for previews
    POST /see/ID           the render for the signature of the page's fragment, and a cookie
    GET  /see/ID/frame     the view, in a sandbox
    POST /see/ID/TOOL      a call of a tool out of three, for this render alone

Unknown, expired and badly signed addresses get the same answer. The cookie has the signature, and
a secret of the browser: beyond this machine the first browser of an address has its controls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.widget.page_program import program_or_empty
from widgetd.server.access.auth import is_loopback
from widgetd.server.access.links import SEE_PATH, Links, nonce_of
from widgetd.server.access.principal import LINK_CLIENT, Caller, ClientInfo
from widgetd.server.mcp.http_calls import caller_for, take_action
from widgetd.server.mcp.server import Server
from widgetd.server.render.view import frame_headers, page_of, view_html
from widgetd.server.store.contract import StoredRender
from widgetd.server.web.app import routes
from widgetd.server.web.cross_site import CrossSiteGuard
from widgetd.server.web.limits import LIMITS
from widgetd.server.web.page import (
    PAGE_HEADERS,
    PageRoute,
    RefusedError,
    WebPage,
    body_of,
    json_response,
    refusal,
)
from widgetd.server.web.static_files import cacheable, static_view
from widgetd.server.web.templating import html

COOKIE = "widgetd-see"

_TOOLS = frozenset({"show_render", "follow_render", "widget_action"})
_HEADERS = {**PAGE_HEADERS, "x-robots-tag": "noindex"}
_STYLE = (
    "<style>#stage > *, .card, .notices { margin-inline: auto } .notices { width: fit-content }"
    "@media print { .button, .fold, .notices { display: none !important } }</style>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class See:
    """The server of the renders on these pages, and the signer of their addresses."""

    server: Server
    links: Links


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRender:
    """A render open for a request.

    Attributes:
        caller: The principal of the address, as a client of views.
        signature: The signature of the request, empty where none is needed.
        browser: The secret of the browser, empty before the first answer with a cookie.
    """

    render: StoredRender
    caller: Caller
    signature: str
    browser: str


async def page(see: See, request: Request) -> Response:
    try:
        await _open(see, request)
    except RefusedError:
        status = 404
    else:
        status = 200
    return HTMLResponse(html("see.html", {}), status, _HEADERS)


async def open_render(see: See, request: Request) -> Response:
    """Answer with the render's result, and whether this browser has its controls."""
    signature = (await _json(request)).get("signature")
    opened = await _open(see, request, signature if isinstance(signature, str) else "")
    browser = opened.browser or SYSTEM.numbers.token_urlsafe(12)
    tool = opened.render.tool
    widget = opened.caller.snapshot.widgets.get(tool)
    answer = {
        "tool": tool,
        "title": tool if widget is None else widget.definition.title,
        "policy": _frame_headers(see, opened)["content-security-policy"],
        "controls": await _has_controls(see, opened, browser),
        "result": await _call(see, opened, "show_render", {}),
    }
    response = json_response(answer, headers=_HEADERS)
    if see.links.signed:
        is_secure = see.links.origin().startswith("https:")
        path = f"{SEE_PATH}/{opened.render.id}"
        response.set_cookie(
            COOKIE,
            f"{opened.signature}~{browser}",
            path=path,
            secure=is_secure,
            httponly=True,
            samesite="strict",
        )
    return response


async def call(see: See, request: Request) -> dict[str, Any]:
    arguments, tool = await _json(request), request.path_params["tool"]
    opened = await _open(see, request)
    if tool not in _TOOLS:
        raise _not_found()
    if tool == "widget_action" and not await _has_controls(see, opened, opened.browser):
        raise CallError("W2421", "this widget is open in another browser")
    return await _call(see, opened, tool, arguments)


async def frame(see: See, request: Request) -> Response:
    opened = await _open(see, request)
    widget = opened.caller.snapshot.widgets.get(opened.render.tool)
    program = b"" if widget is None else program_or_empty(widget)
    content = page_of(view_html(), program, opened.caller.snapshot.theme).replace(
        "</head>", f"{_STYLE}</head>", 1
    )
    return cacheable(request, content.encode(), "text/html", _frame_headers(see, opened))


def _frame_headers(see: See, opened: OpenRender) -> dict[str, str]:
    widget = opened.caller.snapshot.widgets.get(opened.render.tool)
    own = () if widget is None else widget.definition.image_origins
    return frame_headers((*own, *see.server.resources.image_origins))


async def _open(see: See, request: Request, signature: str = "") -> OpenRender:
    """Return the render of the address for its principal, or raise RefusedError."""
    # An unknown, an expired and a badly signed address have the same 404.
    sent, _, browser = request.cookies.get(COOKIE, "").partition("~")
    signature = signature or sent
    render_id = request.path_params["id"]
    render = await see.server.store.renders.get(render_id)
    principal = None if render is None else see.links.principal_of(render, signature)
    if render is None or principal is None:
        raise _not_found()
    caller = caller_for(see.server, principal, ClientInfo(name=LINK_CLIENT, apps=True))
    try:
        await see.server.rendering.load(render_id, caller)
    except CallError:
        raise _not_found() from None
    return OpenRender(render=render, caller=caller, signature=signature, browser=browser)


def _not_found() -> RefusedError:
    problem = "this address shows nothing, or not any more; ask for the widget again"
    error = refusal(CallError("W2420", problem))
    return RefusedError(error.status, error.body, {"x-robots-tag": "noindex"})


async def _has_controls(see: See, opened: OpenRender, browser: str) -> bool:
    """Return whether this browser opened the address first. On this machine all have controls."""
    # CallError: the shared store is away, so no replica knows.
    if is_loopback(urlsplit(see.links.origin()).hostname or ""):
        return True
    answers = see.server.store.idempotency
    mine = {"browser": blake2b(browser.encode(), digest_size=16).hexdigest()}
    key = f"see {opened.render.id} {nonce_of(opened.signature)}"
    if await answers.claim(key, mine, owner=opened.render.owner):
        return True
    standing = await answers.recall(key) or {}
    return standing.get("browser") == mine["browser"]


async def _call(
    see: See, opened: OpenRender, tool: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    completed = {**arguments, "render_id": opened.render.id}
    return await take_action(see.server, completed, opened.caller, tool=tool)


async def _json(request: Request) -> dict[str, Any]:
    try:
        value = parse_json(await body_of(request, LIMITS.arguments_bytes) or b"")
    except NotJsonError:
        value = None
    if not isinstance(value, dict):
        raise CallError("W2009", "expected a JSON object of limited size")
    return value


# Free of charge: only a call costs anything, and it is charged to the principal.
_Page = partial(WebPage, scopes=None, headers=_HEADERS)

PAGES = (
    _Page(path=f"{SEE_PATH}/static/{{name}}", view=static_view("widgetd.server.web")),
    _Page(path=f"{SEE_PATH}/{{id}}", view=page, cross_site="navigate"),
    _Page(path=f"{SEE_PATH}/{{id}}", view=open_render, methods=("POST",)),
    _Page(path=f"{SEE_PATH}/{{id}}/frame", view=frame),
    _Page(path=f"{SEE_PATH}/{{id}}/{{tool}}", view=call, methods=("POST",)),
)


def see_routes(see: See) -> list[PageRoute]:
    return routes(PAGES, see)


def see_app(see: See) -> Starlette:
    pages = see_routes(see)
    hosts = ["127.0.0.1", "localhost"]
    layers = [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts),
        Middleware(CrossSiteGuard, routes=pages),
    ]
    return Starlette(routes=pages, middleware=layers)
