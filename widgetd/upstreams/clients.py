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

if TYPE_CHECKING:
    from fastmcp import Client


def import_client(declaration: Declaration) -> None:
    """Import what `client_of` needs: most daemons have no upstream, and it takes half a second."""
    import_module("fastmcp.client.transports")
    if declaration.kind in {"openapi", "endpoints"}:
        import_module("fastmcp.server.providers.openapi")


def client_of(
    declaration: Declaration, line: wire.Wire, http: Any, heard: Callable[[Any], Any]
) -> Client[Any]:
    """A client of the upstream that is declared, not yet connected.

    Its requests go over `line`, by `http` where it is no MCP server; `heard` is told what a
    server says unasked.
    """
    from fastmcp import Client  # noqa: PLC0415 - see `import_client`
    from fastmcp.client import transports  # noqa: PLC0415 - likewise

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
    else:
        made = _server_of(declaration, http)
    return Client(made, message_handler=heard, init_timeout=0, timeout=0)


def _server_of(declaration: Declaration, http: Any) -> Any:
    from fastmcp import FastMCP  # noqa: PLC0415 - see `import_client`
    from fastmcp.server.providers.openapi import MCPType, OpenAPIProvider  # noqa: PLC0415 - likewise

    wanted = declaration.declared.tools

    def mapped(route: Any, _kind: Any) -> Any:
        # Whatever may change something is there only where the file names tools.
        is_read_only = route.method.upper() in {"GET", "HEAD"}
        return MCPType.TOOL if wanted or is_read_only else MCPType.EXCLUDE

    document = orjson.loads(declaration.document)
    provider = OpenAPIProvider(document, http, route_map_fn=mapped, validate_output=False)
    return FastMCP(declaration.name, providers=[provider], dereference_schemas=False)
