"""The ASGI app: MCP at `/mcp`, and beside it what people and probes look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute

from widgetd.mcp.server import Server

MCP_PATH = "/mcp"


def app(
    server: Server,
    routes: Iterable[BaseRoute],
    *,
    allowed_hosts: Sequence[str] = (),
    cors_origins: Sequence[str] = (),
) -> Starlette:
    """One app on one port, with Host and Origin checked before anything else.

    Args:
        server: The MCP server.
        routes: Pages and probes.
        allowed_hosts: Host headers to accept besides loopback.
        cors_origins: Browser origins that may call from a page.
    """
    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(cors_origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["mcp-session-id", "mcp-protocol-version"],
    )
    served: Starlette = server.http_app(
        MCP_PATH,
        allowed_hosts=allowed_hosts,
        allowed_origins=cors_origins,
        middleware=[cors] if cors_origins else [],
    )
    served.router.routes.extend(routes)
    return served
