"""`widgetd config`: what connects a host to a daemon."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from widgetd.base.errors import ConfigError
from widgetd.base.text_search import did_you_mean
from widgetd.server.command import MCP_URL

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Hosts that only this machine reaches."""


def config(host: str, *, url: str = MCP_URL, token: str = "") -> None:
    """Print what connects a host (claude-code, cursor, vscode, …) to a daemon.

    Args:
        host: claude-ai (or claude-web), claude-desktop, claude-code, cursor, vscode, chatgpt,
            codex, goose, gemini-cli, cline, dify, jetbrains, librechat, n8n, open-webui, windsurf,
            zed, google, langgraph or openai-agents. For any other: json or toml.
        url: The address of MCP.
        token: The host's token. Leave it out for hosts that log in by themselves.
    """
    print(snippet(host, url, token))


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
        advice += " (`config json` and `config toml` print what other hosts read)"
        raise ConfigError("W0002", f"there is no snippet for '{host}'", advice)
    if token and name in _LOGIN_ONLY:
        advice = "have it log in: serve with --jwt-jwks, --jwt-issuer, --jwt-audience, --public-url"
        problem = f"{_LOGIN_ONLY[name]} sends no token that it was given"
        raise ConfigError("W0002", problem, advice)
    return HOSTS[name](url, f"Bearer {token}" if token else "")


def _text(template: str, header: str = "") -> Callable[[str, str], str]:
    def show(url: str, bearer: str) -> str:
        values = {"url": url, "bearer": bearer}
        values |= {f"{name}_json": json.dumps(value) for name, value in values.items()}
        return template.format(header=header.format(**values) if bearer else "", **values)

    return show


def _show_file(path: str, content: object) -> str:
    return f"# {path}\n{json.dumps(content, indent=2)}"


def _json_file(path: str, servers: str, address: str, **fixed: str) -> Callable[[str, str], str]:
    def show(url: str, bearer: str) -> str:
        headers = {"headers": {"Authorization": bearer}} if bearer else {}
        return _show_file(path, {servers: {"widgetd": {**fixed, address: url, **headers}}})

    return show


def _claude_desktop(url: str, bearer: str) -> str:
    parts = urlsplit(url)
    args = ["mcp-remote", url]
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        args.append("--allow-http")  # required beyond this machine
    if bearer:
        # A space within an argument does not survive on Windows.
        args += ["--header", "Authorization:${AUTHORIZATION}"]
    command = {"command": "npx", "args": args}
    server = {**command, "env": {"AUTHORIZATION": bearer}} if bearer else command
    return _show_file("claude_desktop_config.json", {"mcpServers": {"widgetd": server}})


_claude_ai = _text("""\
# claude.ai → Settings → Connectors → Add custom connector; apps have it, too
# Claude's servers connect: they need a public https address, as in --public-url
# https://widgets.example.com. Leave the OAuth client's fields empty: with --jwt-issuer,
# --jwt-jwks and --jwt-audience, widgetd's metadata says where users log in.
{url}""")

_chatgpt = _text("""\
# Settings → Apps & Connectors → Advanced → Developer mode → Create
# ChatGPT needs an https address that it can reach; put widgetd behind one.
{url}""")

_goose = _text(
    """\
# ~/.config/goose/config.yaml
extensions:
  widgetd:
    name: widgetd
    type: streamable_http
    uri: {url}
    enabled: true{header}""",
    '\n    headers:\n      Authorization: "{bearer}"',
)

_langgraph = _text(
    """\
# pip install "langchain[mcp]", also beside widgetd. The older langchain-mcp-adapters
# needs mcp<2, and so an environment of its own.
from fastmcp.client.transports import StreamableHttpTransport
from langchain.mcp import MCPAdapter

transport = StreamableHttpTransport({url_json}{header})
async with MCPAdapter(transport) as widgets:
    tools = await widgets.list_tools()""",
    ', headers={{"Authorization": {bearer_json}}}',
)

