"""FastMCP's client of an upstream: over HTTP, to a child over pipes, or within this process.

Such a server is made of an OpenAPI document, so that there is one way to call all kinds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from widgetd.upstreams import wire
from widgetd.upstreams.declarations import Declaration
from widgetd.upstreams.openapi import READ_ONLY_METHODS

if TYPE_CHECKING:
    from fastmcp import Client, FastMCP


def import_client(declaration: Declaration) -> None:
    """Import what `client_of` needs: most daemons have no upstream, and it takes half a second."""
    import_module("widgetd.upstreams.session")
    if declaration.kind in {"openapi", "endpoints"}:
        import_module("fastmcp.server.providers.openapi")


def client_of(
    declaration: Declaration,
    line: wire.Wire,
    service: FastMCP[Any] | None,
    heard: Callable[[Any], Any],
    reduce: Callable[[dict[str, Any]], None],
) -> Client[Any]:
    """Build a client of an upstream, not yet connected.

    Args:
        declaration: The upstream.
        line: The transport of its HTTP requests.
        service: The server to connect to where the upstream itself speaks no MCP.
        heard: Receives the server's notifications.
        reduce: Reduces each `tools/list` result, in place, before a library reads it.
    """
    from fastmcp import Client  # noqa: PLC0415 - see `import_client`
    from fastmcp.client import transports  # noqa: PLC0415 - likewise

    from widgetd.upstreams.session import ReducedTransport  # noqa: PLC0415 - likewise

    def factory(headers: Mapping[str, str] | None = None, **_options: Any) -> Any:
        return wire.client(line, headers or {})

    declared, secrets = declaration.declared, declaration.secrets
    made: Any
    transport: Any
    if declaration.kind == "mcp":
        is_sse = declared.transport == "sse" or "/sse" in secrets["url"].partition("?")[0][-5:]
        transport = transports.SSETransport if is_sse else transports.StreamableHttpTransport
        headers = dict(secrets["headers"])
        made = transport(secrets["url"], headers=headers, httpx_client_factory=factory)
    elif declaration.kind == "stdio":
        made = transports.StdioTransport(
            declared.command,
            list(secrets["args"]),
            env=dict(secrets["env"]),
            cwd=declared.cwd or None,
            keep_alive=False,
            log_file=Path(os.devnull),
        )
    elif service is not None:
        made = transports.FastMCPTransport(service)
    return Client(ReducedTransport(made, reduce), message_handler=heard, init_timeout=0, timeout=0)


def server_of(declaration: Declaration, http: Any) -> FastMCP[Any]:
    """Build a server of an OpenAPI document, whose tools send their requests by `http`.

    Takes seconds for a large document, so call it in a worker thread.
    """
    from fastmcp import FastMCP  # noqa: PLC0415 - see `import_client`
    from fastmcp.server.providers.openapi import MCPType, OpenAPIProvider  # noqa: PLC0415 - likewise
    from mcp_types import ToolAnnotations  # noqa: PLC0415 - likewise

    def annotate(route: Any, tool: Any) -> None:
        is_read_only = route.method.lower() in READ_ONLY_METHODS
        tool.annotations = ToolAnnotations(read_only_hint=is_read_only)

    provider = OpenAPIProvider(
        orjson.loads(declaration.document),
        http,
        route_map_fn=lambda _route, _kind: MCPType.TOOL,
        mcp_component_fn=annotate,
        validate_output=False,
    )
    return FastMCP(declaration.name, providers=[provider], dereference_schemas=False)
