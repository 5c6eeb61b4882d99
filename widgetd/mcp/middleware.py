"""The layer around every message: who sends it, what they see, whether it is let in.

A message takes its snapshot here, once, and keeps it to its end. Lists are
answered here too, from what is ready; every other answer is somebody else's.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_types.methods import validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from widgetd.catalog.snapshot import Snapshot
from widgetd.mcp import sdk
from widgetd.mcp.admission import CALLS, LISTS, admitted
from widgetd.mcp.auth import principal_of
from widgetd.mcp.caller import CALLER, UI_EXTENSION, Caller
from widgetd.mcp.instrumentation import observed
from widgetd.widget.naming import RESERVED

if TYPE_CHECKING:
    from widgetd.mcp.server import Server


def seam_of(server: Server) -> sdk.Seam:
    """The layer around every message that comes to `server`."""

    async def seam(context: sdk.Context, call_next: sdk.Next) -> Any:
        caller = caller_of(context, server)
        params = context.params or {}
        limits = server.store.limits
        async with admitted(context.method, params, caller.principal, limits) as refusal:
            caller = replace(caller, refusal=refusal)
            token = CALLER.set(caller)
            try:
                answer = await _answer(server, context, call_next, caller)
                # A client that shakes hands is told of nothing before it has its answer.
                if context.method != "initialize":
                    server.clients.join(sdk.connection_of(context.session))
            finally:
                CALLER.reset(token)
        return answer

    return seam


async def _answer(server: Server, context: sdk.Context, call_next: sdk.Next, caller: Caller) -> Any:
    if server.alone and context.method in _LISTED:
        return await _list(server, context, caller.snapshot)
    answering = partial(call_next, context)
    if context.method != CALLS or not server.observers:
        return await answering()
    return await observed(
        answering,
        context.params or {},
        caller,
        standing=RESERVED,
        observers=server.observers,
    )


async def _list(server: Server, context: sdk.Context, snapshot: Snapshot) -> dict[str, Any]:
    validate_client_request(context.method, context.protocol_version, context.params)
    after = (context.params or {}).get("cursor") or ""
    tools = context.method == LISTS
    pages = server.listings.of(snapshot) if tools else await server.readable.of(snapshot)
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return {**pages.page(after), **sdk.modern_envelope(server.mcp)}
    return dict(pages.page(after))


_LISTED = frozenset({LISTS, "resources/list"})


def caller_of(context: sdk.Context, server: Server) -> Caller:
    """Who sent this message, and what they see."""
    request = context.request
    user = None if request is None else request.scope.get("user")
    principal = principal_of(user, server.otherwise)
    params = context.session.client_params
    capabilities = context.session.client_capabilities
    extensions = capabilities.extensions if capabilities is not None else None
    return Caller(
        snapshot=server.views.of(server.registry.current, principal.audience),
        principal=principal,
        client=params.client_info.name if params is not None else "",
        apps=bool(extensions) and UI_EXTENSION in (extensions or {}),
        protocol=context.protocol_version,
        meta=context.meta or {},
    )
