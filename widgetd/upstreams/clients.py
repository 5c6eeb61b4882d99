"""FastMCP's clients of upstreams: their sessions, programs, and servers for OpenAPI documents.

Such a server runs in this process, so all kinds of upstreams are called in the same way. A
session reads only what `listing` lets through.

Imported with the first upstream: FastMCP and the SDK take half a second.
"""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import anyio
import orjson
from anyio.abc import ByteReceiveStream, ByteSendStream, ObjectReceiveStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from fastmcp import Client, FastMCP
from fastmcp.client import transports
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.tools.base import ToolResult
from mcp import ClientSession
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp_types import ToolAnnotations, jsonrpc_message_adapter
from typing_extensions import override

from widgetd.base.processes import PROCESSES
from widgetd.base.system import SYSTEM
from widgetd.upstreams.answers import REFUSED_META, drop_blocks, words_of_body
from widgetd.upstreams.declarations import Declaration
from widgetd.upstreams.limits import LIMITS, run_sized
from widgetd.upstreams.openapi import READ_ONLY_METHODS
from widgetd.upstreams.transport import (
    KEY_META,
    PRESS_KEY,
    RecordingTransport,
    Reduce,
    count_containers,
    http_client,
    is_refusal,
    reduce_message,
)

_ENDED = (
    OSError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    anyio.IncompleteRead,
)


def build_client(
    declaration: Declaration,
    recorder: RecordingTransport,
    service: FastMCP[Any] | None,
    on_message: Callable[[Any], Any],
    reduce: Reduce,
) -> Client[Any]:
    """Build a client of an upstream, not yet connected.

    Args:
        declaration: The upstream.
        recorder: The transport of its HTTP requests.
        service: The server to connect to where the upstream itself speaks no MCP.
        on_message: Receives the server's notifications.
        reduce: Reduces each `tools/list` result, in place, before a library reads it.
    """
    transport = ReducedTransport(_open_transport(declaration, recorder, service), reduce)
    # 0: no timeouts of FastMCP's own, since `Upstream` bounds connecting and each call.
    return Client(transport, message_handler=on_message, init_timeout=0, timeout=0)


def _open_transport(
    declaration: Declaration, recorder: RecordingTransport, service: FastMCP[Any] | None
) -> ClientTransport:
    table, secrets = declaration.table, declaration.secrets
    if service is not None:
        return transports.FastMCPTransport(service)
    if table.command:
        command = (table.command, *secrets["args"])
        return PipeTransport(command, secrets["env"], table.cwd or None, recorder)

    def open_client(*_arguments: Any, headers: Any = None, **_options: Any) -> Any:
        return http_client(recorder, headers or {})

    url, headers = secrets["url"], dict(secrets["headers"])
    is_sse = table.transport == "sse" or "/sse" in url.partition("?")[0][-5:]
    transport = transports.SSETransport if is_sse else transports.StreamableHttpTransport
    return transport(url, headers=headers, httpx_client_factory=open_client)


def build_service(declaration: Declaration, http: Any) -> FastMCP[Any]:
    """Build a server of an OpenAPI document. Its tools send requests by `http`.

    Takes seconds for a large document, so call it in a worker thread.
    """
    # Imported late: most daemons with upstreams have none with a document.
    from fastmcp.server.providers.openapi import MCPType, OpenAPIProvider  # noqa: PLC0415

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
    return FastMCP(
        declaration.name,
        providers=[provider],
        middleware=[_ServiceCalls()],
        dereference_schemas=False,
        # Its messages would hold the body of a response, and so maybe a request.
        mask_error_details=True,
    )


