"""What to paste where, so that a host finds a running widgetd.

Source: each host's own documentation of its MCP configuration.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType

from widgetd.errors import ConfigError, nearest

Snippet = Callable[[str], str]


def snippet(host: str, url: str) -> str:
    """What connects `host` to the daemon at `url`, with where it goes.

    Args:
        host: A key of `HOSTS`, in any case, with spaces or hyphens.
        url: Where MCP is served.

    Raises:
        ConfigError: The host is unknown (W0002); it names the nearest one.
    """
    name = host.casefold().replace(" ", "-").replace("_", "-")
    if name not in HOSTS:
        match = nearest(name, tuple(HOSTS))
        known = ", ".join(HOSTS)
        advice = f"did you mean '{match}'?" if match else f"known are {known}"
        raise ConfigError("W0002", f"there is no snippet for '{host}'", advice)
    return HOSTS[name](url)


def _file(where: str, content: object) -> Snippet:
    """A snippet of JSON for a file; `URL` in it becomes the daemon's."""
    text = json.dumps(content, indent=2)
    return lambda url: f"# {where}\n{text.replace('URL', url)}"


def _text(text: str) -> Snippet:
    return lambda url: text.replace("URL", url)


_BRIDGED = {"mcpServers": {"widgetd": {"command": "npx", "args": ["mcp-remote", "URL"]}}}

HOSTS: Mapping[str, Snippet] = MappingProxyType(
    {
        "claude-desktop": _file("claude_desktop_config.json", _BRIDGED),
        "claude-code": _text("claude mcp add --transport http widgetd URL"),
        "cursor": _file(".cursor/mcp.json", {"mcpServers": {"widgetd": {"url": "URL"}}}),
        "vscode": _file(
            ".vscode/mcp.json", {"servers": {"widgetd": {"type": "http", "url": "URL"}}}
        ),
        "chatgpt": _text(
            "# Settings → Apps & Connectors → Advanced → Developer mode → Create\n"
            "# ChatGPT needs an https address that it can reach; put widgetd behind one.\n"
            "URL"
        ),
        "codex": _text('# ~/.codex/config.toml\n[mcp_servers.widgetd]\nurl = "URL"'),
        "goose": _text(
            "# ~/.config/goose/config.yaml\n"
            "extensions:\n"
            "  widgetd:\n"
            "    name: widgetd\n"
            "    type: streamable_http\n"
            "    uri: URL\n"
            "    enabled: true"
        ),
        "gemini-cli": _file(
            "~/.gemini/settings.json", {"mcpServers": {"widgetd": {"httpUrl": "URL"}}}
        ),
        "langgraph": _text(
            "from langchain_mcp_adapters.client import MultiServerMCPClient\n\n"
            'client = MultiServerMCPClient({"widgetd": {"transport": "http", "url": "URL"}})\n'
            "tools = await client.get_tools()"
        ),
        "openai-agents": _text(
            "from agents.mcp import MCPServerStreamableHttp\n\n"
            'async with MCPServerStreamableHttp(name="widgetd", params={"url": "URL"}) as server:\n'
            '    agent = Agent(name="assistant", mcp_servers=[server])'
        ),
    }
)
"""How each host is told, by its name."""
