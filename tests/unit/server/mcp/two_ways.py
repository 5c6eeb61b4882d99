"""The same request by the fast path and around it: two servers of one registry, without a port."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.support.form import order
from tests.support.patience import PATIENCE_S
from tests.support.widgets import build_widget, snapshot_of
from widgetd.core.widget.widget import Widget
from widgetd.server.access.auth import Access
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import asgi
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.fast_path import FastPath
from widgetd.server.mcp.resources import Resources
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.observe.observer import ActionRecord, CallRecord, Notice, Observer
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store
from widgetd.server.web.app import app as http_app

MODERN = "2026-07-28"
HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26")
A_WHILE_S = 100_000.0

ADA, KIOSK, CHIEF, GUEST = (
    f"{name}-{name}-{name}" for name in ("adaada", "kiosk", "chief", "guest")
)
TOKENS = f"""
ada    {ADA}    widgets:read widgets:call
kiosk  {KIOSK}  widgets:read
chief  {CHIEF}  widgets:read widgets:call widgets:elevated admin
guest  {GUEST}  widgets:read widgets:call include=greeting exclude=order
"""

HEADER_SCHEMA = {
    "type": "object",
    "properties": {"who": {"type": "string", "x-mcp-header": "Who"}},
    "required": ["who"],
}

Headers = list[tuple[bytes, bytes]]


def snapshot() -> Any:
    """Return widgets of every kind that a call distinguishes."""
    return snapshot_of(
        build_widget("Greeting", sidecar='priority = "high"\ntags = ["pinned"]'),
        build_widget("Secret", sidecar='permission = "elevated"'),
        build_widget("Repeated", schema=HEADER_SCHEMA),
        build_widget("Grown", sidecar='min_client_version = "2.0.0"'),
        build_widget("Split", sidecar='profile = "split"\nsummary = "Hello {{ who }}"'),
        build_widget("Hidden", sidecar='sensitive = ["who"]'),
        order(),
    )


class Recorder(Observer):
    """An observer that records calls without the values that differ from call to call."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def on_call(self, call: CallRecord) -> None:
        answer = call.answer
        answer = stable(json.loads(answer) if isinstance(answer, bytes) else answer)
        self.told.append(replace(call, seconds=0, answer=answer))

    def on_render(self, widget: Widget, steps: int) -> None:
        self.told.append((widget.tool, steps))

    def on_notice(self, notice: Notice) -> None:
        self.told.append(notice)

    def on_difference(self, widget: Widget) -> None:
        self.told.append(widget.tool)

    def on_action(self, action: ActionRecord) -> None:
        self.told.append(replace(action, seconds=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A response.

    Attributes:
        status: The HTTP status.
        headers: Those that a client acts on.
        content: The JSON, without what no two answers share; the text, where it is none.
    """

    status: int
    headers: Mapping[str, str]
    content: Any


@dataclass(kw_only=True)
class Way:
    """One server, and how requests reach it.

    Attributes:
        app: The whole app.
        server: What is served.
        recorder: The calls that observers received.
        reached: The messages that came through to the app behind the fast path.
    """

    app: Any
    server: Server
    recorder: Recorder
    reached: list[Any] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """Return the number of requests that the fast path answered."""
        fast = fast_path_of(self.app)
        return 0 if fast is None else fast.answered

    async def ask(
        self, headers: Headers, body: Sequence[bytes], *, method: str = "POST", path: str = "/mcp"
    ) -> tuple[int, Headers, bytes]:
        """Send one request, its body in so many messages."""
        waiting = [
            {"type": "http.request", "body": part, "more_body": number < len(body)}
            for number, part in enumerate(body, 1)
        ]
        chunks: list[Any] = []

        async def receive() -> Any:
            if not waiting:
                await anyio.sleep_forever()  # the client stays until it is answered
            return waiting.pop(0)

        async def send(message: Any) -> None:
            chunks.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": list(headers),
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8787),
            "state": {},
        }
        with anyio.fail_after(PATIENCE_S):
            await self.app(scope, receive, send)
        start, *rest = chunks
        return start["status"], start["headers"], b"".join(one.get("body", b"") for one in rest)


@dataclass
class Clock:
    """A clock that a test sets."""

    now_s: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now_s


@dataclass(kw_only=True)
class Ways:
    """Both ways.

    Attributes:
        fast: With the fast path.
        around: Without it.
        sessions: Each way's legacy sessions, by version and client.
    """

    portal: BlockingPortal
    fast: Way
    around: Way
    clock: Clock
    token: str = ""
    sessions: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)

    def compare(self, request: Request) -> tuple[Reply, Reply]:
        """Return each way's answer to `request`; assert that observers and layers saw the same."""
        replies: tuple[Reply, Reply] = self.portal.call(self._compare, request)
        return replies

    async def _compare(self, request: Request) -> tuple[Reply, Reply]:
        sessions = await self._sessions_for(request)
        replies = []
        for way, session in zip((self.fast, self.around), sessions, strict=True):
            way.recorder.told.clear()
            way.reached.clear()
            headers = request.headers(session, self.token)
            status, request_headers, content = await way.ask(headers, request.body)
            replies.append(
                Reply(
                    status=status, headers=_acted_on(request_headers), content=read_stable(content)
                )
            )
        assert self.fast.recorder.told == self.around.recorder.told
        return replies[0], replies[1]

    def cancel(self, request: Request, cancellation: Request) -> tuple[Reply, Reply]:
        """Return how each way answers `request` once its client has cancelled it."""
        replies: tuple[Reply, Reply] = self.portal.call(self._cancel, request, cancellation)
        return replies

    async def _cancel(self, request: Request, cancellation: Request) -> tuple[Reply, Reply]:
        sessions = await self._sessions_for(request)
        replies = []
        for way, session in zip((self.fast, self.around), sessions, strict=True):
            sent = {
                one: (one.headers(session, self.token), one.body) for one in (request, cancellation)
            }
            answers: list[tuple[int, Headers, bytes]] = []

            async def ask(way: Way = way, sent: Any = sent, answers: Any = answers) -> None:
                answers.append(await way.ask(*sent[request]))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                while not answers:  # the first cancellations may come before the request waits
                    await way.ask(*sent[cancellation])
            [(status, headers, content)] = answers
            replies.append(
                Reply(status=status, headers=_acted_on(headers), content=read_stable(content))
            )
        return replies[0], replies[1]

    def end(self, request: Request) -> None:
        """End the session that such a request is made in, as its client would."""
        key = request.version, request.client, self.token
        for way, session in zip((self.fast, self.around), self.sessions[key], strict=True):
            headers = request.headers(session, self.token)
            status, _, _ = self.portal.call(partial(way.ask, headers, [b""], method="DELETE"))
            assert status == 200

    async def _sessions_for(self, request: Request) -> tuple[str, str]:
        if request.version == MODERN:
            return "", ""
        key = request.version, request.client, self.token
        if key not in self.sessions:
            self.clock.now_s += A_WHILE_S  # whoever has asked for too much may ask again
            sessions = [
                await _shake_hands(way, request, self.token) for way in (self.fast, self.around)
            ]
            self.sessions[key] = sessions[0], sessions[1]
        return self.sessions[key]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request.

    Attributes:
        version: The protocol version it is made for.
        client: What the client calls itself, with `+apps` where it shows MCP Apps views.
        fields: Its headers, in which `SESSION` stands for the session's id.
        body: Its body, in parts.
    """

    version: str
    client: str = "a-program"
    fields: tuple[tuple[str, str], ...]
    body: tuple[bytes, ...]

    def headers(self, session: str, token: str) -> Headers:
        """Its headers, in this session and with this token."""
        bearer = [(b"authorization", b"Bearer " + token.encode())] if token else []
        pairs = ((name, value.replace("SESSION", session)) for name, value in self.fields)
        return [(name.encode(), value.encode("latin-1")) for name, value in pairs] + bearer


UI: Final = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}}


def about(client: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a client's description of itself: name, version and capabilities."""
    name, _, apps = client.partition("+")
    return {"name": name, "version": "1.2"}, UI if apps else {}


async def _shake_hands(way: Way, request: Request, token: str) -> str:
    info, capabilities = about(request.client)
    params = {"protocolVersion": request.version, "capabilities": capabilities, "clientInfo": info}
    fields = regular_fields(request.version, "")
    bare = tuple(one for one in fields if not one[0].startswith("mcp-"))
    session = ""
    for message in (
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ):
        content = json.dumps(message).encode()
        initialization = replace(request, fields=fields if session else bare, body=(content,))
        length = [(b"content-length", str(len(content)).encode())]
        status, headers, _ = await way.ask(
            initialization.headers(session, token) + length, (content,)
        )
        assert status in {200, 202}
        session = session or dict(headers)[b"mcp-session-id"].decode()
    # Until its session has dealt with the notification, the client is nobody's.
    with anyio.fail_after(PATIENCE_S):
        while way.server.clients.of_session(session) is None:  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(0.001)
    return session


def regular_fields(version: str, method: str, name: str = "") -> tuple[tuple[str, str], ...]:
    """Return the headers of a regular request, except its length."""
    common = (
        ("host", "127.0.0.1:8787"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", version),
    )
    if version != MODERN:
        return (*common, ("mcp-session-id", "SESSION"))
    return (*common, ("mcp-method", method), *((("mcp-name", name),) if name else ()))


_HEADERS = {"content-type", "mcp-session-id", "www-authenticate", "allow", "retry-after", "vary"}
_ID = re.compile(r"r_[A-Za-z0-9_-]{16}|[0-9a-f]{32}")
"""A render's, or a session's."""


def _acted_on(headers: Headers) -> Mapping[str, str]:
    pairs = ((name.decode().lower(), value.decode("latin-1")) for name, value in headers)
    return {name: _ID.sub("ID", value) for name, value in pairs if name in _HEADERS}


def read_stable(content: bytes) -> Any:
    try:
        return stable(json.loads(content))
    except ValueError:
        return content


def stable(value: Any) -> Any:
    """`value` without what no two renders share: their ids, and how long they took."""
    if isinstance(value, Mapping):
        return {key: 0 if key == "ms" else stable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [stable(inner) for inner in value]
    return _ID.sub("ID", value) if isinstance(value, str) else value


@contextmanager
def two_ways(
    folder: Path, *, token: str = "", bounds: Bounds | None = None, **options: Any
) -> Iterator[Ways]:
    """Serve both ways until the block ends.

    Args:
        folder: For a file of tokens.
        token: The token of the requests; empty if none is needed.
        bounds: How much may be asked for, at a time that stands still.
        options: Of both servers.
    """
    clock = Clock()
    (folder / "tokens").write_text(TOKENS)
    access = Access(file=folder / "tokens", start_token="", issuer=None) if token else None
    fast, around = made_ways(clock, access, bounds, **options)
    _watch(fast)
    with start_blocking_portal() as portal:
        ways = Ways(portal=portal, fast=fast, around=around, clock=clock, token=token)
        with portal.wrap_async_context_manager(_running(ways)):
            yield ways


def made_ways(
    clock: Clock, access: Access | None = None, bounds: Bounds | None = None, **options: Any
) -> tuple[Way, Way]:
    """Return a way with and a way without the fast path, of one registry; neither is running."""
    registry = Registry(snapshot())

    def way(*, traced: bool) -> Way:
        recorder = Recorder()
        settings = {"resources": Resources("<!doctype html>"), **options}
        chosen = ServerOptions(observers=(recorder,), traced=traced, **settings)
        server = build(registry, local_store(bounds, clock), chosen, auth=access)
        return Way(app=http_app(server, ()), server=server, recorder=recorder)

    return way(traced=False), way(traced=True)


def fast_path_of(app: Any) -> FastPath | None:
    """Return the fast path among the layers of an app; None if it has none."""
    layer = app.middleware_stack
    while layer is not None and not isinstance(layer, FastPath):
        layer = getattr(layer, "app", None)
    return layer


def _watch(way: Way) -> None:
    """Record the messages that pass through the fast path."""
    fast = fast_path_of(way.app)
    assert fast is not None
    behind = fast.app

    async def watched(scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        async def heard() -> asgi.Message:
            message = await receive()
            way.reached.append(message)
            return message

        await behind(scope, heard, send)

    fast.app = watched


@asynccontextmanager
async def _running(ways: Ways) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for way in (ways.fast, ways.around):
            await stack.enter_async_context(way.app.router.lifespan_context(way.app))
        yield
