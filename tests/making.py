"""Make widgets, entries and snapshots in tests, without a disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.serving import widget_file
from widgetd.catalog.loader import load
from widgetd.catalog.snapshot import Entry, Snapshot
from widgetd.errors import Finding
from widgetd.files.source import Source
from widgetd.limits import Limits
from widgetd.widget.widget import Widget


def source(path: str, text: str) -> Source:
    return Source.of(path, text.encode())


def widget(
    name: str = "Greeting", *, path: str = "", sidecar: str | None = None, **file: Any
) -> Widget:
    """The widget of a file that says `file`, see `widget_file`, and of a sidecar's text."""
    path = path or f"{name}.widget"
    beside = None if sidecar is None else source(f"{path}.toml", sidecar)
    return load(source(path, widget_file(name, **file)), beside, limits=Limits())


def entry(made: Widget, fault: Finding | None = None) -> Entry:
    return Entry(path=made.definition.path, key=made.key, widget=made, fault=fault)


def snapshot_of(*widgets: Widget, faults: Mapping[str, Finding] | None = None) -> Snapshot:
    entries = {w.definition.path: entry(w, (faults or {}).get(w.definition.path)) for w in widgets}
    return Snapshot.empty().with_changes(entries)
