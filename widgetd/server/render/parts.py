"""The parts of a widget as resources: its texts, schema, actions and problems.

A missing part does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.actions import find_widget_actions
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Snapshot

JSON = "application/json"
TEXT = "text/plain"


def json_text(value: object) -> str:
    return to_json(value).decode()


def _json(value: object) -> str | None:
    return None if value is None else json_text(value)


def _problems(widget: Widget, snapshot: Snapshot, image_origins: Collection[str]) -> str | None:
    from widgetd.core.checks.rules import check_widget  # noqa: PLC0415 - few starts check anything

    fault = snapshot.faults.get(widget.definition.path)
    findings = check_widget(widget, image_origins=image_origins, theme=snapshot.theme)
    problems = (fault, *findings) if fault else findings
    return json_text([{"level": f.level, "code": f.code, "text": str(f)} for f in problems])


_ReadPart = Callable[[Widget, Snapshot, Collection[str]], str | None]
"""Reads a part. The last argument holds the origins of images for every widget."""

PARTS: Mapping[str, tuple[str, _ReadPart]] = {
    "template": (TEXT, lambda widget, *_: widget.definition.template),
    "encoded": (TEXT, lambda widget, *_: widget.definition.document.encoded_studio),
    "schema": (JSON, lambda widget, *_: json_text(widget.schema.advertised)),
    "preview": (JSON, lambda widget, *_: _json(widget.definition.document.preview)),
    "example": (JSON, lambda widget, *_: _json(widget.known_example)),
    "source": (JSON, lambda widget, *_: widget.definition.content.decode()),
    "view": (
        TEXT,
        lambda widget, *_: None if (studio := widget.definition.studio) is None else studio.view,
    ),
    "actions": (
        JSON,
        lambda widget, *_: _json(
            [action.to_dict() for action in find_widget_actions(widget)] or None
        ),
    ),
    "problems": (JSON, _problems),
}
"""The parts by name: the media type, and the function for reading the part, or None."""
