"""The entry of one file: its widget, or its fault beside the last good widget."""

from __future__ import annotations

from dataclasses import replace

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.base.logs import get_logger
from widgetd.core.widget.theme import THEME_FILE, read_theme
from widgetd.server.catalog.loader import Load
from widgetd.server.catalog.snapshot import Entry

_log = get_logger()


def key_of(source: Source, sidecar: Source | None) -> str:
    return source.digest if sidecar is None else f"{source.digest}+{sidecar.digest}"


def load_entry(
    entry: Entry | None, key: str, source: Source, sidecar: Source | None, load: Load
) -> Entry:
    try:
        if source.path == THEME_FILE:
            return Entry(path=source.path, key=key, widget=None, theme=read_theme(source))
        widget = load(source, sidecar)
    except WidgetError as error:
        return broken_entry(entry, source.path, key, error)
    except Exception as error:  # noqa: BLE001 - a defect at one file must not stop the others
        _log.exception("widget.crashed", path=source.path)
        problem = f"widgetd itself failed on it ({type(error).__name__})"
        advice = "this is a defect of widgetd; report it with this file"
        defect = Finding(code="W1005", problem=problem, advice=advice, path=source.path)
        return broken_entry(entry, source.path, key, WidgetError(defect))
    return Entry(path=source.path, key=key, widget=widget)


def broken_entry(entry: Entry | None, path: str, key: str, error: WidgetError) -> Entry:
    fault, *further = error.findings
    entry = entry or Entry(path=path, key=key, widget=None)
    return replace(entry, key=key, fault=fault, further_faults=tuple(further))
