"""The layer around every message: identify the caller, take a snapshot, authorize.

A message keeps its snapshot to its end. Lists are answered here from prepared pages. A refused call
gets an error result, for the model to read. Other refused requests get a protocol error.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types.methods import SPEC_CLIENT_METHODS, validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from widgetd.base.errors import CallError
from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM
from widgetd.server.access.auth import principal_of
from widgetd.server.access.principal import (
    CALL,
    CALLER,
    READ,
    Caller,
    ClientInfo,
    Principal,
    Profile,
    Report,
    report_nothing,
)
from widgetd.server.mcp import sdk
from widgetd.server.mcp.handlers import CALLS, LISTS
from widgetd.server.mcp.requested_profile import read_profile
from widgetd.server.mcp.roots import LISTEN, Root
from widgetd.server.mcp.server import Server
from widgetd.server.observe.observer import RecordDuration, observe_call
from widgetd.server.store.rate_limits import admission

T = TypeVar("T")

_FREE = frozenset({"initialize", "server/discover", "ping", "logging/setLevel"})


class Requirements(NamedTuple):
    """The conditions for a message.

    Attributes:
        waits: Whether it takes no concurrency slot because it mostly waits.
    """

    scope: str
    cost: int = 1
    waits: bool = False


def middleware_of(server: Server, root: Root) -> sdk.Middleware:
    async def middleware(context: sdk.Context, call_next: sdk.Next) -> Any:
        method, params, request = context.method, context.params or {}, context.request
        user = None if request is None else request.scope.get("user")
        connection = sdk.connection_of(context.session)
        client = sdk.client_info(connection)
        profile = None if request is None else _profile_of(request)
        report, meta = context.session.report_progress, context.meta or {}
        caller = caller_of(server, root, user, client, meta, profile=profile, report=report)

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

        async def answer_then_join(admitted: Caller) -> Any:
            answered = await answer(admitted)
            # A notification before the answer to its handshake would confuse a client.
            if method != "initialize":
                root.clients.join(connection, admitted.principal)
            return answered

        # A notification has no answer, so observers do not count it as a call.
        silent = context.request_id is None
        return await authorize(
            server, caller, answer_then_join, method=method, params=params, silent=silent
        )

    return middleware


def _profile_of(request: Any) -> Profile | None:
    try:
        return read_profile(request.scope)
    except CallError as error:  # in another application's server, without our guard
        raise sdk.protocol_error(error) from None


def caller_of(
    server: Server,
    root: Root,
    user: object,
    client: ClientInfo,
    meta: Mapping[str, Any],
    *,
    profile: Profile | None = None,
    report: Report = report_nothing,
) -> Caller:
    """Return the caller of a message. `user` is the HTTP layer's authentication result."""
    principal = principal_of(user, server.options.anonymous)
    return Caller(
        snapshot=server.views.of(server.registry.current, principal.audience),
        principal=principal,
        client=client,
        meta=meta,
        registry=server.registry,
        prefix=root.prefix,
        profile=profile,
        outer=CALLER.get(None),
        report=report,
    )


def requirements_of(server: Server, method: str, params: Mapping[str, Any]) -> Requirements | None:
    """Return the conditions for a message, or None for methods without conditions."""
    if method in _FREE or method.startswith("notifications/"):
        return None
    if method != CALLS:
        return Requirements(READ, waits=method == LISTEN)
    name = params.get("name")
    tool = server.builtin.get(name) if isinstance(name, str) else None
    if tool is None:
        return Requirements(CALL)
    return Requirements(tool.scope, tool.cost, tool.waits)


async def authorize(
    server: Server,
    caller: Caller,
    answer: Callable[[Caller], Awaitable[T]],
    *,
    method: str,
    params: Mapping[str, Any],
    silent: bool = False,
) -> T:
    """Answer a message if its sender may send it, and report calls to the observers.

    Raises:
        MCPError: The message is not a call, and it is refused.
    """
    target = server.builtin.target_of(params) if method == CALLS else ("", {})

    async def answer_if_admitted() -> T:
        needs = requirements_of(server, method, params)
        async with _admit(server, needs, caller.principal) as refusal:
            if refusal is not None and method != CALLS:
                raise sdk.protocol_error(refusal)
            # A refused call is answered, too: a model reads results, not protocol errors.
            admitted = caller if refusal is None else replace(caller, denied=refusal)
            if method != CALLS or silent or not server.options.observers:
                return await answer(admitted)
            return await observe_call(
                partial(answer, admitted),
                params,
                target,
                caller,
                builtin=server.builtin,
                observers=server.options.observers,
            )

    record = server.options.record_duration
    with _bound_to_logs(server, caller, params, target[0]) if method == CALLS else nullcontext():
        if record is None or silent:
            return await answer_if_admitted()
        return await _measure(server, caller, answer_if_admitted, method, params, record=record)


def _bound_to_logs(
    server: Server, caller: Caller, params: Mapping[str, Any], widget: str
) -> AbstractContextManager[None]:
    # No value comes from the client, so callers cannot write into the log.
    if widget not in caller.snapshot.widgets:
        tool = params.get("name")
        widget = tool if isinstance(tool, str) and tool in server.builtin else ""
    about = {"principal": caller.principal.name, "widget": widget}
    named = {key: value for key, value in about.items() if value}
    # It only has to differ from those of the lines around it.
    request = f"{int(SYSTEM.numbers.fraction() * 2**32):08x}"
    return get_logger().bind_context(request=request, **named)


async def _measure(
    server: Server,
    caller: Caller,
    answering: Callable[[], Awaitable[T]],
    method: str,
    params: Mapping[str, Any],
    *,
    record: RecordDuration,
) -> T:
    """Record the duration of a request."""
    # Source: OpenTelemetry semantic conventions, MCP, "Metric: mcp.server.operation.duration".
    # No attribute has values from clients, because each value is a time series.
    attributes = {"mcp.method.name": method if method in SPEC_CLIENT_METHODS else "_OTHER"}
    tool = params.get("name") if method == CALLS else None
    if isinstance(tool, str) and (tool in caller.snapshot.widgets or tool in server.builtin):
        attributes["gen_ai.tool.name"] = tool
    started_s = SYSTEM.clock.steady_s()
    try:
        answer = await answering()
        is_error = getattr(answer, "is_error", False)
        if is_error or (isinstance(answer, Mapping) and answer.get("isError")):
            attributes["error.type"] = "tool_error"
    except MCPError as error:
        attributes["error.type"] = str(error.error.code)
        raise
    except BaseException as error:
        attributes["error.type"] = type(error).__qualname__
        raise
    else:
        return answer
    finally:
        record(SYSTEM.clock.steady_s() - started_s, attributes)


@asynccontextmanager
async def _admit(
    server: Server, needs: Requirements | None, principal: Principal
) -> AsyncIterator[CallError | None]:
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
