"""Handlers of widgetd's own requests: calls, lists and resource reads.

The fast path, the middleware and FastMCP's provider all end here. A handler takes the caller as an
argument. Admission has already happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from widgetd.base.logs import get_logger
from widgetd.core.schema.json_values import to_json
from widgetd.server.access.principal import Caller
from widgetd.server.mcp.listing import Pages
from widgetd.server.mcp.resources import ServedResource
from widgetd.server.mcp.server import Server
from widgetd.server.render.result import Result, text_block

CALLS = "tools/call"
READS = "resources/read"

_log = get_logger()


async def call_tool(
    server: Server, name: str, arguments: Mapping[str, Any], caller: Caller
) -> Result:
    try:
        return await server.call(name, arguments, caller)
    except Exception:  # noqa: BLE001 - the boundary of one call: no other may fail with it
        _log.exception("call.crashed", tool=name)
        content = to_json([text_block(f"Error calling tool '{name}'")])
        return Result(content=content, is_error=True)


def read_resource(server: Server, caller: Caller, uri: str) -> dict[str, Any] | None:
    """Read a resource of a widget. None if there is none, or if reading it must wait."""
    if not uri.startswith(("widget://", "ui://")):
        return None
    resource = server.resources.find(uri, caller.snapshot, caller.prefix)
    if not isinstance(resource, ServedResource) or not isinstance(resource.content, str):
        return None
    content = {"uri": uri, "mimeType": resource.mime_type, "text": resource.content}
    return {"contents": [{**content, "_meta": resource.meta} if resource.meta else content]}


async def _tools(server: Server, caller: Caller) -> Pages:
    return server.listings.of(caller.snapshot, server.listed_tools(caller))


async def _resources(server: Server, caller: Caller) -> Pages:
    readable = server.readable_by(caller.principal)
    return await server.resource_listings.of(caller.snapshot, readable)


LISTS: Mapping[str, Callable[[Server, Caller], Awaitable[Pages]]] = MappingProxyType(
    {"tools/list": _tools, "resources/list": _resources}
)
"""The list of each method, as its caller sees it."""
