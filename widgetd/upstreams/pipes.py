"""MCP over the pipes of a program, whose lines are bounded and reduced before they are parsed.

The SDK's own client of a program keeps a line however long it is, and splits all of it again at
each piece that arrives. Imported with the first upstream, see `session`.
"""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from typing_extensions import override

from widgetd.upstreams.limits import LIMITS, run_sized
from widgetd.upstreams.transport import RecordingTransport, count_containers, reduce_message

_ENDED = (
    OSError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    anyio.IncompleteRead,
)


class PipeTransport(ClientTransport):
    """A transport that runs a program for each session. What it says on its errors is dropped."""

    def __init__(
        self,
        command: tuple[str, ...],
        environment: Mapping[str, str],
        folder: str | None,
        recorder: RecordingTransport,
    ) -> None:
        self._command = command
        self._environment = environment
        self._folder = folder
        self._recorder = recorder

    @asynccontextmanager
    @override
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_options: Any
    ) -> AsyncIterator[ClientSession]:
        session_class = (transport_options or TransportOptions()).session_class
        process = await anyio.open_process(
            self._command,
            env={**get_default_environment(), **self._environment},
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            # A group of its own, which ends with all that the program has started.
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
            # Nothing tells which request the line would answer, so the connection ends.
            self._recorder.too_large()
            raise anyio.EndOfStream
        if self._recorder.reduce is None:
            return line
        return await reduce_message(line, self._recorder.reduce)


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
        async for each in to_send:
            line = each.message.model_dump_json(by_alias=True, exclude_unset=True)
            await stdin.send(line.encode() + b"\n")
    except _ENDED:
        # The session sees the end of the connection instead of waiting for an answer.
        await received.aclose()


async def _end(process: Process) -> None:
    """End a program: close its input, wait, then terminate it and all that it has started.

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
    # A descendant outside of the group may hold a pipe open; the transport of asyncio, which no
    # other attribute leads to, would keep it and warn when it is collected.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(OSError):
            transport.close()
