"""Commands that write what others need: types, a sidecar, a client's configuration, the codes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from widgetd.cli.options import Dir, snapshot_of
from widgetd.errors import ConfigError


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
    from widgetd.cli.client_config import snippet

    print(snippet(host, url))
    return 0


def codes() -> int:
    """Print every code by which widgetd says no, with what it means."""
    from widgetd.checks.report import codes_as_markdown

    print(codes_as_markdown())
    return 0
