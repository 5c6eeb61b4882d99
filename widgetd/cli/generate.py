"""Commands that write what others need: types, a sidecar, a client's configuration, the codes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from widgetd.cli.options import Dir, snapshot_of
from widgetd.errors import ConfigError, nearest


def types(*, lang: Literal["ts", "python"] = "ts", dir: Dir = None) -> int:
    """Print types of what each widget takes and answers, with a guard for each type of response.

    Args:
        lang: TypeScript, or Python typed dictionaries.
        dir: The folder of widgets.
    """
    from widgetd.mcp.declarations.module import declarations

    print(declarations(snapshot_of(dir), lang))
    return 0


def new_sidecar(path: Path) -> int:
    """Write a sidecar beside a .widget file: what Studio cannot say of it.

    Args:
        path: The file.
    """
    from widgetd.catalog.loader import load_widget
    from widgetd.cli.sidecar_template import write_sidecar

    if not path.is_file():
        raise ConfigError("W0003", f"there is no file {path}", "name another", exit_code=3)
    print(write_sidecar(path, load_widget(path)))
    return 0


def config(host: str, *, url: str = "http://127.0.0.1:8787/mcp") -> int:
    """Print what connects a host (claude-code, cursor, vscode, …) to a running daemon.

    Args:
        host: claude-desktop, claude-code, cursor, vscode, chatgpt, codex, goose, gemini-cli,
            langgraph or openai-agents.
        url: Where MCP is served.
    """
    print(snippet(host, url))
    return 0


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
        advice = f"did you mean '{match}'?" if match else f"known are {', '.join(HOSTS)}"
        raise ConfigError("W0002", f"there is no snippet for '{host}'", advice)
    return HOSTS[name].replace("URL", url)


def codes() -> int:
    """Print every code by which widgetd says no, with what it means."""
    from widgetd.checks.report import codes_as_markdown

    print(codes_as_markdown())
    return 0


def _in_file(path: str, content: object) -> str:
    return f"# {path}\n{json.dumps(content, indent=2)}"


_BRIDGED = {"mcpServers": {"widgetd": {"command": "npx", "args": ["mcp-remote", "URL"]}}}

HOSTS: Mapping[str, str] = MappingProxyType(
    {
        "claude-desktop": _in_file("claude_desktop_config.json", _BRIDGED),
        "claude-code": "claude mcp add --transport http widgetd URL",
        "cursor": _in_file(".cursor/mcp.json", {"mcpServers": {"widgetd": {"url": "URL"}}}),
        "vscode": _in_file(
            ".vscode/mcp.json", {"servers": {"widgetd": {"type": "http", "url": "URL"}}}
        ),
        "chatgpt": (
            "# Settings → Apps & Connectors → Advanced → Developer mode → Create\n"
            "# ChatGPT needs an https address that it can reach; put widgetd behind one.\n"
            "URL"
        ),
        "codex": '# ~/.codex/config.toml\n[mcp_servers.widgetd]\nurl = "URL"',
        "goose": (
            "# ~/.config/goose/config.yaml\n"
            "extensions:\n"
            "  widgetd:\n"
            "    name: widgetd\n"
            "    type: streamable_http\n"
            "    uri: URL\n"
            "    enabled: true"
        ),
        "gemini-cli": _in_file(
            "~/.gemini/settings.json", {"mcpServers": {"widgetd": {"httpUrl": "URL"}}}
        ),
        "langgraph": (
            "from langchain_mcp_adapters.client import MultiServerMCPClient\n\n"
            'client = MultiServerMCPClient({"widgetd": {"transport": "http", "url": "URL"}})\n'
            "tools = await client.get_tools()"
        ),
        "openai-agents": (
            "from agents.mcp import MCPServerStreamableHttp\n\n"
            'async with MCPServerStreamableHttp(name="widgetd", params={"url": "URL"}) as server:\n'
            '    agent = Agent(name="assistant", mcp_servers=[server])'
        ),
    }
)
"""What to paste where, so that a host finds a running widgetd; `URL` stands for the daemon's.

Source: each host's own documentation of its MCP configuration.
"""
