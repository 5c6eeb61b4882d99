"""The kinds of upstreams: one row each, with what differs between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from widgetd.upstreams.tables import UpstreamTable

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from fastmcp.client.transports import ClientTransport

    from widgetd.upstreams.transport import RecordingTransport

KindName = Literal["mcp", "stdio", "openapi", "endpoints"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamKind:
    """A kind of upstream.

    Attributes:
        key: The key of the upstreams file that declares one.
        connect_s: Default of how long connecting may take.
        open: Builds FastMCP's transport, not yet connected. Its HTTP requests go over the
            recording transport, and a program's pipes report to it. The server is there for
            services, which speak no MCP themselves.
        has_session: Whether there is a connection to lose; a service takes single requests.
        loss: The reason of a connection that ends, where nothing else explains it.
    """

    name: KindName
    key: str
    connect_s: float = 5.0
    open: Callable[
        [UpstreamTable, Mapping[str, Any], RecordingTransport, FastMCP[Any] | None], ClientTransport
    ]
    has_session: bool = True
    loss: str = "protocol"


def _open_http(
    table: UpstreamTable, secrets: Mapping[str, Any], recorder: RecordingTransport, _service: Any
) -> ClientTransport:
    from fastmcp.client import transports  # noqa: PLC0415 - see `clients.import_client`

    from widgetd.upstreams.transport import http_client  # noqa: PLC0415 - likewise

    def open_client(*_arguments: Any, headers: Any = None, **_options: Any) -> Any:
        return http_client(recorder, headers or {})

    url, headers = secrets["url"], dict(secrets["headers"])
    is_sse = table.transport == "sse" or "/sse" in url.partition("?")[0][-5:]
    transport = transports.SSETransport if is_sse else transports.StreamableHttpTransport
    return transport(url, headers=headers, httpx_client_factory=open_client)


def _open_stdio(
    table: UpstreamTable, secrets: Mapping[str, Any], recorder: RecordingTransport, _service: Any
) -> ClientTransport:
    from widgetd.upstreams.pipes import PipeTransport  # noqa: PLC0415 - see `clients.import_client`

    return PipeTransport(
        (table.command, *secrets["args"]), secrets["env"], table.cwd or None, recorder
    )


def _open_service(_table: Any, _secrets: Any, _recorder: Any, service: Any) -> ClientTransport:
    from fastmcp.client import transports  # noqa: PLC0415 - see `clients.import_client`

    return transports.FastMCPTransport(service)


_ROWS = (
    UpstreamKind(name="mcp", key="url", open=_open_http),
    # A program may have to be downloaded before it starts.
    UpstreamKind(name="stdio", key="command", open=_open_stdio, connect_s=30.0, loss="exited"),
    UpstreamKind(name="openapi", key="openapi", open=_open_service, has_session=False),
    UpstreamKind(name="endpoints", key="endpoints", open=_open_service, has_session=False),
)

KINDS: Mapping[str, UpstreamKind] = MappingProxyType({row.name: row for row in _ROWS})
