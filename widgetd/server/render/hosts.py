"""Hosts with undeclared behaviour, by client name.

Source: `docs/hosts.md`, with the thread or the run behind each statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from widgetd.server.access.principal import ClientInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host, and its treatment of results.

    Attributes:
        profile: `split` if it shows structured content to the model. The model must not see the
            tree.
        draws: Whether it draws MCP Apps views without declaring the extension.
        shows_meta: Whether it passes `_meta` to the model, so only an id may be in it.
    """

    profile: Literal["chatkit", "split"] = "split"
    draws: bool = False
    shows_meta: bool = False


UNKNOWN = Host(profile="chatkit")
"""Programs, and hosts with honest declarations."""

HOSTS: Mapping[str, Host] = MappingProxyType(
    {
        # LangChain.js and ADK (`MCPClient` is its JavaScript) serialise `_meta` for the model, too.
        "@langchain/mcp-adapters": Host(shows_meta=True),
        "MCPClient": Host(shows_meta=True),
        "google-adk": Host(shows_meta=True),
        # anthropics/claude-ai-mcp#61: draws views, declares nothing.
        "claude-ai": Host(draws=True),
        "claude-code": Host(),
        "codex-mcp-client": Host(),
        "cursor-vscode": Host(),
        "gemini-cli-mcp-client": Host(),
        "goose": Host(),
        "openai-mcp": Host(draws=True),
        "Visual Studio Code": Host(),
    }
)
"""Known hosts by `clientInfo.name`."""


def host_of(client: ClientInfo) -> Host:
    return HOSTS.get(client.name, UNKNOWN)


def draws_views(client: ClientInfo) -> bool:
    """Return whether the client draws MCP Apps views, by its declaration or by its name."""
    return client.apps or host_of(client).draws
