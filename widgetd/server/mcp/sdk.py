"""The only module with private names of fastmcp and mcp.

The libraries have no public way yet to answer `subscriptions/listen`, to find the connection behind
a session, to tell the server the schema of a tool, or to end streams before the server ends.
`verify` checks every name at start, so an incompatible release of a library is a sentence at
start-up and never a surprise in a call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import anyio
from fastmcp import FastMCP
from fastmcp.server.http import HostOriginGuardMiddleware
from fastmcp.server.providers import AggregateProvider, FastMCPProvider, Provider
from fastmcp.server.transforms import Namespace
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    BearerAuthBackend,
    authorization_context,
)
from mcp.server.auth.provider import TokenVerifier
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.session import ServerSession
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import SERVER_INFO_META_KEY
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)
from sse_starlette.sse import AppStatus

from widgetd.base.errors import CallError, ConfigError
from widgetd.server.access.principal import UI_EXTENSION, ClientInfo
from widgetd.server.mcp.asgi import App, Message, Receive, Scope, Send

SERVER_ERROR = -32000
"""JSON-RPC's code for errors of a server's own. The message says what to do.

Source: JSON-RPC 2.0, section 5.1.
"""

PROTOCOL_VERSIONS = tuple(sorted({*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS}))
"""The supported versions of the protocol, oldest first."""

Context = ServerRequestContext[Any, Any]
Next = Callable[[Context], Awaitable[Any]]
Middleware = Callable[[Context, Next], Awaitable[Any]]
"""A layer around every message. It answers by itself or passes the context on."""

Layer = TypeVar("Layer", bound=App)


def verify(server: FastMCP) -> None:
    """Check for every private name in the installed libraries.

    Raises:
        ConfigError: A name is missing (W0007). The error has the library and its version.
    """
    lowlevel = getattr(server, "_mcp_server", None)
    connection = Connection.from_envelope(LATEST_MODERN_VERSION, None, None)
    session = ServerSession(cast("Any", None), connection)
    manager = StreamableHTTPSessionManager(cast("Any", lowlevel))
    transport = StreamableHTTPServerTransport(None, idle_timeout=1)
    wrapped = Provider().wrap_transform(Namespace("a"))
    used: Sequence[tuple[str, object, Sequence[str]]] = [
        ("fastmcp", server, ["_mcp_server"]),
        ("fastmcp", Provider, ["_extension_runtime"]),
        ("fastmcp", Namespace, ["_transform_uri"]),
        ("fastmcp", wrapped, ["_inner"]),
        ("mcp", lowlevel, ["middleware", "get_tool_input_schema", "add_request_handler"]),
        ("mcp", session, ["_connection"]),
        ("mcp", manager, ["_server_instances", "_session_owners", "_discard_session"]),
        ("mcp", transport, ["is_terminated", "idle_scope", "_idle_timeout"]),
        ("sse-starlette", AppStatus, ["disable_automatic_graceful_drain"]),
    ]
    for library, owner, names in used:
        for name in names:
            if not hasattr(owner, name):
                named = owner.__name__ if isinstance(owner, type) else type(owner).__name__
                raise ConfigError(
                    "W0007",
                    f"{library} {version(library)} has no {named}.{name} any more",
                    "install the version that widgetd was tested with: requirements/runtime.txt "
                    "names it",
                )


def protocol_error(error: CallError) -> MCPError:
    return MCPError(SERVER_ERROR, f"[{error.code}] {error.message}", {"code": error.code})


def lowlevel_of(server: FastMCP) -> Server[Any]:
    return cast("Server[Any]", server._mcp_server)  # noqa: SLF001 - FastMCP offers no public way


def connection_of(session: ServerSession) -> Connection:
    # The session object itself lives for one request only.
    return session._connection  # noqa: SLF001 - the SDK offers no public way


class MountedProvider(Provider):
    """A provider with a hook for every server into which it is mounted."""

    def reached_through(self, root: FastMCP) -> AbstractContextManager[None]:
        """Return a context for the run of `root`, its own server or an outer server."""
        raise NotImplementedError

    @contextmanager
    def _extension_runtime(
        self, available: frozenset[str], *, root: FastMCP | None
    ) -> Iterator[None]:
        """Enter `reached_through`. FastMCP calls this through every mount and wrapper."""
        with (
            super()._extension_runtime(available, root=root),
            self.reached_through(root) if root is not None else nullcontext(),
        ):
            yield


def path_prefix(holder: Provider, sought: Provider) -> str | None:
    """Return the namespaces before the paths of a provider, or None if `holder` lacks it."""
    paths = (path_prefix(inner, sought) for inner in _inside(holder))
    prefix = "" if holder is sought else next((path for path in paths if path is not None), None)
    for transform in holder.transforms if prefix is not None else ():
        if isinstance(transform, Namespace):
            uri = transform._transform_uri(f"widget://{prefix}")  # noqa: SLF001 - as above
            prefix = uri.removeprefix("widget://")
    return prefix


def _inside(holder: Provider) -> Sequence[Provider]:
    if isinstance(holder, AggregateProvider):
        return holder.providers
    if isinstance(holder, FastMCPProvider):
        return [holder.server]
    wrapped = getattr(holder, "_inner", None)
    return [wrapped] if isinstance(wrapped, Provider) else ()


def envelope(server: FastMCP) -> dict[str, Any]:
    stamp = {SERVER_INFO_META_KEY: lowlevel_of(server).server_info_stamp}
    return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": stamp}


def client_info(connection: Connection) -> ClientInfo:
    params, capabilities = connection.client_params, connection.client_capabilities
    info = None if params is None else params.client_info
    extensions = None if capabilities is None else capabilities.extensions
    elicitation = None if capabilities is None else capabilities.elicitation
    has_rounds = connection.protocol_version in MODERN_PROTOCOL_VERSIONS
    # An empty capability means forms (MCP 2026-07-28, client/elicitation, "Capabilities").
    has_forms = elicitation is not None and (
        elicitation.form is not None or elicitation.url is None
    )
    return ClientInfo(
        name="" if info is None else info.name,
        version="" if info is None else info.version,
        apps=UI_EXTENSION in (extensions or ()),
        asks=has_rounds and has_forms,
        protocol=connection.protocol_version,
    )


def route_of(app: Any, path: str) -> Any:
    return next(route for route in app.routes if getattr(route, "path", None) == path)


def wrap_endpoint(route: Any, layer: Callable[[App], Layer]) -> Layer:
    while hasattr(route.app, "app"):
        route = route.app
    route.app = layered = layer(route.app)
    return layered


def put_before(app: Any, layer: Callable[[App], App]) -> None:
    app.middleware_stack = layer(app.middleware_stack or app.build_middleware_stack())


def host_check(app: Any) -> Callable[[Scope], Awaitable[bool]]:
    [guard] = [layer for layer in app.user_middleware if layer.cls is HostOriginGuardMiddleware]

    async def passes(scope: Scope) -> bool:
        passed = False

        async def inside(_scope: Scope, _receive: Receive, _send: Send) -> None:
            nonlocal passed
            passed = True

        async def unheard(_message: Message) -> None:
            pass

        await guard.cls(inside, **guard.kwargs)(scope, None, unheard)
        return passed

    return passes


async def authenticate(auth: TokenVerifier, header: bytes) -> AuthenticatedUser | None:
    connection = SimpleNamespace(headers={"authorization": header.decode("latin-1")})
    result = await BearerAuthBackend(auth).authenticate(cast("Any", connection))
    return None if result is None else result[1]


def end_stream(endpoint: Any, session: str) -> None:
    transport = sessions_of(endpoint).get(session)
    if transport is not None:
        transport.close_standalone_sse_stream()


async def end_session(endpoint: Any, session: str) -> None:
    transport = sessions_of(endpoint).get(session)
    if transport is not None:
        await _manager(endpoint)._discard_session(session, transport)  # noqa: SLF001 - the SDK offers no public way


def sessions_of(endpoint: Any) -> Mapping[str, Any]:
    manager = _manager(endpoint)
    if manager is None:  # the app never started
        return {}
    return cast("Mapping[str, Any]", manager._server_instances)  # noqa: SLF001 - as above


def is_live(endpoint: Any, session: str, user: object) -> bool:
    """Return whether a legacy session is open and was opened with this user's credential."""
    manager = _manager(endpoint)
    transport = sessions_of(endpoint).get(session)
    if transport is None or transport.is_terminated:
        return False
    if transport.idle_scope is None or transport.idle_scope.cancel_called:
        return False
    owner = authorization_context(user) if isinstance(user, AuthenticatedUser) else None
    return bool(owner == manager._session_owners.get(session))  # noqa: SLF001 - as above


def renew(endpoint: Any, session: str) -> None:
    """Restart a session's idle timer, as the SDK does after each request."""
    transport = sessions_of(endpoint)[session]
    idle_s, until = transport._idle_timeout, anyio.current_time() + transport._idle_timeout  # noqa: SLF001 - as above
    # Moving the deadline takes longer than the call itself. 1 % of the idle time is close enough.
    if until - transport.idle_scope.deadline > idle_s / 100:
        transport.idle_scope.deadline = until


def disable_sse_drain() -> None:
    """Keep sse-starlette from cutting streams, with their calls in flight, at SIGTERM."""
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]  # the library has no types


def _manager(layer: Any) -> Any:
    while hasattr(layer, "app"):
        layer = layer.app
    return layer.session_manager
