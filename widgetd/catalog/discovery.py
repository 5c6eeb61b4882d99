"""Read widgets for a program that serves them itself, or not at all.

No watching, no registry, no MCP: a folder or a file in, widgets out. One thread
does all of it: compiling holds the interpreter's lock and is all but the whole work,
so four threads were measured to be no faster.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import structlog

from widgetd.catalog.loader import read_pair
from widgetd.catalog.reload import Folder, Workshop
from widgetd.errors import ConfigError, Finding
from widgetd.files.folder import opened
from widgetd.files.source import Source
from widgetd.limits import Limits
from widgetd.widget.definition import define
from widgetd.widget.widget import Widget, compile_widget

_log = structlog.get_logger()


def load(source: Source, sidecar: Source | None = None, *, limits: Limits) -> Widget:
    """The widget that a file and its sidecar make.

    Raises:
        WidgetError: They make none.
    """
    return compile_widget(define(source, sidecar, limits=limits), limits=limits)


def load_widget(path: str | os.PathLike[str], *, limits: Limits | None = None) -> Widget:
    """The widget in the file at `path`, with the sidecar beside it if there is one.

    Raises:
        WidgetError: The file cannot be served, with where and why.
        FileNotFoundError: There is no such file.
    """
    limits = limits or Limits()
    file = Path(path)
    with opened(file.parent) as folder:
        source, sidecar = read_pair(folder, file.name, limit_bytes=limits.file_bytes)
    return load(source, sidecar, limits=limits)


def discover_widgets(
    folder: str | os.PathLike[str],
    *,
    limits: Limits | None = None,
    refused: Callable[[Finding], None] | None = None,
) -> list[Widget]:
    """Every widget in `folder` and below, in the order of tool names.

    Args:
        folder: The folder.
        limits: What one widget may ask for.
        refused: Told of each file that cannot be served; by default it is logged.

    Raises:
        ConfigError: There is no such folder.
    """
    limits = limits or Limits()
    make = partial(load, limits=limits)
    found = Folder(
        Workshop(root=Path(folder), make=make, limit_bytes=limits.file_bytes, quiet_ms=0)
    ).look()
    if found.degraded is not None:
        problem = f"{os.fspath(folder)}: {found.degraded.problem}"
        raise ConfigError("W0003", problem, "name another folder", exit_code=3)
    for fault in found.faults.values():
        (refused or _tell)(fault)
    return list(found.widgets.values())


def get_widget(name: str, folder: str | os.PathLike[str]) -> Widget | None:
    """The widget of `folder` that is called `name`, as a tool or by its title; None if none is."""
    for widget in discover_widgets(folder):
        if name in (widget.tool, widget.definition.name, widget.definition.title):
            return widget
    return None


def _tell(fault: Finding) -> None:
    _log.warning("widget.refused", path=fault.path, code=fault.code, problem=str(fault))
