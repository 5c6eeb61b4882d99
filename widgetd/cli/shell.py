"""The command line as commands of wings see it. See `widgetd.server.command.CommandLine`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widgetd.base.files.folder import OWN_FOLDER
from widgetd.cli.running import list_daemons
from widgetd.core.schema.engine import DEFAULT_DRAFT
from widgetd.settings import GROUPS, Settings, describe_settings, folder_of, settle

if TYPE_CHECKING:
    from widgetd.base.errors import Finding
    from widgetd.core.widget.widget import Widget
    from widgetd.server.catalog.snapshot import Snapshot

__all__ = ["folder_of"]


def read_settings(**flags: object) -> Settings:
    return settle(flags, os.environ).settings


def load_snapshot(dir: Path | None) -> Snapshot:
    return scan_widgets(read_settings(dir=dir))


def scan_widgets(settings: Settings) -> Snapshot:
    from widgetd.daemon.loading import build_catalog
    from widgetd.daemon.wings import admit
    from widgetd.server.catalog.loader import Loader

    load = Loader(admit, strict=settings.strict).load
    return build_catalog(settings, folder_of(settings), load, quiet_ms=0).scan()


def rules(settings: Settings) -> Callable[[Widget], tuple[Finding, ...]]:
    from widgetd.daemon.loading import configure_rules

    return configure_rules(settings)


def builtin_schemas() -> Mapping[str, Mapping[str, Any]]:
    from widgetd.daemon.wings import ROWS

    return {tool.name: tool.input_schema for tool in ROWS}


def is_reserved(tool: str) -> bool:
    from widgetd.daemon.wings import NAMES

    return tool in NAMES


def page_of(folder: Path, tool: str) -> str:
    for daemon in list_daemons():
        if daemon.folder == os.path.realpath(folder):
            if daemon.gallery:
                return f"Its page: {daemon.url}/w/{tool}"
            return f"It is the tool {tool} on {daemon.url}/mcp"
    port = Settings.model_fields["port"].default
    command = "widgetd dev" if folder == OWN_FOLDER else f"widgetd dev {folder}"
    return f"Its page, while `{command}` runs: http://127.0.0.1:{port}/w/{tool}"


def setting_groups() -> Mapping[str, Mapping[str, str]]:
    texts = describe_settings()
    return {group: {name: texts[name] for name in names} for group, names in GROUPS.items()}


def settings_schema() -> dict[str, Any]:
    schema = Settings.model_json_schema()
    for name, part in schema["properties"].items():
        # A list of words may be written as a text with commas.
        if part.get("type") == "array":
            schema["properties"][name] = {"anyOf": [part, {"type": "string"}]} | {
                key: part.pop(key) for key in ("default", "description") if key in part
            }
    return {"$schema": DEFAULT_DRAFT, **schema, "title": "widgetd.toml"}