_google = _text(
    """\
# pip install google-genai. Declare the tools as below: given the MCP session itself, it fails on
# schemas with "additionalProperties": false, as most widgets have.
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from google.genai import types

transport = StreamableHttpTransport({url_json}{header})
async with Client(transport) as widgets:
    tools = [
        types.FunctionDeclaration(
            name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema
        )
        for tool in await widgets.list_tools()
    ]
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=tools)])""",
    ', headers={{"Authorization": {bearer_json}}}',
)

_openai_agents = _text(
    """\
# Leave strict mode off (convert_schemas_to_strict): it refuses formats such as uri.
from agents.mcp import MCPServerStreamableHttp

async with MCPServerStreamableHttp(name="widgetd", params={{"url": {url_json}{header}}}) as server:
    agent = Agent(name="assistant", mcp_servers=[server])""",
    ', "headers": {{"Authorization": {bearer_json}}}',
)

_dify = _text(
    """\
# Tools → MCP → Add MCP Server (HTTP)
Server URL: {url}{header}""",
    "\nHeaders: Authorization = {bearer}",
)

_librechat = _text(
    """\
# librechat.yaml
mcpServers:
  widgetd:
    type: streamable-http
    url: {url}{header}""",
    '\n    headers:\n      Authorization: "{bearer}"',
)

_n8n = _text(
    """\
# An AI Agent's tool: MCP Client Tool
Endpoint: {url}
Server Transport: HTTP Streamable{header}""",
    "\nAuthentication: Header Auth, with Authorization = {bearer}",
)

_open_webui = _text(
    """\
# Admin Panel → Settings → External Tools → Add Server
Type: MCP (Streamable HTTP)
URL: {url}{header}""",
    '\nHeaders: {{"Authorization": {bearer_json}}}',
)

_TOML = '[mcp_servers.widgetd]\nurl = "{url}"{header}'
_TOML_HEADER = '\nhttp_headers = {{ Authorization = "{bearer}" }}'

_LOGIN_ONLY = {"chatgpt": "ChatGPT", "claude-ai": "claude.ai", "claude-web": "claude.ai"}
"""Hosts that cannot be given a token, by their names for people."""

HOSTS: Mapping[str, Callable[[str, str], str]] = MappingProxyType(
    {
        "claude-ai": _claude_ai,
        "claude-web": _claude_ai,
        "claude-desktop": _claude_desktop,
        "claude-code": _text(
            "claude mcp add --transport http widgetd {url}{header}",
            ' --header "Authorization: {bearer}"',
        ),
        "cursor": _json_file(".cursor/mcp.json", "mcpServers", "url"),
        "vscode": _json_file(".vscode/mcp.json", "servers", "url", type="http"),
        "chatgpt": _chatgpt,
        "codex": _text(f"# ~/.codex/config.toml\n{_TOML}", _TOML_HEADER),
        "goose": _goose,
        "gemini-cli": _json_file("~/.gemini/settings.json", "mcpServers", "httpUrl"),
        "cline": _json_file("cline_mcp_settings.json", "mcpServers", "url", type="streamableHttp"),
        "dify": _dify,
        "jetbrains": _json_file(
            "Settings → Tools → AI Assistant → Model Context Protocol (MCP)", "mcpServers", "url"
        ),
        "librechat": _librechat,
        "n8n": _n8n,
        "open-webui": _open_webui,
        "windsurf": _json_file("~/.codeium/windsurf/mcp_config.json", "mcpServers", "serverUrl"),
        "zed": _json_file("~/.config/zed/settings.json", "context_servers", "url"),
        "json": _json_file(".mcp.json, or the file of a host", "mcpServers", "url", type="http"),
        "toml": _text(f"# the file of a host\n{_TOML}", _TOML_HEADER),
        "google": _google,
        "langgraph": _langgraph,
        "openai-agents": _openai_agents,
    }
)
"""Configuration by host, made from the address and `Bearer TOKEN`.

Source: each host's own documentation of its MCP configuration.
"""
