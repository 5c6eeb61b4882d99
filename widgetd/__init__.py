"""widgetd serves ChatKit Studio widgets as typed MCP tools, and reloads them as files change.

From a file to a result:

    files/    path -> Source                     bytes on disk
    widget/   Source -> Definition -> Widget     one compiled widget
    catalog/  Widgets -> Snapshot -> swap        all widgets at one moment
    render/   arguments -> tree -> result        one call
    mcp/      Snapshot -> MCP tools -> notify    for agents
    web/      Snapshot -> pages and probes       for people

Importing this package starts nothing. Each name is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from widgetd.catalog.catalog import discover_widgets, get_widget
    from widgetd.catalog.loader import load_widget
    from widgetd.daemon.register import register
    from widgetd.errors import CallError, ConfigError, Finding, WidgetdError, WidgetError
    from widgetd.render.envelope import Envelope, Failure, RenderMark, Ui, UiMetadata
    from widgetd.render.mock import mocks
    from widgetd.render.response import Facts, Failed, Response, Shown, guard, response
    from widgetd.render.result import Policy
    from widgetd.schema.pydantic_model import json_schema_to_pydantic
    from widgetd.widget.components import to_chatkit
    from widgetd.widget.definition import Definition
    from widgetd.widget.widget import Widget

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
    "guard",
    "json_schema_to_pydantic",
    "load_widget",
    "mocks",
    "register",
    "response",
    "to_chatkit",
]

_NAMES = {
    "widgetd.catalog.catalog": ("discover_widgets", "get_widget"),
    "widgetd.catalog.loader": ("load_widget",),
    "widgetd.daemon.register": ("register",),
    "widgetd.errors": ("CallError", "ConfigError", "Finding", "WidgetError", "WidgetdError"),
    "widgetd.render.envelope": ("Envelope", "Failure", "RenderMark", "Ui", "UiMetadata"),
    "widgetd.render.mock": ("mocks",),
    "widgetd.render.response": ("Facts", "Failed", "Response", "Shown", "guard", "response"),
    "widgetd.render.result": ("Policy",),
    "widgetd.schema.pydantic_model": ("json_schema_to_pydantic",),
    "widgetd.widget.components": ("to_chatkit",),
    "widgetd.widget.definition": ("Definition",),
    "widgetd.widget.widget": ("Widget",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'widgetd' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
