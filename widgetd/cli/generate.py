"""Commands that write what others need: types, a sidecar, a client's configuration, the codes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import urlsplit

from widgetd.cli.options import Dir, snapshot_of
from widgetd.errors import ConfigError
from widgetd.settings import folder_of, settle
from widgetd.text_search import compile_pattern, did_you_mean

MCP_URL = "http://127.0.0.1:8787/mcp"

_PATH = compile_pattern(r"[\w./~-]*")


def types(*, lang: Literal["ts", "python"] = "ts", dir: Dir = None) -> int:
    """Print types of what each widget takes and answers, with a guard for each type of response.

    Args:
        lang: TypeScript, or Python typed dictionaries.
        dir: The folder of widgets.
    """
    from widgetd.declarations.module import declarations

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


def config(host: str, *, url: str = MCP_URL, token: str = "") -> int:
    """Print what connects a host (claude-code, cursor, vscode, …) to a running daemon.

    Args:
        host: claude-desktop, claude-code, cursor, vscode, chatgpt, codex, goose, gemini-cli,
            langgraph or openai-agents.
        url: Where MCP is served.
        token: What the daemon lets this host in by. Leave it out where hosts log in by themselves.
    """
    print(snippet(host, url, token))
    return 0


def build(folder: Path, *, dir: Dir = None, base: str = "/", url: str = MCP_URL) -> int:
    """Write the gallery as a site of files: every widget in every state, and no daemon behind it.

    Args:
        folder: Where to write it.
        dir: The folder of widgets.
        base: The path at which the site will stand, as /widgets/.
        url: Where MCP is served, for the calls that can be copied.
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
    )
    files = site.build(shown, folder, f"{base.rstrip('/')}/")
    print(f"{folder}: {len(server.registry.current.widgets)} widgets in {files} files")
    return 0


def snippet(host: str, url: str, token: str = "") -> str:
    """What connects `host` to the daemon at `url`, with where it goes.

    A host is a key of `HOSTS`, in any case, with spaces or hyphens. It has no token where none is
    needed, or hosts log in.

    Raises:
        ConfigError: The host is unknown, or takes no token (W0002); it names what would be right.
    """
    name = host.casefold().replace(" ", "-").replace("_", "-")
    if name not in HOSTS:
        advice = did_you_mean(name, HOSTS, f"known are {', '.join(HOSTS)}")
        raise ConfigError("W0002", f"there is no snippet for '{host}'", advice)
    if token and name == "chatgpt":
        advice = "have it log in: serve with --jwt-jwks, --jwt-issuer, --jwt-audience, --public-url"
        raise ConfigError("W0002", "ChatGPT sends no token that it was given", advice)
    return HOSTS[name](url, f"Bearer {token}" if token else "")


def codes() -> int:
    """Print every code by which widgetd says no, with what it means."""
    from widgetd.checks.report import format_codes

    print(format_codes())
    return 0


def _in_file(path: str, content: object) -> str:
    return f"# {path}\n{json.dumps(content, indent=2)}"


def _claude_desktop(url: str, bearer: str) -> str:
    parts = urlsplit(url)
    args = ["mcp-remote", url]
    if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "::1", "localhost"}:
        args.append("--allow-http")  # which it demands beyond this machine
    if bearer:
        # A space within an argument does not survive on Windows.
        args += ["--header", "Authorization:${AUTHORIZATION}"]
    command = {"command": "npx", "args": args}
    said = {**command, "env": {"AUTHORIZATION": bearer}} if bearer else command
    return _in_file("claude_desktop_config.json", {"mcpServers": {"widgetd": said}})


def _claude_code(url: str, bearer: str) -> str:
    header = f' --header "Authorization: {bearer}"' if bearer else ""
    return f"claude mcp add --transport http widgetd {url}{header}"


def _in_json(path: str, servers: str, address: str, **fixed: str) -> Callable[[str, str], str]:
    """A snippet for a file of JSON, whose key `servers` has a server by its `address`."""

    def made(url: str, bearer: str) -> str:
        return _in_file(path, {servers: {"widgetd": {**fixed, address: url, **_headers(bearer)}}})

    return made


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
    server = json.dumps({"transport": "http", "url": url, **_headers(bearer)})
    return (
        "from langchain_mcp_adapters.client import MultiServerMCPClient\n\n"
        f'client = MultiServerMCPClient({{"widgetd": {server}}})\n'
        "tools = await client.get_tools()"
    )


def _openai_agents(url: str, bearer: str) -> str:
    params = json.dumps({"url": url, **_headers(bearer)})
    return (
        "from agents.mcp import MCPServerStreamableHttp\n\n"
        f'async with MCPServerStreamableHttp(name="widgetd", params={params}) as server:\n'
        '    agent = Agent(name="assistant", mcp_servers=[server])'
    )


HOSTS: Mapping[str, Callable[[str, str], str]] = MappingProxyType(
    {
        "claude-desktop": _claude_desktop,
        "claude-code": _claude_code,
        "cursor": _in_json(".cursor/mcp.json", "mcpServers", "url"),
        "vscode": _in_json(".vscode/mcp.json", "servers", "url", type="http"),
        "chatgpt": _chatgpt,
        "codex": _codex,
        "goose": _goose,
        "gemini-cli": _in_json("~/.gemini/settings.json", "mcpServers", "httpUrl"),
        "langgraph": _langgraph,
        "openai-agents": _openai_agents,
    }
)
"""What to paste where, so that a host finds a running widgetd, by its address and `Bearer TOKEN`.

Source: each host's own documentation of its MCP configuration.
"""
