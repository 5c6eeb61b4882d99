"""The ASGI app: MCP at `/mcp`, and beside it the pages that people and probes look at.

Pages stand in tables: a new one is a view, its row, and its template.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import orjson
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from widgetd.access.principal import Caller
from widgetd.mcp.assembly import http_app
from widgetd.mcp.login import WELL_KNOWN
from widgetd.mcp.server import Server
from widgetd.web.guard import Guard
from widgetd.web.templating import html

MCP_PATH = "/mcp"

PAGE_HEADERS = {
    "content-security-policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "frame-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""A page runs only our own files, talks only to us, and cannot be framed."""

Shown = TypeVar("Shown")


class RefusedError(Exception):
    """A request that is answered with `status` and a JSON `body` that says why."""

    def __init__(
        self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, body)
        self.status = status
        self.body = body
        self.headers = headers or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Shown]):
    """One page, or what a page fetches.

    Attributes:
        path: Where it is, as Starlette writes paths.
        view: Answers a request: with a response, with what fills the template in, or, where there
            is none, with what is sent as JSON.
        scopes: Whoever has one of them sees the page; None where everybody does.
        template: A file of `templates/`.
        methods: The HTTP methods; whoever may GET may HEAD.
        headers: Of responses that the view does not make itself.
    """

    path: str
    view: Callable[[Shown, Request], Awaitable[Any]]
    scopes: frozenset[str] | None
    template: str = ""
    methods: tuple[str, ...] = ("GET",)
    headers: Mapping[str, str] = field(default_factory=lambda: PAGE_HEADERS)


def routes(pages: Iterable[Page[Shown]], shown: Shown, guard: Guard | None = None) -> list[Route]:
    """A route for each of `pages`, whose views show `shown`; without a guard, for everybody."""

    def route(page: Page[Shown]) -> Route:
        async def answer(request: Request) -> Response:
            try:
                found = await page.view(shown, request)
            except RefusedError as error:
                headers = {**page.headers, **error.headers}
                return json_response(error.body, error.status, headers)
            if isinstance(found, Response):
                return found
            if page.template:
                return HTMLResponse(html(page.template, found), headers=page.headers)
            return json_response(found, headers=page.headers)

        made = Route(page.path, answer, methods=page.methods)
        if guard is not None and page.scopes is not None:
            made.app = guard.around(made.app, page.scopes)
        return made

    return [route(page) for page in pages]


def json_response(
    value: Mapping[str, Any] | list[Any],
    status: int = 200,
    headers: Mapping[str, str] = PAGE_HEADERS,
) -> Response:
    """`value` as JSON, sent as pages are."""
    content = orjson.dumps(value, default=dict)
    return Response(content, status, headers, media_type="application/json")


def caller_of(request: Request) -> Caller:
    """Return the caller that the page's guard authenticated."""
    caller: Caller = request.state.caller
    return caller


async def body_of(request: Request, most_bytes: int) -> bytes | None:
    """The body of a request; None where it is longer than that."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most_bytes:
            return None
    return bytes(body)


def app(
    server: Server,
    routes: Iterable[BaseRoute],
    *,
    allowed_hosts: Sequence[str] = (),
    cors_origins: Sequence[str] = (),
) -> Starlette:
    """One app on one port, with Host and Origin checked before anything else.

    Loopback is allowed as a host in any case; `cors_origins` may call from a page.
    """
    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(cors_origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["mcp-session-id", "mcp-protocol-version"],
    )
    served: Starlette = http_app(
        server,
        MCP_PATH,
        allowed_hosts=allowed_hosts,
        allowed_origins=cors_origins,
        middleware=[cors] if cors_origins else [],
    )
    served.router.routes.extend(routes)
    for route in list(served.routes):
        if isinstance(route, Route) and route.path.startswith(f"{WELL_KNOWN}/"):
            # Hosts that were told of no metadata look there, too.
            served.router.routes.append(Route(WELL_KNOWN, route.endpoint, methods=route.methods))
    return served