class _ServiceCalls(Middleware):
    """Hands the key of a press to our HTTP client, and the service's words on a refusal to us."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        request = context.fastmcp_context.request_context
        key = PRESS_KEY.set(str((request.meta or {}).get(KEY_META, "")))
        try:
            return await call_next(context)
        except ToolError as error:
            response = getattr(error.__cause__, "response", None)
            if response is None or not is_refusal(response.status_code):
                raise
            words = words_of_body(response.content, response.headers.get("content-type", ""))
            text = f"HTTP {response.status_code}{': ' if words else ''}{words}"
            return ToolResult(content=text, meta={REFUSED_META: True}, is_error=True)
        finally:
            PRESS_KEY.reset(key)


class ReducedTransport(ClientTransport):
    """A transport with reduced lists of tools."""

    def __init__(self, inner: ClientTransport, reduce: Reduce) -> None:
        self._inner = inner
        self._reduce = reduce
        self.legacy_only = inner.legacy_only

    @asynccontextmanager
    @override
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_options: Any
    ) -> AsyncIterator[ClientSession]:
        session_class: Any = partial(_Session, reduce=self._reduce)
        options = replace(transport_options or TransportOptions(), session_class=session_class)
        connection = self._inner.connect_session(transport_options=options, **session_options)
        async with connection as session:
            yield session

    @override
    async def close(self) -> None:
        await self._inner.close()  # type: ignore[no-untyped-call]  # FastMCP's

    @override
    def get_session_id(self) -> str | None:
        return self._inner.get_session_id()


class _Session(ClientSession):
    def __init__(
        self, read_stream: Any, write_stream: Any, *, reduce: Reduce, **options: Any
    ) -> None:
        super().__init__(_ReducedStream(read_stream, reduce), write_stream, **options)

    @override
    async def validate_tool_result(self, name: str, result: Any) -> None:
        """Do nothing: the SDK lists all tools again where it does not know this tool."""


class _ReducedStream(ObjectReceiveStream[SessionMessage | Exception]):
    """A stream of the session's messages, with each list of tools reduced."""

    def __init__(self, inner: Any, reduce: Reduce) -> None:
        self._inner = inner
        self._reduce = reduce

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    @override
    async def receive(self) -> SessionMessage | Exception:
        message: SessionMessage | Exception = await self._inner.receive()
        if isinstance(message, SessionMessage):
            result = getattr(message.message, "result", None)
            if isinstance(result, dict):
                drop_blocks(result)
                if "tools" in result:
                    await SYSTEM.threads.run_blocking(self._reduce, result)
        return message

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()


@dataclass(eq=False, repr=False)
class PipeTransport(ClientTransport):
    """A transport to a program, run for each session. Drops its standard error.

    The SDK's own client of a program keeps a line however long it is, and splits all of it again
    at each arriving piece. Here lines are bounded and reduced before they are parsed.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str | None
    recorder: RecordingTransport

    @asynccontextmanager
    @override
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_options: Any
    ) -> AsyncIterator[ClientSession]:
        session_class = (transport_options or TransportOptions()).session_class
        with PROCESSES.hold("program"):
            async with self._running(session_class, session_options) as session:
                yield session

    @asynccontextmanager
    async def _running(
        self, session_class: Any, session_options: Mapping[str, Any]
    ) -> AsyncIterator[ClientSession]:
        process = await anyio.open_process(
            self.command,
            env={**get_default_environment(), **self.environment},
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            # A group of its own, to end with everything that the program has started.
            start_new_session=True,
        )
        received, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, to_send = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            stdin = cast("ByteSendStream", process.stdin)
            stdout = cast("ByteReceiveStream", process.stdout)
            async with (
                received,
                messages,
                sent,
                to_send,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self._receive, stdout, received)
                tasks.start_soon(_send, to_send, stdin, received)
                # The session sees its end as the end of the pipe.
                tasks.start_soon(PROCESSES.watch, "program", process.pid)
                async with session_class(messages, sent, **session_options) as session:
                    yield session
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)

    async def _receive(
        self,
        stdout: ByteReceiveStream,
        received: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        lines = BufferedByteReceiveStream(stdout)
        async with received:
            with suppress(*_ENDED):
                while True:
                    line = await self._receive_line(lines)
                    if line and not line.isspace():
                        await received.send(await run_sized(len(line), _parse, line))

    async def _receive_line(self, lines: BufferedByteReceiveStream) -> bytes:
        try:
            line = await lines.receive_until(b"\n", LIMITS.answer_bytes)
        except anyio.DelimiterNotFound:
            line = b""
            is_too_large = True
        else:
            is_too_large = count_containers(line) > LIMITS.containers
        if is_too_large:
            # The line's request is unknown, so the connection ends.
            self.recorder.too_large()
            raise anyio.EndOfStream
        if self.recorder.reduce is None:
            return line
        return await reduce_message(line, self.recorder.reduce)


def _parse(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error  # the session reports it to its message handler


async def _send(
    to_send: MemoryObjectReceiveStream[SessionMessage],
    stdin: ByteSendStream,
    received: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    try:
        async for envelope in to_send:
            line = envelope.message.model_dump_json(by_alias=True, exclude_unset=True)
            await stdin.send(line.encode() + b"\n")
    except _ENDED:
        # The session sees the end of the connection instead of waiting for an answer.
        await received.aclose()


async def _end(process: Process) -> None:
    """End a program: close its input, wait, then terminate it and its children.

    Source: MCP 2025-11-25, "Lifecycle", section "Shutdown".
    """
    with suppress(*_ENDED):
        await cast("ByteSendStream", process.stdin).aclose()
    with anyio.move_on_after(LIMITS.exit_s) as waiting:
        await process.wait()
    if waiting.cancelled_caught:
        await terminate_posix_process_tree(process, LIMITS.exit_s)
        with anyio.move_on_after(LIMITS.exit_s):
            await process.wait()
    # A descendant outside of the group may hold a pipe open. The transport of asyncio, which no
    # other attribute leads to, would keep it and warn when it is collected.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(OSError):
            transport.close()
