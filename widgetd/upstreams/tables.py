"""The kinds of upstreams, and the tables declaring them, before secrets are filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

KindName = Literal["mcp", "stdio", "openapi", "endpoints"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamKind:
    """A kind of upstream.

    Attributes:
        key: The declaring key of the upstreams file.
        connect_s: Default of how long connecting may take.
        has_session: Whether there is a connection to lose. A service takes single requests.
        loss: The reason of a connection's end, where nothing else explains it.
    """

    name: KindName
    key: str
    connect_s: float = 5.0
    has_session: bool = True
    loss: str = "protocol"


KINDS = (
    UpstreamKind(name="mcp", key="url"),
    # A program may have to be downloaded before it starts.
    UpstreamKind(name="stdio", key="command", connect_s=30.0, loss="exited"),
    UpstreamKind(name="openapi", key="openapi", has_session=False),
    UpstreamKind(name="endpoints", key="endpoints", has_session=False),
)


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Endpoint(_Table):
    """An address of a service without a description.

    Attributes:
        get: The path, with its variables in braces.
        query: Names of query parameters.
    """

    get: str = Field(pattern="^/")
    query: tuple[str, ...] = ()


class ActionRule(_Table):
    """The operator's rule for a tool for actions.

    Attributes:
        confirm: Whether a person must confirm each call.
    """

    confirm: bool = True


class UpstreamTable(_Table):
    """A table of the file, before secrets are filled in."""

    url: str = ""
    transport: Literal["", "http", "sse"] = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = Field(default_factory=dict)
    cwd: str = ""
    openapi: str = ""
    base: str = ""
    endpoints: Mapping[str, Endpoint] = Field(default_factory=dict)
    headers: Mapping[str, str] = Field(default_factory=dict)
    tools: tuple[str, ...] = ()
    actions: tuple[str, ...] | Mapping[str, ActionRule] = ()
    connect_s: float | None = Field(default=None, gt=0, le=600)
    call_s: float = Field(default=20.0, gt=0, le=600)
    at_once: int = Field(default=4, ge=1, le=1000)
    fail_after: int = Field(default=3, ge=1, le=1000)
    idle_probe_s: float = Field(default=60.0, gt=0, le=86_400)
    required: bool = False
    enabled: bool = True
    private: bool = True

    @property
    def action_rules(self) -> Mapping[str, ActionRule]:
        actions = self.actions
        return actions if isinstance(actions, Mapping) else dict.fromkeys(actions, ActionRule())
