"""Who is calling, as far as the answer depends on it. Knows nothing of widgets.

The protocol tells a client's name and abilities in two ways: once at the
handshake, or with every request. Both arrive here as one `Caller`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CallError
from widgetd.mcp.principal import LOCAL, Principal

UI_EXTENSION = "io.modelcontextprotocol/ui"
"""The capability by which a client says that it is an MCP Apps host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The client behind one request, and the snapshot that the request is answered from.

    Attributes:
        snapshot: Taken once, when the request came in, as far as the caller may see it.
        client: The client's own name (`clientInfo.name`); empty if it gave none.
        apps: Whether the client shows MCP Apps views.
        protocol: The protocol version of the request, as `2026-07-28`; empty in-process.
        meta: The request's `_meta`.
        principal: Who it is, as far as a token says.
        refusal: Why this message is not let in; None if it is.
    """

    snapshot: Snapshot
    client: str = ""
    apps: bool = False
    protocol: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    principal: Principal = LOCAL
    refusal: CallError | None = None


CALLER: ContextVar[Caller] = ContextVar("widgetd_caller")
"""Set for the time of one request by the server that took it."""
