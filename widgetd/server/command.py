"""Commands of wings: the options that they share, and the shell that runs them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import orjson
from cyclopts import Parameter

from widgetd.base.errors import CallError, ConfigError
from widgetd.base.text_search import did_you_mean
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.widget.hidden_characters import escape_hidden

if TYPE_CHECKING:  # `widgetd --help` reads these options, too
    from widgetd.base.errors import Finding
    from widgetd.core.widget.widget import Widget
    from widgetd.server.catalog.snapshot import Snapshot


class CommandLine(Protocol):
    """The parts of the command line that commands of wings use."""

    def read_settings(self, **flags: object) -> Any:
        """Return the settings of this environment and folder; a flag that is None is not set."""

    def folder_of(self, settings: Any) -> Path:
        """Return the folder that a daemon with these settings serves."""

    def load_snapshot(self, dir: Path | None) -> Snapshot:
        """Load the widgets of `dir`, by default of the folder that `serve` would serve."""

    def rules(self, settings: Any) -> Callable[[Widget], tuple[Finding, ...]]:
        """Return `check_widget` as the settings configure it."""

    def builtin_schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the schema of each built-in tool."""

    def is_reserved(self, tool: str) -> bool:
        """Return whether no widget may have this tool name."""

    def page_of(self, folder: Path, tool: str) -> str:
        """Return a sentence about where to look at a widget of `folder`."""

    def setting_groups(self) -> Mapping[str, Mapping[str, str]]:
        """Return the description of each setting, by group."""

    def settings_schema(self) -> dict[str, Any]:
        """Return the schema of a `widgetd.toml` file."""


Shell = Annotated[CommandLine, Parameter(parse=False)]
"""A keyword of commands, which the command line fills in by itself."""

Folder = Annotated[
    Path | None,
    Parameter(help="The folder of widgets. Default: ./widgets, else the bundled ones."),
]
Tool = Annotated[str, Parameter(help="The tool's name, as `widgetd list` prints it.")]
Output = Annotated[
    Path | None,
    Parameter(name=["--output", "-o"], allow_leading_hyphen=True),  # or "-" would be a flag
]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", help="Show no progress.")]
MCP_URL = "http://127.0.0.1:8787/mcp"
"""The address of a daemon without settings."""
STANDARD = Path("-")
"""The file that means standard output."""
Arguments = Annotated[
    str,
    Parameter(
        help="JSON, @FILE with JSON, or - for standard input.",
        allow_leading_hyphen=True,  # or "-" would be taken for a flag
    ),
]


def find_widget(snapshot: Snapshot, name: str) -> Widget:
    """Return the widget whose tool is called `name`.

    Raises:
        CallError: There is none; the error names the nearest.
    """
    if name not in snapshot.widgets:
        hint = did_you_mean(name, snapshot.widgets, "`widgetd list` names what there is")
        raise CallError("W2001", f"there is no widget '{name}'; {hint}", path="name")
    return snapshot.widgets[name]


def parse_arguments(text: str) -> Mapping[str, Any]:
    """Parse the arguments in a flag: JSON, `@FILE` with JSON, or `-` for standard input.

    Raises:
        ConfigError: The file cannot be read, or its content is not a JSON object.
    """
    if text == "-":
        content = sys.stdin.buffer.read()
    elif text.startswith("@"):
        try:
            content = Path(text[1:]).read_bytes()
        except OSError as error:
            problem = f"{text[1:]} cannot be read ({error.strerror})"
            raise ConfigError("W0006", problem, "name another file", exit_code=3) from None
    else:
        content = os.fsencode(text)
    try:
        arguments = parse_json(content)
    except NotJsonError as error:
        raise ConfigError("W0002", f"--arguments is not JSON ({error})", "quote it") from None
    if not isinstance(arguments, dict):
        raise ConfigError("W0002", "--arguments is no JSON object", 'write {"name": value}')
    return arguments


def write_content(file: Path, content: bytes) -> None:
    """Write a file and print its name; `-` is standard output."""
    if file == STANDARD:
        sys.stdout.buffer.write(content)
    else:
        file.write_bytes(content)
        print(file)


def print_json(value: object) -> None:
    print(escape_hidden(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()))


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun: `1 widget`, `2 widgets`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
