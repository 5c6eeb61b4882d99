"""Widgets, entries and snapshots for tests, without a disk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from widgetd.base.errors import Finding
from widgetd.base.files.folder import bundled_folder
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.catalog import discover_widgets
from widgetd.server.catalog.loader import load
from widgetd.server.catalog.snapshot import Entry, Snapshot

_TEMPLATE = '{"type":"Card","children":[{"type":"Text","value":{{ ("TEXT, " ~ who) | tojson }}}]}'


def widget_file(
    name: str = "Greeting",
    *,
    text: str = "Hello",
    schema: Mapping[str, Any] | None = None,
    template: str | None = None,
    **more: Any,
) -> str:
    """Write a `.widget` file that shows `text` and `who`."""
    document = {
        "version": "1.0",
        "name": name,
        "jsonSchema": schema
        or {
            "type": "object",
            "properties": {"who": {"type": "string", "description": "Whom to greet."}},
            "required": ["who"],
            "additionalProperties": False,
        },
        "template": template or _TEMPLATE.replace("TEXT", text),
        **more,
    }
    return json.dumps(document)


def greeting(text: str, who: str) -> dict[str, Any]:
    """Build the tree that `widget_file(text=text)` renders for `who`."""
    return {"type": "Card", "children": [{"type": "Text", "value": f"{text}, {who}"}]}


@cache
def bundled_widgets() -> tuple[Widget, ...]:
    """Return the widgets that are installed with widgetd, loaded once in each process."""
    return tuple(discover_widgets(bundled_folder()))


def source(path: str, text: str) -> Source:
    return Source.of(path, text.encode())


def build_widget(
    name: str = "Greeting", *, path: str = "", sidecar: str | None = None, **file: Any
) -> Widget:
    """Load a widget from the arguments of `widget_file` and the text of a sidecar."""
    path = path or f"{name}.widget"
    beside = None if sidecar is None else source(f"{path}.toml", sidecar)
    return load(source(path, widget_file(name, **file)), beside, limits=Limits())


def entry(widget: Widget, fault: Finding | None = None) -> Entry:
    return Entry(path=widget.definition.path, key=widget.key, widget=widget, fault=fault)


def snapshot_of(*widgets: Widget, faults: Mapping[str, Finding] | None = None) -> Snapshot:
    entries = {w.definition.path: entry(w, (faults or {}).get(w.definition.path)) for w in widgets}
    return Snapshot.empty().with_changes(entries)
