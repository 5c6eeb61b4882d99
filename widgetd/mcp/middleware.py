"""The layer around every message: who sends it, what they see, whether it is let in.

A message takes its snapshot here, once, and keeps it to its end. Lists are answered here
too, from what is ready; every other answer is somebody else's. A call that is not let in
has an error as its result, for the model to read; any other request has a protocol error.
Neither takes more time than it takes to say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from mcp_types.methods import validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from widgetd.access.auth import principal_of
from widgetd.access.principal import CALL, CALLER, READ, Caller, ClientInfo, Principal
from widgetd.errors import CallError
from widgetd.mcp import sdk
from widgetd.mcp.handlers import CALLS, LISTS
from widgetd.mcp.roots import LISTEN, Root
from widgetd.mcp.server import Server
from widgetd.observe.observer import observed
from widgetd.store.limits import admission

T = TypeVar("T")

_FREE = frozenset({"initialize", "server/discover", "ping", "logging/setLevel"})


class Needs(NamedTuple):
    """What is asked of whoever sends a message.

    Attributes:
        scope: What their token must grant.
        cost: Of their rate.
        waits: Whether it holds no slot, for it waits: for a change, or for the same user.
    """

    scope: str
    cost: int = 1
    waits: bool = False


def middleware_of(server: Server, root: Root) -> sdk.Middleware:
    """The layer around every message that comes to `server` through `root`."""

    async def middleware(context: sdk.Context, call_next: sdk.Next) -> Any:
        method, params, request = context.method, context.params or {}, context.request
        user = None if request is None else request.scope.get("user")
        connection = sdk.connection_of(context.session)
        client = sdk.client_info(connection)
        caller = caller_of(server, root, user, client, context.meta or {})

        async def answer(admitted: Caller) -> Any:
            if not server.standalone or method not in LISTS:
                # FastMCP and the SDK call our handlers without the request.
                token = CALLER.set(admitted)
                try:
                    return await call_next(context)
                finally:
                    CALLER.reset(token)
            validate_client_request(method, context.protocol_version, context.params)
            page = (await LISTS[method](server, admitted)).page(params.get("cursor") or "")
            modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
            return {**page, **sdk.envelope(server.mcp)} if modern else page

        async def joined(admitted: Caller) -> Any:
            answered = await answer(admitted)
            # A notification before the answer to its handshake would confuse a client.
            if method != "initialize":
                root.clients.join(connection, admitted.principal)
            return answered

        # Nobody answers a notification, so it is no call.
        silent = context.request_id is None
        return await let_in(server, caller, joined, method=method, params=params, silent=silent)

    return middleware


def caller_of(
    server: Server, root: Root, user: object, client: ClientInfo, meta: Mapping[str, Any]
) -> Caller:
    """Who sent a message through `root`, and what they see; `user` is what HTTP found out."""
    principal = principal_of(user, server.otherwise)
    return Caller(
        snapshot=server.views.of(server.registry.current, principal.audience),
        principal=principal,
        client=client,
        meta=meta,
        registry=server.registry,
        prefix=root.prefix,
        outer=CALLER.get(None),
    )


def needs_of(server: Server, method: str, params: Mapping[str, Any]) -> Needs | None:
    """What a message of this method asks of whoever sends it; None where it asks nothing."""
    if method in _FREE or method.startswith("notifications/"):
        return None
    if method != CALLS:
        return Needs(READ, waits=method == LISTEN)
    name = params.get("name")
    tool = server.builtin.get(name) if isinstance(name, str) else None
    return Needs(CALL) if tool is None else Needs(tool.scope, tool.cost, tool.waits)


async def let_in(
    server: Server,
    caller: Caller,
    answer: Callable[[Caller], Awaitable[T]],
    *,
    method: str,
    params: Mapping[str, Any],
    silent: bool = False,
) -> T:
    """Answer a message if its sender may send it, and tell the observers of a call.

    A call is answered in any case: `answer` gets a caller whose `refusal` says why it is
    refused, because a model reads results, not protocol errors.

    Raises:
        MCPError: It is no call, and is not let in.
    """
    async with _admitted(server, needs_of(server, method, params), caller.principal) as refusal:
        if refusal is not None and method != CALLS:
            raise sdk.protocol_error(refusal)
        admitted = caller.with_refusal(refusal)
        if method != CALLS or silent or not server.observers:
            return await answer(admitted)
        return await observed(
            partial(answer, admitted),
            params,
            caller,
            builtin=server.builtin,
            observers=server.observers,
        )


@asynccontextmanager
async def _admitted(
    server: Server, needs: Needs | None, principal: Principal
) -> AsyncIterator[CallError | None]:
    """Let a message in for as long as the block runs, or say why it is not let in."""
    if needs is None:
        yield None
        return
    try:
        principal.demand(needs.scope)
    except CallError as error:
        yield error
        return
    limits = server.store.limits
    async with admission(limits, principal.name, cost=needs.cost, waits=needs.waits) as decision:
        yield decision.refusal
