"""What can be read of a widget, of all of them and of a render, as text.

Knows neither addresses nor who reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import orjson

from widgetd.catalog.snapshot import Snapshot
from widgetd.checks import findings
from widgetd.mcp.result import ui
from widgetd.store.values import StoredRender
from widgetd.widget.actions import known_actions
from widgetd.widget.widget import Widget

JSON = "application/json"
TEXT = "text/plain"

Part = Callable[[Widget, Snapshot], str | None]


def json_text(value: object) -> str:
    """`value` as JSON."""
    return orjson.dumps(value, default=dict).decode()


def _json(value: object) -> str | None:
    """`value` as JSON; None where there is none."""
    return None if value is None else json_text(value)


def _jsx(widget: Widget) -> str | None:
    return None if widget.definition.studio is None else widget.definition.studio.view


def _problems(widget: Widget, snapshot: Snapshot) -> str | None:
    fault = snapshot.faults.get(widget.definition.path)
    said = ([fault] if fault else []) + list(findings(widget))
    return json_text([{"level": f.level, "code": f.code, "text": str(f)} for f in said])


def _actions(widget: Widget, _snapshot: Snapshot) -> str | None:
    return _json([action.said() for action in known_actions(widget)] or None)


PARTS: Mapping[str, tuple[str, Part]] = {
    "template": (TEXT, lambda widget, _: widget.definition.template),
    "encoded": (TEXT, lambda widget, _: widget.definition.encoded),
    "schema": (JSON, lambda widget, _: json_text(widget.schema.advertised)),
    "preview": (JSON, lambda widget, _: _json(widget.definition.preview)),
    "example": (JSON, lambda widget, _: _json(widget.example)),
    "source": (JSON, lambda widget, _: widget.definition.content.decode()),
    "view": (TEXT, lambda widget, _: _jsx(widget)),
    "actions": (JSON, _actions),
    "problems": (JSON, _problems),
}
"""What can be read of a widget, by name: its type, and how it is found."""

SLOW = "problems"
"""The part that renders the widget many times over; there always is one."""


def overview_text(widget: Widget, parts: Sequence[str]) -> str:
    """What a widget is, and where its parts are.

    Args:
        widget: Which one.
        parts: The addresses of its parts.
    """
    definition = widget.definition
    return json_text(
        {
            "name": widget.tool,
            "title": definition.title,
            "description": widget.description,
            "tags": definition.tags,
            "uiType": definition.ui_type,
            "digest": widget.key,
            "parts": parts,
        }
    )


def render_text(render: StoredRender) -> str:
    """A render: `{"tree", "text", "data", "ui", "render"}`."""
    return json_text(
        {
            "tree": render.tree,
            "text": render.text,
            "data": render.facts,
            "ui": render.ui,
            "render": render.mark,
        }
    )


def ui_types_text(snapshot: Snapshot) -> str:
    """`[{"uiType", "widget", "component", "version", "deprecated"}]`."""
    said = {tool: ui(widget) for tool, widget in snapshot.widgets.items()}
    return json_text(
        [
            {
                "uiType": one.ui_type,
                "widget": tool,
                "component": one.ui_metadata.component,
                "version": one.ui_metadata.version,
                "deprecated": bool(one.ui_metadata.deprecated),
            }
            for tool, one in said.items()
        ]
    )
