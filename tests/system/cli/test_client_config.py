"""Configurations of clients that `widgetd config` prints."""

from __future__ import annotations

import ast
import json
import textwrap
import tomllib
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from tests.support.daemons import serving
from tests.support.widgets import widget_file
from widgetd.base.errors import ConfigError
from widgetd.cli import main
from widgetd.cli.client_config import HOSTS, snippet

URL = "http://127.0.0.1:9/mcp"


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_snippet_has_the_daemons_address(host: str) -> None:
    assert URL in snippet(host, URL)


@pytest.mark.parametrize("host", ["claude-desktop", "cursor", "vscode", "gemini-cli"])
def test_snippet_for_a_json_file_is_json_below_the_name_of_the_file(host: str) -> None:
    where, _, text = snippet(host, URL).partition("\n")

    assert where.startswith("# ")
    [servers] = json.loads(text).values()
    assert set(servers) == {"widgetd"}


def test_codex_snippet_is_toml() -> None:
    assert tomllib.loads(snippet("codex", URL)) == {"mcp_servers": {"widgetd": {"url": URL}}}


@pytest.mark.parametrize("host", ["google", "langgraph", "openai-agents"])
def test_snippet_for_a_library_is_python(host: str) -> None:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST

    assert compile(snippet(host, URL), host, "exec", flags)


def test_host_names_match_in_any_spelling() -> None:
    assert snippet("Claude Code", URL) == f"claude mcp add --transport http widgetd {URL}"


def test_unknown_host_is_a_sentence_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError) as caught:
        snippet("cursr", URL)

    assert str(caught.value) == (
        "there is no snippet for 'cursr'; did you mean 'cursor'? "
        "(`config json` and `config toml` print what other hosts read)"
    )


@pytest.mark.parametrize("host", sorted(set(HOSTS) - {"chatgpt", "claude-ai", "claude-web"}))
def test_token_is_placed_where_its_host_reads_it(host: str) -> None:
    assert "Bearer s3cret" in snippet(host, URL, "s3cret")
    assert "Bearer" not in snippet(host, URL)


@pytest.mark.parametrize(
    ("host", "name"),
    [("chatgpt", "ChatGPT"), ("claude-ai", "claude.ai"), ("claude-web", "claude.ai")],
)
def test_host_without_tokens_gets_a_note_about_login(host: str, name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} sends no token that it was given; have it log"):
        snippet(host, URL, "s3cret")


def test_claude_ai_needs_a_public_https_address_and_logs_in_by_metadata() -> None:
    text = snippet("claude-web", "https://widgets.example.com/mcp")

    assert text.endswith("\nhttps://widgets.example.com/mcp")
    assert "Add custom connector" in text
    assert "public https address" in text
    assert "widgetd's metadata says where users log in" in text


@pytest.mark.skipif(find_spec("langchain") is None, reason="langchain is not installed")
@pytest.mark.filterwarnings("ignore:.*langchain.mcp")
@pytest.mark.parametrize("token", ["", "s3cret"])
async def test_program_for_langgraph_lists_the_tools_of_a_daemon(
    tmp_path: Path, token: str
) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    with anyio.fail_after(60):
        async with serving(tmp_path) as url:
            indented = textwrap.indent(snippet("langgraph", url, token), "    ")
            program = f"async def main():\n{indented}\n    return tools\n"
            names: dict[str, Any] = {}
            exec(compile(program, "langgraph", "exec"), names)
            tools = await names["main"]()

    assert "greeting" in {tool.name for tool in tools}


@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_version_flag_prints_the_version(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([flag]) == 0

    assert capsys.readouterr().out == f"{version('widgetd')}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_with_every_command(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    assert main(["--install-completion"]) == 0
    files = (file.read_text() for file in tmp_path.rglob("*") if file.is_file())
    installed = "".join(files)

    assert "widgetd" in installed
    for command in ("serve", "status", "upstreams"):
        assert command in installed


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://127.0.0.1:8787/mcp", False),
        ("http://[::1]:8787/mcp", False),
        ("http://widgets.lan:8787/mcp", True),
        ("https://widgets.example.com/mcp", False),
    ],
)
def test_bridge_allows_plain_http_only_beyond_this_machine(url: str, *, allowed: bool) -> None:
    assert ("--allow-http" in snippet("claude-desktop", url)) == allowed


@pytest.mark.parametrize("token", ["", "s3cret"])
def test_each_snippet_has_the_syntax_of_its_file(token: str) -> None:
    for host in ("claude-desktop", "cursor", "vscode", "gemini-cli"):
        json.loads(snippet(host, URL, token).partition("\n")[2])
    for host in ("langgraph", "openai-agents"):
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
        compile(snippet(host, URL, token), host, "exec", flags)
    tomllib.loads(snippet("codex", URL, token))
    yaml.safe_load(snippet("goose", URL, token))
