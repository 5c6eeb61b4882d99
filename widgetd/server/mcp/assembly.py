"""Build a server from its parts: FastMCP, our handlers in front of it, and the ASGI layers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.auth import AuthProvider
from mcp_types import CallToolRequestParams

from widgetd.base.errors import ConfigError
from widgetd.server.access.auth import Access
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.fast_path import FastPath
from widgetd.server.mcp.handlers import CALLS
from widgetd.server.mcp.login import Challenges
from widgetd.server.mcp.provider import (
    Lifespan,
    WidgetProvider,
    add_root,
    answer_call,
    complete,
    header_schema,
)
from widgetd.server.mcp.request_guard import RequestGuard
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.mcp.sessions import Sessions
from widgetd.server.store.factory import Store

INSTRUCTIONS = (
    "Every tool here shows the user a widget. Call the one that fits what they should see, "
    "with the data it asks for; what it shows need not be repeated in words. Where it has buttons "
    "or fields, its result ends with a render id: give that to await_widget_action, which waits "
    "for what the user does. Tools come and go as files change, and a list may be old: "
    "search_widgets knows the newest."
)


def build(
    registry: Registry,
    store: Store,
    options: ServerOptions | None = None,
    *,
    auth: AuthProvider | None = None,
) -> Server:
    """Return a server whose tools are the registry's widgets at every moment.

    Raises:
        ConfigError: The installed fastmcp or mcp is unknown to widgetd, or two built-in tools have
            the same name.
    """
    mcp = FastMCP(
        "widgetd",
        version=version("widgetd"),
        instructions=INSTRUCTIONS,
        auth=auth,
        dereference_schemas=False,
        mask_error_details=True,
    )
    server = attach(mcp, registry, store, options, standalone=True)
    mcp.completion(partial(complete, server))
    lowlevel = sdk.lowlevel_of(mcp)
    # The SDK would list all tools to find a single schema.
    lowlevel.get_tool_input_schema = partial(header_schema, server)
    lowlevel.add_request_handler(CALLS, CallToolRequestParams, partial(answer_call, server))
    return server


def attach(
    mcp: FastMCP,
    registry: Registry,
    store: Store,
    options: ServerOptions | None,
    *,
    standalone: bool = False,
    lifespan: Lifespan | None = None,
) -> Server:
    """Add the registry's widgets to a FastMCP server and notify its clients of changes.

    The server serves its other parts on. With `standalone` there are none.

    Raises:
        ConfigError: The installed fastmcp or mcp is unknown to widgetd (W0007), or the server has
            widgets already (W0030).
    """
    sdk.verify(mcp)
    if any(isinstance(provider, WidgetProvider) for provider in mcp.providers):
        raise ConfigError(
            "W0030",
            f"the server '{mcp.name}' has widgets already, from a call of register before this one",
            "register one folder, once; mount a server of its own for another folder",
        )
    server = Server(mcp, registry, store, options or ServerOptions(), standalone=standalone)
    provider = WidgetProvider(server, lifespan)
    mcp.add_provider(provider)
    add_root(server, mcp, provider)
    return server


def http_app(
    server: Server,
    path: str,
    *,
    allowed_hosts: Sequence[str],
    allowed_origins: Sequence[str],
    middleware: Sequence[Any],
) -> Any:
    """Return the server as an ASGI app. It checks Host and Origin before anything else.

    Args:
        server: The server.
        path: The path of MCP. The app has no other route yet.
        allowed_hosts: Host headers to accept besides loopback.
        allowed_origins: Browser origins to accept besides loopback.
        middleware: ASGI layers inside that check.
    """
    # Unlike an event in a stream, a plain JSON answer survives a shutdown and has no size limit.
    # Requested streams are streams all the same.
    app = server.mcp.http_app(
        path=path,
        json_response=True,
        host_origin_protection=True,
        allowed_hosts=list(allowed_hosts),
        allowed_origins=list(allowed_origins),
        session_idle_timeout=server.options.sessions.idle_s,
        middleware=list(middleware),
    )
    route = sdk.route_of(app, path)
    sdk.wrap_endpoint(route, RequestGuard)
    sessions = partial(
        Sessions,
        bounds=server.options.sessions,
        limits=server.store.limits,
        anonymous=server.options.anonymous,
        clients=server.clients,
    )
    server.sessions = sdk.wrap_endpoint(route, sessions)
    if isinstance(server.mcp.auth, Access):
        route.app = Challenges(route.app, server=server, access=server.mcp.auth)
    if not server.options.traced:  # spans need the layers behind the fast path
        fast_path = partial(
            FastPath,
            server=server,
            path=path,
            sessions=server.sessions,
            host_check=sdk.host_check(app),
        )
        sdk.put_before(app, fast_path)
    return app
