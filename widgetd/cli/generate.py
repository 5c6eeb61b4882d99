"""Commands that write what others need: types, a sidecar, a client's configuration, the codes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from cyclopts import Parameter

from widgetd.cli.options import Dir, Output, Tool, find_widget, load_snapshot
from widgetd.errors import ConfigError
from widgetd.settings import folder_of, settle
from widgetd.text_search import compile_pattern, did_you_mean

MCP_URL = "http://127.0.0.1:8787/mcp"

_PATH = compile_pattern(r"[\w./~-]*")


def types(*, lang: Literal["ts", "python"] = "ts", dir: Dir = None) -> None:
    """Print types of the arguments and results of each widget and built-in tool.

    Each type of a widget's response has a guard.

    Args:
        lang: TypeScript, or Python typed dictionaries.
    """
    from widgetd.daemon.toolsets import ROWS
    from widgetd.declarations.module import declarations

    builtin = {tool.name: tool.input_schema for tool in ROWS}
    print(declarations(load_snapshot(dir), lang, builtin))


def new_sidecar(path: Path) -> None:
    """Write a sidecar beside a .widget file, for what Studio cannot express.

    Args:
        path: The file.
    """
    from widgetd.catalog.loader import load_widget
    from widgetd.cli.sidecar_template import write_sidecar

    if not path.is_file():
        raise ConfigError("W0003", f"there is no file {path}", "name another", exit_code=3)
    print(write_sidecar(path, load_widget(path)))


def config(host: str, *, url: str = MCP_URL, token: str = "") -> None:
    """Print the configuration that connects a host (claude-code, cursor, vscode, …) to a daemon.

    Args:
        host: claude-ai (or claude-web), claude-desktop, claude-code, cursor, vscode, chatgpt,
            codex, goose, gemini-cli, langgraph or openai-agents.
        url: The address of MCP.
        token: The host's token. Leave it out for hosts that log in by themselves.
    """
    print(snippet(host, url, token))


def build(
    folder: Path,
    *,
    dir: Dir = None,
    base: str = "/",
    url: str = MCP_URL,
    clean: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write the gallery as a static site: every widget in every state, without a daemon.

    Args:
        folder: The output folder.
        base: The site's path on its server, as /widgets/.
        url: The address of MCP, for the calls that can be copied.
        clean: Show the widgets alone, for handing over: no names of tools, sources or problems.
    """
    import anyio

    from widgetd.catalog.history import History
    from widgetd.testing.widgets import server_over
    from widgetd.web.gallery import site
    from widgetd.web.gallery.gallery import Gallery
    from widgetd.web.gallery.problems import Problems

    if not base.startswith("/") or not _PATH.fullmatch(base):
        raise ConfigError("W0002", f"--base cannot be '{base}'", "write a path, as /widgets/")
    settings = settle({"dir": dir}, os.environ).settings
    widgets = folder_of(settings)
    server = server_over(widgets, settings)
    shown = Gallery(
        server=server,
        folder=widgets,
        uploads=None,
        url=url,
        image_origins=settings.image_origin,
        sample_images=settings.sample_images,
        stop=anyio.Event(),
        problems=Problems(widgets, server.rendering.journal, settings.image_origin),
        history=History(),
        clean=clean,
    )
    files = site.build(shown, folder, f"{base.rstrip('/')}/")
    print(f"{folder}: {len(server.registry.current.widgets)} widgets in {files} files")
    if base == "/":
        print(f"Look at it: python3 -m http.server --directory {folder}")


def export(
    name: Tool,
    *,
    output: Output = None,
    dir: Dir = None,
) -> None:
    """Write one widget as a complete .widget file for ChatKit Studio.

    Args:
        output: The file, which must not exist. Default: the widget's name in this folder.
    """
    from widgetd.studio.package import file_name, pack

    widget = find_widget(load_snapshot(dir), name)
    file, packed = output or Path(file_name(widget)), pack(widget)
    if file.exists():
        raise ConfigError("W0002", f"{file} is there already", "name another with --output")
    file.write_bytes(packed.content)
    print(file)
    for sentence in packed.unknown:
        print(sentence, file=sys.stderr)


def snippet(host: str, url: str, token: str = "") -> str:
    """Return the configuration that connects `host` to the daemon at `url`, and its file's name.

    Args:
        host: A key of `HOSTS`, in any case, with spaces or hyphens.
        url: The address of MCP.
        token: Empty if none is needed, or the host logs in.

    Raises:
        ConfigError: The host is unknown, or takes no token (W0002).
    """
    name = host.casefold().replace(" ", "-").replace("_", "-")
    if name not in HOSTS:
        advice = did_you_mean(name, HOSTS, f"known are {', '.join(HOSTS)}")
        raise ConfigError("W0002", f"there is no snippet for '{host}'", advice)
    if token and name in _LOGIN_ONLY:
        advice = "have it log in: serve with --jwt-jwks, --jwt-issuer, --jwt-audience, --public-url"
        problem = f"{_LOGIN_ONLY[name]} sends no token that it was given"
        raise ConfigError("W0002", problem, advice)
    return HOSTS[name](url, f"Bearer {token}" if token else "")


