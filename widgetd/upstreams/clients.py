"""FastMCP's client of an upstream, and the server for an OpenAPI document.

Such a server runs in this process, so that all kinds of upstreams are called in one way.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from widgetd.upstreams.declarations import Declaration
from widgetd.upstreams.openapi import READ_ONLY_METHODS
from widgetd.upstreams.transport import (
    KEY_META,
    PRESS_KEY,
    RecordingTransport,
    Reduce,
    http_client,
)

if TYPE_CHECKING:
    from fastmcp import Client, FastMCP
    from fastmcp.client.transports import ClientTransport


def import_client(declaration: Declaration) -> None:
    """Import what a client needs: half a second that a daemon without upstreams saves."""
    import_module("widgetd.upstreams.session")
    import_module("widgetd.upstreams.pipes")
    if not declaration.kind.has_session:
        import_module("fastmcp.server.providers.openapi")


def build_client(
    declaration: Declaration,
    recorder: RecordingTransport,
    service: FastMCP[Any] | None,
    on_message: Callable[[Any], Any],
    reduce: Reduce,
) -> Client[Any]:
    """Build a client of an upstream, not yet connected.

    Args:
        declaration: The upstream.
        recorder: The transport of its HTTP requests.
        service: The server to connect to where the upstream itself speaks no MCP.
        on_message: Receives the server's notifications.
        reduce: Reduces each `tools/list` result, in place, before a library reads it.
    """
    from fastmcp import Client  # noqa: PLC0415 - see `import_client`

    from widgetd.upstreams.session import ReducedTransport  # noqa: PLC0415 - likewise

    transport = ReducedTransport(_open_transport(declaration, recorder, service), reduce)
    # 0: no timeouts of FastMCP's own, since `Upstream` bounds connecting and each call.
    return Client(transport, message_handler=on_message, init_timeout=0, timeout=0)


def _open_transport(
    declaration: Declaration, recorder: RecordingTransport, service: FastMCP[Any] | None
) -> ClientTransport:
    from fastmcp.client import transports  # noqa: PLC0415 - see `import_client`

    from widgetd.upstreams.pipes import PipeTransport  # noqa: PLC0415 - likewise

    table, secrets = declaration.table, declaration.secrets
    if service is not None:
        return transports.FastMCPTransport(service)
    if table.command:
        command = (table.command, *secrets["args"])
        return PipeTransport(command, secrets["env"], table.cwd or None, recorder)

    def open_client(*_arguments: Any, headers: Any = None, **_options: Any) -> Any:
        return http_client(recorder, headers or {})

    url, headers = secrets["url"], dict(secrets["headers"])
    is_sse = table.transport == "sse" or "/sse" in url.partition("?")[0][-5:]
    transport = transports.SSETransport if is_sse else transports.StreamableHttpTransport
    return transport(url, headers=headers, httpx_client_factory=open_client)


def build_service(declaration: Declaration, http: Any) -> FastMCP[Any]:
    """Build a server of an OpenAPI document, whose tools send their requests by `http`.

    Takes seconds for a large document, so call it in a worker thread.
    """
    from fastmcp import FastMCP  # noqa: PLC0415 - see `import_client`
    from fastmcp.server.middleware import Middleware  # noqa: PLC0415 - likewise
    from fastmcp.server.providers.openapi import MCPType, OpenAPIProvider  # noqa: PLC0415 - likewise
    from mcp_types import ToolAnnotations  # noqa: PLC0415 - likewise

    def annotate(route: Any, tool: Any) -> None:
        is_read_only = route.method.lower() in READ_ONLY_METHODS
        tool.annotations = ToolAnnotations(read_only_hint=is_read_only)

    class PressKeys(Middleware):
        """Hands the key of a press to our HTTP client."""

        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            request = context.fastmcp_context.request_context
            key = PRESS_KEY.set(str((request.meta or {}).get(KEY_META, "")))
            try:
                return await call_next(context)
            finally:
                PRESS_KEY.reset(key)

    provider = OpenAPIProvider(
        orjson.loads(declaration.document),
        http,
        route_map_fn=lambda _route, _kind: MCPType.TOOL,
        mcp_component_fn=annotate,
        validate_output=False,
    )
    return FastMCP(
        declaration.name,
        providers=[provider],
        middleware=[PressKeys()],
        dereference_schemas=False,
    )
