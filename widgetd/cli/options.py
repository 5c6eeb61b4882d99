"""What a command was given becomes what it works on: a folder, a widget, arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from widgetd.errors import CallError, ConfigError, nearest
from widgetd.settings import folder_of, settle

if TYPE_CHECKING:
    from widgetd.catalog.snapshot import Snapshot
    from widgetd.widget.widget import Widget


def snapshot_of(dir: Path | None) -> Snapshot:
    """What would be served of `dir`, by default of the folder that `serve` would serve."""
    from widgetd.daemon.loading import look

    settings = settle({"dir": dir}, os.environ).settings
    return look(settings, folder_of(settings))


def widget_of(snapshot: Snapshot, name: str) -> Widget:
    """The widget whose tool is called `name`.

    Raises:
        CallError: There is none; the error names the nearest.
    """
    if name not in snapshot.widgets:
        near = nearest(name, tuple(snapshot.widgets))
        hint = f"did you mean '{near}'?" if near else "`widgetd list` names what there is"
        raise CallError("W2001", f"there is no widget '{name}'; {hint}", path="name")
    return snapshot.widgets[name]


def arguments_from(text: str) -> Mapping[str, Any]:
    """The arguments that a flag says: JSON, `@FILE` with JSON, or `-` for standard input.

    Raises:
        ConfigError: The file cannot be read, or what it says is no JSON object.
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
        content = text.encode()
    try:
        arguments = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ConfigError("W0002", f"--arguments is not JSON ({error})", "quote it") from None
    if not isinstance(arguments, dict):
        raise ConfigError("W0002", "--arguments is no JSON object", 'write {"name": value}')
    return arguments
