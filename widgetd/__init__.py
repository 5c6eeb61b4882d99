"""widgetd serves ChatKit Studio widgets as typed MCP tools, and reloads them as files change.

From a file to a result:

    base/files/      path -> Source                     bytes on disk
    core/widget/     Source -> Definition -> Widget     one compiled widget
    server/catalog/  Widgets -> Snapshot -> swap        all widgets at one moment
    server/render/   arguments -> tree -> result        one call
    server/mcp/      Snapshot -> MCP tools -> notify    for agents
    server/web/      Snapshot -> pages and probes       for people

Importing this package starts nothing. Each name is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from widgetd.base.errors import CallError, ConfigError, Finding, WidgetdError, WidgetError
    from widgetd.core.schema.pydantic_model import json_schema_to_pydantic
    from widgetd.core.widget.components import json_schema_to_chatkit_widget, to_chatkit
    from widgetd.core.widget.definition import Definition
    from widgetd.core.widget.widget import Widget
    from widgetd.daemon.register import register
    from widgetd.server.catalog.catalog import discover_widgets, get_widget, get_widget_by_name
    from widgetd.server.catalog.loader import load_widget
    from widgetd.server.render.envelope import Envelope, Failure, RenderMark, Ui, UiMetadata
    from widgetd.server.render.mock import mocks
    from widgetd.server.render.response import Facts, Failed, Response, Shown, guard, response
    from widgetd.server.render.result import Policy

__all__ = [
    "CallError",
    "ConfigError",
    "Definition",
    "Envelope",
    "Facts",
    "Failed",
    "Failure",
    "Finding",
    "Policy",
    "RenderMark",
    "Response",
    "Shown",
    "Ui",
    "UiMetadata",
    "Widget",
    "WidgetError",
    "WidgetdError",
    "discover_widgets",
    "get_widget",
    "get_widget_by_name",
    "guard",
    "json_schema_to_chatkit_widget",
    "json_schema_to_pydantic",
    "load_widget",
    "mocks",
    "register",
    "response",
    "to_chatkit",
]

_NAMES = {
    "widgetd.server.catalog.catalog": ("discover_widgets", "get_widget", "get_widget_by_name"),
    "widgetd.server.catalog.loader": ("load_widget",),
    "widgetd.daemon.register": ("register",),
    "widgetd.base.errors": ("CallError", "ConfigError", "Finding", "WidgetError", "WidgetdError"),
    "widgetd.server.render.envelope": ("Envelope", "Failure", "RenderMark", "Ui", "UiMetadata"),
    "widgetd.server.render.mock": ("mocks",),
    "widgetd.server.render.response": ("Facts", "Failed", "Response", "Shown", "guard", "response"),
    "widgetd.server.render.result": ("Policy",),
    "widgetd.core.schema.pydantic_model": ("json_schema_to_pydantic",),
    "widgetd.core.widget.components": ("json_schema_to_chatkit_widget", "to_chatkit"),
    "widgetd.core.widget.definition": ("Definition",),
    "widgetd.core.widget.widget": ("Widget",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'widgetd' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
