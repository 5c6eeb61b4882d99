"""Answer plain, valid requests from bytes to bytes. Pass all others on untouched.

Half the time of a call is the SDK's and FastMCP's dispatch: models of request and result, a chain
of layers, JSON written twice. Here a request is parsed by hand, checked against the specification,
and answered by the same handlers after the same authorization, before the same observers. Nothing
is refused for its shape: an unusual request takes the ordinary path before anything is authorized
or counted, and gets the same answer there.

The fast path is in front of the app, because the app's layers take as long as a call. It runs the
app's Host check and authentication by itself. A request with an Origin concerns CORS, and is never
answered here.

Source: MCP specification 2026-07-28, basic/index, "Per-request protocol fields"; 2025-11-25,
basic/transports, "Session Management".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache, partial
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeVar, cast

import anyio.lowlevel
import orjson
from mcp.server.connection import Connection
from mcp.server.streamable_http import REQUEST_CANCELLED, check_accept_headers
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    INTERNAL_ERROR,
    PROTOCOL_VERSION_META_KEY,
)
from mcp_types.methods import validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from widgetd.base.errors import CallError
from widgetd.base.logs import get_logger
from widgetd.core.schema.json_text import NotJsonError, parse_plain
from widgetd.server.access.auth import Access, steps_up
from widgetd.server.access.principal import Caller, ClientInfo, Profile
from widgetd.server.mcp import asgi, sdk
from widgetd.server.mcp.handlers import CALLS, LISTS, READS, call_tool, read_resource
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.mcp.middleware import authorize, caller_of
from widgetd.server.mcp.requested_profile import read_profile
from widgetd.server.mcp.server import Server
from widgetd.server.mcp.sessions import Sessions
from widgetd.server.observe.observer import EncodedResult
from widgetd.server.render.result import FIRST_WITH_STRUCTURE

UNKNOWN = object()
"""The user of a request for the ordinary path to authenticate."""

_ENVELOPE = (PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY)
_KEYS = frozenset({"jsonrpc", "id", "method", "params"})

_log = get_logger()

K = TypeVar("K")
V = TypeVar("V")

Params = Mapping[str, Any]

Parts = Sequence[bytes | memoryview]
"""The pieces of a response."""

Answer = Callable[[Server, Any, bytes, Caller], Awaitable[EncodedResult]]
"""Answers a prepared request with the result as JSON. The bytes are a modern result's stamp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method on the fast path.

    Attributes:
        params: Its parameters besides `_meta`, with the accepted type of each.
        named: The required parameter, repeated by the `Mcp-Name` header.
        caches: Whether a modern result has cache hints.
        modern: Whether the modern era has the method.
        prepare: Returns the input of `answer`, or None if the request needs special handling. By
            default, its parameters.
    """

    answer: Answer
    params: Mapping[str, type] = field(default_factory=dict)
    named: str = ""
    caches: bool = False
    modern: bool = True
    prepare: Callable[[Server, Caller, Params], Any] = lambda _server, _caller, params: params


@dataclass(frozen=True, slots=True)
class Request:
    """A request to answer here. `session` is empty in the modern era."""

    id: int | str
    method: str
    params: Mapping[str, Any]
    prepared: Any
    caller: Caller
    session: str


class FastPath:
    """An ASGI layer for plain requests to the MCP endpoint. All others are passed on.

    Attributes:
        answered: The number of requests answered here.
    """

    def __init__(
        self,
        app: asgi.App,
        *,
        server: Server,
        path: str,
        sessions: Sessions,
        host_check: Callable[[asgi.Scope], Awaitable[bool]],
    ) -> None:
        self.app = app
        self.answered = 0
        self._server = server
        self._path = path
        self._sessions = sessions
        self._host_check = host_check
        envelope = sdk.envelope(server.mcp)
        self._stamp = orjson.dumps(envelope["_meta"])[1:-1]
        self._tail = b"," + orjson.dumps(envelope)[1:]
        self._hosts: dict[tuple[bytes, Any], bool] = {}
        self._clients: dict[bytes, ClientInfo] = {}
        self._waiting: dict[tuple[str, str], anyio.CancelScope] = {}

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        messages: list[asgi.Message] = []
        request = await self._receive(scope, receive, messages)
        if request is None:
            await self.app(scope, asgi.replay(messages, receive) if messages else receive, send)
            return
        self.answered += 1
        try:
            if _may_wait(self._server, request):
                parts = await self._respond_unless_cancelled(request, receive)
            else:
                parts = await self._respond(request)
        except Exception:  # noqa: BLE001 - the boundary of one request: no other may fail with it
            _log.exception("request.crashed", method=request.method)
            parts = _error(request.id, INTERNAL_ERROR, "Internal server error")
        length = sum(map(len, parts))
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % length)]
        if request.session:
            headers.append((b"mcp-session-id", request.session.encode("latin-1")))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if length <= LIMITS.piece_bytes:
            await send({"type": "http.response.body", "body": b"".join(parts)})
            return
        # Not joined: a long list is not copied, and other callers wait for a single piece.
        for part in parts:
            for start in range(0, len(part), LIMITS.piece_bytes):
                piece = memoryview(part)[start : start + LIMITS.piece_bytes]
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                await anyio.lowlevel.checkpoint()
        await send({"type": "http.response.body"})

    async def _receive(
        self, scope: asgi.Scope, receive: asgi.Receive, messages: list[asgi.Message]
    ) -> Request | None:
        if scope.get("path") != self._path or scope["method"] != "POST":
            return None
        headers = dict(scope["headers"])
        if len(headers) != len(scope["headers"]) or not _is_plain(headers):
            return None
        user = await self._user(scope, headers)
        if user is UNKNOWN:
            return None
        try:
            profile = read_profile(scope)
        except CallError:  # the app refuses it
            return None
        messages += await asgi.receive_body(receive, LIMITS.fast_request_bytes)
        return self._read(user, headers, messages, profile)

    async def _user(self, scope: asgi.Scope, headers: Mapping[bytes, bytes]) -> object:
        key = headers.get(b"host", b""), scope.get("server")
        if key not in self._hosts:
            if not await self._host_check(scope):
                return UNKNOWN
            _remember(self._hosts, key, True)
        auth = self._server.mcp.auth
        if auth is None:
            return None
        if not isinstance(auth, Access):  # another provider may require more than a token
            return UNKNOWN
        user = await sdk.authenticate(auth, headers.get(b"authorization", b""))
        return UNKNOWN if user is None or steps_up(user) else user

    def _read(
        self,
        user: object,
        headers: Mapping[bytes, bytes],
        messages: Sequence[asgi.Message],
        profile: Profile | None,
    ) -> Request | None:
        if messages[-1]["type"] != "http.request":
            return None
        try:
            message = parse_plain(b"".join([part.get("body", b"") for part in messages]))
        except NotJsonError:
            return None
        if type(message) is not dict or not message.keys() <= _KEYS:
            return None
        name, params = message.get("method"), message.get("params", {})
        session = asgi.read_header(headers, b"mcp-session-id")
        if name == "notifications/cancelled":
            self._cancel(session, user, params)
        if not isinstance(name, str) or name not in METHODS:
            return None
        method = METHODS[name]
        if (
            message.get("jsonrpc") != "2.0"
            or type(message.get("id")) not in {int, str}  # a boolean is an int, but not as a type
            or not _params_fit(params, method)
        ):
            return None
        version = asgi.read_header(headers, b"mcp-protocol-version")
        if version in MODERN_PROTOCOL_VERSIONS:
            client = None if session else self._modern(name, method, params, headers)
        else:
            client = self._legacy(version, session, user)
        if client is None:
            return None
        root, meta = self._server.roots[0], params.get("_meta", {})
        caller = caller_of(self._server, root, user, client, meta, profile=profile)
        prepared = method.prepare(self._server, caller, params)
        if prepared is None:
            return None
        return Request(message["id"], name, params, prepared, caller, session)

    def _modern(
        self, name: str, method: Method, params: dict[str, Any], headers: Mapping[bytes, bytes]
    ) -> ClientInfo | None:
        meta, version = params.get("_meta"), asgi.read_header(headers, b"mcp-protocol-version")
        if not method.modern or meta is None or meta.get(PROTOCOL_VERSION_META_KEY) != version:
            return None
        if asgi.read_header(headers, b"mcp-method") != name:
            return None
        named = asgi.read_header(headers, b"mcp-name")
        # A name with this beginning may be encoded.
        if method.named and (named != params[method.named] or named.startswith("=?")):
            return None
        envelope = orjson.dumps([meta.get(key) for key in _ENVELOPE])
        client = self._clients.get(envelope)
        if client is None:
            try:
                validate_client_request(name, version, params)
            except ValidationError:
                return None
            about = meta.get(CLIENT_INFO_META_KEY), meta[CLIENT_CAPABILITIES_META_KEY]
            client = sdk.client_info(Connection.from_envelope(version, *about))
            if len(envelope) <= LIMITS.cached_client_bytes:
                _remember(self._clients, envelope, client)
        return client

    def _legacy(self, version: str, session: str, user: object) -> ClientInfo | None:
        if version and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return None
        client = self._server.clients.of_session(session)
        if client is None or not sdk.is_live(self._sessions, session, user):
            return None
        if client.info is None:
            if not client.connection.initialize_accepted:
                return None
            client.info = sdk.client_info(client.connection)
        return client.info if client.info.protocol >= FIRST_WITH_STRUCTURE else None

    async def _respond(self, request: Request) -> Parts:
        method, stamp = METHODS[request.method], b"" if request.session else self._stamp
        answering = partial(method.answer, self._server, request.prepared, stamp)
        with self._in_use(request):
            try:
                answer = await authorize(
                    self._server,
                    request.caller,
                    answering,
                    method=request.method,
                    params=request.params,
                )
            except MCPError as error:
                content = error.error.model_dump(exclude_none=True)
                return _response(request.id, b"error", orjson.dumps(content))
        # The JSON of a list is cached, so the envelope is appended.
        if method.caches and stamp:
            return _response(request.id, b"result", memoryview(answer.json)[:-1], self._tail)
        return _response(request.id, b"result", answer.json)

    def _in_use(self, request: Request) -> AbstractContextManager[None]:
        listener = self._server.clients.of_session(request.session)
        if listener is None:
            return nullcontext()
        listener.principal = request.caller.principal
        sdk.renew(self._sessions, request.session)
        return self._sessions.in_use(request.session, listener.principal)

    async def _respond_unless_cancelled(self, request: Request, receive: asgi.Receive) -> Parts:
        # The SDK answers a cancelled request of a session with this error, too.
        parts = _error(request.id, REQUEST_CANCELLED, "Request cancelled")
        key = request.session, str(request.id)

        async def listen() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            if request.session:
                self._waiting[key] = tasks.cancel_scope
            tasks.start_soon(listen)
            try:
                parts = await self._respond(request)
            finally:
                self._waiting.pop(key, None)
            tasks.cancel_scope.cancel()
        return parts

    def _cancel(self, session: str, user: object, params: object) -> None:
        request_id = params.get("requestId") if isinstance(params, dict) else None
        waiting = self._waiting.get((session, str(request_id)))
        if waiting is not None and sdk.is_live(self._sessions, session, user):
            waiting.cancel()


def _remember(cache: dict[K, V], key: K, value: V) -> None:
    if len(cache) >= LIMITS.cached_hosts:
        cache.clear()
    cache[key] = value


def _is_plain(headers: Mapping[bytes, bytes]) -> bool:
    length = headers.get(b"content-length", b"")
    return (
        length.isdigit()
        and int(length) <= LIMITS.fast_request_bytes
        and b"transfer-encoding" not in headers
        and b"origin" not in headers
        and headers.get(b"content-type", b"").partition(b";")[0].strip() == b"application/json"
        and _accepts_json(headers.get(b"accept", b""))
    )


@lru_cache(maxsize=64)
def _accepts_json(accept: bytes) -> bool:
    request = SimpleNamespace(headers={"accept": accept.decode("latin-1")})
    return check_accept_headers(cast("Any", request))[0]


def _params_fit(params: object, method: Method) -> bool:
    if type(params) is not dict or (method.named and method.named not in params):
        return False
    for key, value in params.items():
        if key == "_meta":
            if type(value) is not dict or not all(map(_is_plain_key, value)):
                return False
        elif type(value) is not method.params.get(key):
            return False
    return True


def _is_plain_key(key: str) -> bool:
    # Keys without a prefix, as `progressToken` or `traceparent`, and MCP's own keys ask for more
    # than an answer.
    return key in _ENVELOPE or ("/" in key and "mcp" not in key and "modelcontext" not in key)


def _response(request_id: int | str, kind: bytes, *content: bytes | memoryview) -> Parts:
    head = b'{"jsonrpc":"2.0","id":%b,"%b":' % (orjson.dumps(request_id), kind)
    return (head, *content, b"}")


def _error(request_id: int | str, code: int, message: str) -> Parts:
    return _response(request_id, b"error", orjson.dumps({"code": code, "message": message}))


async def _call(server: Server, params: Params, stamp: bytes, caller: Caller) -> EncodedResult:
    result = await call_tool(server, params["name"], params.get("arguments", {}), caller)
    return EncodedResult(result.json(stamp), result.is_error, result.code)


def _prepare_call(server: Server, caller: Caller, params: Params) -> Params | None:
    name = params["name"]
    widget, builtin = caller.snapshot.widgets.get(name), server.builtin.get(name)
    if widget is not None:
        is_plain = not server.listings.wants_headers(widget)
    else:
        is_plain = builtin is not None and builtin.asks is None
    return params if is_plain else None


def _may_wait(server: Server, request: Request) -> bool:
    if request.method != CALLS:
        return False
    builtin = server.builtin.get(request.params["name"])
    if builtin is not None and builtin.waits:
        return True
    name, arguments = server.builtin.target_of(request.params)
    widget = request.caller.snapshot.widgets.get(name)
    if widget is None or not widget.definition.sidecar.feeds or (feed := widget.feed) is None:
        return False
    return not server.rendering.feeds.is_at_hand(widget, feed, arguments)


async def _list(
    method: str, server: Server, params: Params, _stamp: bytes, caller: Caller
) -> EncodedResult:
    pages = await LISTS[method](server, caller)
    return EncodedResult(pages.encode(params.get("cursor", "")))


async def _read(_server: Server, content: Any, _stamp: bytes, _caller: Caller) -> EncodedResult:
    return EncodedResult(orjson.dumps(content))


async def _pong(_server: Server, _params: Params, _stamp: bytes, _caller: Caller) -> EncodedResult:
    return EncodedResult(b"{}")


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        CALLS: Method(
            answer=_call,
            params={"name": str, "arguments": dict},
            named="name",
            prepare=_prepare_call,
        ),
        **{
            name: Method(answer=partial(_list, name), params={"cursor": str}, caches=True)
            for name in LISTS
        },
        READS: Method(
            answer=_read,
            params={"uri": str},
            named="uri",
            caches=True,
            prepare=lambda server, caller, params: read_resource(server, caller, params["uri"]),
        ),
        "ping": Method(answer=_pong, modern=False),
    }
)
"""The methods answered here. The SDK answers all others."""
