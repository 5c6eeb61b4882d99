"""The SDK's session with an upstream, which reads only what `listing` lets through.

Imported with the first upstream: FastMCP and the SDK take half a second.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import anyio.to_thread
from anyio.abc import ObjectReceiveStream
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.shared.message import SessionMessage
from typing_extensions import override

from widgetd.upstreams.answers import drop_blocks
from widgetd.upstreams.transport import Reduce


class ReducedTransport(ClientTransport):
    """A transport whose session reads reduced lists of tools."""

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
        """Do nothing: the SDK lists all tools again where it does not know this one."""


class _ReducedStream(ObjectReceiveStream[SessionMessage | Exception]):
    """A stream of the session's messages, with each list of tools reduced."""

    def __init__(self, inner: Any, reduce: Reduce) -> None:
        self._inner = inner
        self._reduce = reduce

    @property
    def last_context(self) -> Any:
        """The context in which the latest message was sent, for the SDK's dispatcher."""
        return getattr(self._inner, "last_context", None)

    @override
    async def receive(self) -> SessionMessage | Exception:
        message: SessionMessage | Exception = await self._inner.receive()
        if isinstance(message, SessionMessage):
            result = getattr(message.message, "result", None)
            if isinstance(result, dict):
                drop_blocks(result)
                if "tools" in result:
                    await anyio.to_thread.run_sync(self._reduce, result)
        return message

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()
