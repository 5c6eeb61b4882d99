"""The ASGI app: MCP at `/mcp`, and the pages for people and probes beside it.

Pages are rows of tables: a new page takes a view, a row and a template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from widgetd.base.errors import CallError
from widgetd.base.logs import get_logger
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import http_app
from widgetd.server.mcp.login import WELL_KNOWN
from widgetd.server.mcp.server import Server
from widgetd.server.web.cross_site import CrossSiteGuard
from widgetd.server.web.guard import Guard
from widgetd.server.web.page import PageRoute, RefusedError, Site, WebPage, json_response, refusal
from widgetd.server.web.templating import html

_log = get_logger()

MCP_PATH = "/mcp"


def routes(
    pages: Iterable[WebPage[Site]], site: Site, guard: Guard | None = None
) -> list[PageRoute]:
    """Return a route for each of `pages`.

    Args:
        pages: Rows of a table.
        site: The object for their views.
        guard: Checks scopes and charges requests. Without a guard every request is admitted.
    """

    def route(page: WebPage[Site]) -> PageRoute:
        async def answer(request: Request) -> Response:
            try:
                result = await page.view(site, request)
                if isinstance(result, Response):
                    return result
                if page.template:
                    return HTMLResponse(html(page.template, result), headers=page.headers)
                return json_response(result, headers=page.headers)
            except RefusedError as error:
                return error.response(page.headers)
            except CallError as error:
                return refusal(error).response(page.headers)
            except Exception as error:  # noqa: BLE001 - the boundary of one request
                _log.error(
                    "request.crashed", route=page.path, error=type(error).__name__, exc_info=True
                )
                problem = "this failed here, and is in the log; try again"
                return json_response({"error": problem}, 500, page.headers)

        page_route = PageRoute(page, answer)
        if guard is not None and page.scopes is not None:
            page_route.app = guard.around(page_route.app, page)
        return page_route

    return [route(page) for page in pages]


def app(
    server: Server,
    routes: Iterable[BaseRoute],
    *,
    allowed_hosts: Sequence[str] = (),
    cors_origins: Sequence[str] = (),
) -> Starlette:
    """Build the app of a port, with checks of Host, Origin and site before anything else.

    Loopback hosts are always allowed. Pages of `cors_origins` may call.
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
            # Hosts without an address of the metadata look there, too.
            served.router.routes.append(Route(WELL_KNOWN, route.endpoint, methods=route.methods))
    pages = [route for route in served.routes if isinstance(route, PageRoute)]
    sdk.put_before(served, partial(CrossSiteGuard, routes=pages, origins=cors_origins))
    return served