def codes() -> None:
    """Print all codes of faults and warnings, with their meanings."""
    from widgetd.checks.report import format_codes

    print(format_codes())


def _show_file(path: str, content: object) -> str:
    return f"# {path}\n{json.dumps(content, indent=2)}"


def _claude_ai(url: str, _bearer: str) -> str:
    return (
        "# claude.ai → Settings → Connectors → Add custom connector; apps have it, too\n"
        "# Claude's servers connect: they need a public https address, as in --public-url\n"
        "# https://widgets.example.com. Leave the OAuth client's fields empty: with --jwt-issuer,\n"
        "# --jwt-jwks and --jwt-audience, widgetd's metadata says where users log in.\n"
        f"{url}"
    )


def _claude_desktop(url: str, bearer: str) -> str:
    parts = urlsplit(url)
    args = ["mcp-remote", url]
    if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "::1", "localhost"}:
        args.append("--allow-http")  # required beyond this machine
    if bearer:
        # A space within an argument does not survive on Windows.
        args += ["--header", "Authorization:${AUTHORIZATION}"]
    command = {"command": "npx", "args": args}
    server = {**command, "env": {"AUTHORIZATION": bearer}} if bearer else command
    return _show_file("claude_desktop_config.json", {"mcpServers": {"widgetd": server}})


def _claude_code(url: str, bearer: str) -> str:
    header = f' --header "Authorization: {bearer}"' if bearer else ""
    return f"claude mcp add --transport http widgetd {url}{header}"


def _json_snippet(path: str, servers: str, address: str, **fixed: str) -> Callable[[str, str], str]:
    """Return a function that shows a JSON file with a server by its `address` under `servers`."""

    def show(url: str, bearer: str) -> str:
        return _show_file(path, {servers: {"widgetd": {**fixed, address: url, **_headers(bearer)}}})

    return show


def _headers(bearer: str) -> dict[str, Any]:
    return {"headers": {"Authorization": bearer}} if bearer else {}


def _chatgpt(url: str, _bearer: str) -> str:
    return (
        "# Settings → Apps & Connectors → Advanced → Developer mode → Create\n"
        "# ChatGPT needs an https address that it can reach; put widgetd behind one.\n"
        f"{url}"
    )


def _codex(url: str, bearer: str) -> str:
    header = f'\nhttp_headers = {{ Authorization = "{bearer}" }}' if bearer else ""
    return f'# ~/.codex/config.toml\n[mcp_servers.widgetd]\nurl = "{url}"{header}'


def _goose(url: str, bearer: str) -> str:
    header = f'\n    headers:\n      Authorization: "{bearer}"' if bearer else ""
    return (
        "# ~/.config/goose/config.yaml\n"
        "extensions:\n"
        "  widgetd:\n"
        "    name: widgetd\n"
        "    type: streamable_http\n"
        f"    uri: {url}\n"
        f"    enabled: true{header}"
    )


def _langgraph(url: str, bearer: str) -> str:
    headers = f", headers={json.dumps(_headers(bearer)['headers'])}" if bearer else ""
    return (
        '# pip install "langchain[mcp]", also beside widgetd. The older langchain-mcp-adapters\n'
        "# needs mcp<2, and so an environment of its own.\n"
        "from fastmcp.client.transports import StreamableHttpTransport\n"
        "from langchain.mcp import MCPAdapter\n\n"
        f"transport = StreamableHttpTransport({json.dumps(url)}{headers})\n"
        "async with MCPAdapter(transport) as widgets:\n"
        "    tools = await widgets.list_tools()"
    )


def _openai_agents(url: str, bearer: str) -> str:
    params = json.dumps({"url": url, **_headers(bearer)})
    return (
        "from agents.mcp import MCPServerStreamableHttp\n\n"
        f'async with MCPServerStreamableHttp(name="widgetd", params={params}) as server:\n'
        '    agent = Agent(name="assistant", mcp_servers=[server])'
    )


_LOGIN_ONLY = {"chatgpt": "ChatGPT", "claude-ai": "claude.ai", "claude-web": "claude.ai"}
"""Hosts that cannot be given a token, by their names for people."""

HOSTS: Mapping[str, Callable[[str, str], str]] = MappingProxyType(
    {
        "claude-ai": _claude_ai,
        "claude-web": _claude_ai,
        "claude-desktop": _claude_desktop,
        "claude-code": _claude_code,
        "cursor": _json_snippet(".cursor/mcp.json", "mcpServers", "url"),
        "vscode": _json_snippet(".vscode/mcp.json", "servers", "url", type="http"),
        "chatgpt": _chatgpt,
        "codex": _codex,
        "goose": _goose,
        "gemini-cli": _json_snippet("~/.gemini/settings.json", "mcpServers", "httpUrl"),
        "langgraph": _langgraph,
        "openai-agents": _openai_agents,
    }
)
"""Configuration by host, made from the address and `Bearer TOKEN`.

Source: each host's own documentation of its MCP configuration.
"""
