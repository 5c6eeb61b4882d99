"""Options and helpers that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import field, make_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import orjson
from cyclopts import Group, Parameter
from cyclopts.validators import Number

from widgetd.base.errors import CallError, ConfigError
from widgetd.base.redaction import SecretUrl
from widgetd.base.text_search import did_you_mean
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.widget.hidden_characters import escape_hidden
from widgetd.settings import GROUPS, SET_FIRST, Settings, Settled, folder_of, settle

if TYPE_CHECKING:
    from widgetd.core.widget.widget import Widget
    from widgetd.server.catalog.snapshot import Snapshot


def _flag_type(annotation: Any) -> Any:
    if SecretUrl in (annotation, *get_args(annotation)):
        return str | None
    return list[str] | None if get_origin(annotation) is tuple else annotation | None


_SECTIONS = {
    name: Group(section.capitalize(), sort_key=at)
    for at, (section, names) in enumerate(GROUPS.items(), 2)
    for name in names
} | dict.fromkeys(SET_FIRST, Group("Set first", sort_key=1))
"""Sections of the help by setting."""


Flags = Parameter(name="*")(
    make_dataclass(
        "Flags",
        [
            (
                name,
                Annotated[
                    _flag_type(setting.annotation),
                    Parameter(help=setting.description, negative="", group=_SECTIONS[name]),
                ],
                field(default=None),
            )
            for name, setting in Settings.model_fields.items()
            if name not in ("dir", "profiles", "webhook_secret", "chat_key")
        ],
        kw_only=True,
        namespace={"__module__": __name__},
    )
)
"""A flag for each setting, so that the two cannot differ."""

Folder = Annotated[
    Path | None,
    Parameter(help="The folder of widgets. Default: ./widgets, else the bundled ones."),
]
Tool = Annotated[str, Parameter(help="The tool's name, as `widgetd list` prints it.")]
Output = Annotated[
    Path | None,
    Parameter(name=["--output", "-o"], allow_leading_hyphen=True),  # or "-" would be a flag
]
STANDARD = Path("-")
"""The file that means standard output."""
Arguments = Annotated[
    str,
    Parameter(
        help="JSON, @FILE with JSON, or - for standard input.",
        allow_leading_hyphen=True,  # or "-" would be taken for a flag
    ),
]

Many = Annotated[int, Parameter(validator=Number(gte=1))]


def settle_flags(
    dir: Path | None,
    flags: object,
    *,
    fixed: Mapping[str, object] = MappingProxyType({}),
    config: Path | None = None,
) -> Settled:
    """Settle all settings from flags, environment and the settings file; `fixed` wins over all."""
    # A flag may hold several words with commas, as a variable does.
    given = {
        name: ",".join(value) if isinstance(value, list) else value
        for name, value in vars(flags).items()
    }
    return settle({"dir": dir, **given, **fixed}, os.environ, config)


def read_settings(**flags: object) -> Settings:
    """Return the settings of this environment and folder; a flag that is None is not given."""
    return settle(flags, os.environ).settings


def load_snapshot(dir: Path | None) -> Snapshot:
    """Load the widgets of `dir`, by default of the folder that `serve` would serve."""
    return scan_widgets(read_settings(dir=dir))


def scan_widgets(settings: Settings) -> Snapshot:
    """Load the widgets as a daemon with these settings would."""
    from widgetd.daemon.loading import build_catalog
    from widgetd.daemon.wings import admit
    from widgetd.server.catalog.loader import Loader

    load = Loader(admit, strict=settings.strict).load
    return build_catalog(settings, folder_of(settings), load, quiet_ms=0).scan()


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
    """Print `value` as indented JSON."""
    print(escape_hidden(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()))


def complain(sentence: str, exit_code: int) -> int:
    """Print an error on stderr and return the exit code."""
    print(f"widgetd: {sentence}", file=sys.stderr)
    return exit_code


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun: `1 widget`, `2 widgets`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
