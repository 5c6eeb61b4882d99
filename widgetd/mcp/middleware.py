"""The layer around every message: who sends it, what they see, whether it is let in.

A message takes its snapshot here, once, and keeps it to its end. Lists are answered here
too, from what is ready; every other answer is somebody else's. A call that is not let in
has an error as its result, for the model to read; any other request has a protocol error.
Neither takes more time than it takes to say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types.methods import validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from widgetd.errors import CallError
from widgetd.mcp import sdk
from widgetd.mcp.auth import principal_of
from widgetd.mcp.handlers import CALLS, LISTS
from widgetd.mcp.observer import observed
from widgetd.mcp.principal import CALL, CALLER, READ, Caller, ClientInfo, Principal
from widgetd.store.contract import Decision, Limits

if TYPE_CHECKING:
    from widgetd.mcp.roots import Root
    from widgetd.mcp.server import Server

T = TypeVar("T")

REFUSED = -32000
"""A server's own JSON-RPC error; the message says what to do."""

_FREE = frozenset({"initialize", "server/discover", "ping", "logging/setLevel"})
_LISTEN = "subscriptions/listen"


def middleware_of(server: Server, root: Root) -> sdk.Middleware:
    """The layer around every message that comes to `server` through `root`."""

    async def middleware(context: sdk.Context, call_next: sdk.Next) -> Any:
        method, request = context.method, context.request
        user = None if request is None else request.scope.get("user")
        connection = sdk.connection_of(context.session)
        client = sdk.client_info(connection)
        caller = caller_of(server, root, user, client, context.meta or {})
        async with admission(server, method, context.params or {}, caller.principal) as refusal:
            if refusal is not None and method != CALLS:
                raise refused(refusal)
            token = CALLER.set(caller.refused(refusal))
            try:
                answer = await _answer(server, context, call_next, caller)
                # A client that shakes hands is told of nothing before it has its answer.
                if method != "initialize":
                    root.clients.join(connection)
            finally:
                CALLER.reset(token)
        return answer

    return middleware


def caller_of(
    server: Server, root: Root, user: object, client: ClientInfo, meta: Mapping[str, Any]
) -> Caller:
    """Who sent a message through `root`, and what they see.

    Args:
        server: What is served.
        root: Where they sent it.
        user: Who sent it, as the HTTP layer found out; None where there is none.
        client: What their program says of itself.
        meta: The message's `_meta`.
    """
    principal = principal_of(user, server.otherwise)
    return Caller(
        snapshot=server.views.of(server.registry.current, principal.audience),
        principal=principal,
        client=client.name,
        client_version=client.version,
        apps=client.apps,
        asks=client.asks,
        protocol=client.protocol,
        meta=meta,
        registry=server.registry,
        prefix=root.prefix,
        outer=CALLER.get(None),
    )


def admission(
    server: Server, method: str, params: Mapping[str, Any], principal: Principal
) -> AbstractAsyncContextManager[CallError | None]:
    """`admitted`, for a message of this method, with what it costs."""
    if _is_free(method):
        return nullcontext(None)
    if method == CALLS:
        return call_admitted(server, principal, params.get("name"))
    return admitted(principal, server.store.limits, waits=method == _LISTEN)


def scope_of(server: Server, method: str, params: Mapping[str, Any]) -> str | None:
    """The scope that a message of this method needs; None where it needs none."""
    if _is_free(method):
        return None
    if method != CALLS:
        return READ
    name = params.get("name")
    builtin = server.builtin.get(name) if isinstance(name, str) else None
    return CALL if builtin is None else builtin.scope


def _is_free(method: str) -> bool:
    return method in _FREE or method.startswith("notifications/")


def call_admitted(
    server: Server, principal: Principal, tool: object
) -> AbstractAsyncContextManager[CallError | None]:
    """`admitted`, for a call of the tool called `tool`, a widget's or a built-in one."""
    builtin = server.builtin.get(tool) if isinstance(tool, str) else None
    if builtin is None:
        return admitted(principal, server.store.limits, scope=CALL)
    return admitted(
        principal,
        server.store.limits,
        scope=builtin.scope,
        cost=builtin.cost,
        waits=builtin.waits,
    )


@asynccontextmanager
async def admitted(
    principal: Principal, limits: Limits, *, scope: str = READ, cost: int = 1, waits: bool = False
) -> AsyncIterator[CallError | None]:
    """Let a message in for as long as the block runs, or say why it is not let in.

    Args:
        principal: Who sends it.
        limits: How much each principal may ask for.
        scope: What their token must grant.
        cost: Of their rate.
        waits: Whether it holds no slot, for it waits: for a change, or for the same user.
    """
    async with nullcontext(Decision()) if waits else limits.slot(principal.name) as slot:
        refusal: CallError | None = None
        try:
            principal.demand(scope)
            slot.check()
            (await limits.take(principal.name, cost=cost)).check()
        except CallError as error:
            refusal = error
        yield refusal


def refused(error: CallError) -> MCPError:
    """`error` as the protocol says it."""
    return MCPError(REFUSED, f"[{error.code}] {error.message}", {"code": error.code})


async def _answer(server: Server, context: sdk.Context, call_next: sdk.Next, caller: Caller) -> Any:
    method, params = context.method, context.params or {}
    if server.standalone and method in LISTS:
        validate_client_request(method, context.protocol_version, context.params)
        page = (await LISTS[method](server, caller)).page(params.get("cursor") or "")
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return {**page, **sdk.envelope(server.mcp)}
        return dict(page)
    if method != CALLS or context.request_id is None:  # nobody answers a notification
        return await call_next(context)
    return await observed_call(server, params, caller, partial(call_next, context))


async def observed_call(
    server: Server,
    params: Mapping[str, Any],
    caller: Caller,
    handler: Callable[[], Awaitable[T]],
) -> T:
    """What `handler` answers to a `tools/call`, once whoever observes calls knows of it."""
    if not server.observers:
        return await handler()
    return await observed(
        handler, params, caller, builtin=server.builtin, observers=server.observers
    )
