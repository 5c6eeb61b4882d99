"""The JSON Schemas of the files that people write, made of what reads these files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from widgetd.settings import Settings
from widgetd.widget.document import KNOWN, REQUIRED, SHAPES, VERSION
from widgetd.widget.sidecar import Sidecar

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_TYPES: Mapping[type, str] = {str: "string", dict: "object"}


def document_schema() -> dict[str, Any]:
    """Of a `.widget` file."""
    properties: dict[str, Any] = {"$schema": {"type": "string"}}
    for key in KNOWN:
        name = _TYPES[SHAPES[key][0]]
        properties[key] = {"type": name if key in REQUIRED else [name, "null"]}
    properties["version"] = {"const": VERSION}
    properties["template"]["pattern"] = r"\S"
    properties["template"]["description"] = "Jinja that writes a tree of components as JSON."
    properties["jsonSchema"]["description"] = "The JSON Schema of the tool's arguments."
    return {
        "$schema": DRAFT,
        "title": "A ChatKit widget",
        "type": "object",
        "properties": properties,
        "required": list(REQUIRED),
    }


def sidecar_schema() -> dict[str, Any]:
    """Of a `.widget.toml` file."""
    return {"$schema": DRAFT, **Sidecar.model_json_schema(), "title": "A widget's sidecar"}


def settings_schema() -> dict[str, Any]:
    """Of a `widgetd.toml` file."""
    schema = Settings.model_json_schema()
    for name, part in schema["properties"].items():
        # A list of words may be one text with commas.
        if part.get("type") == "array":
            schema["properties"][name] = {"anyOf": [part, {"type": "string"}]} | {
                key: part.pop(key) for key in ("default", "description") if key in part
            }
    return {"$schema": DRAFT, **schema, "title": "widgetd.toml"}


SCHEMA_OF: Mapping[str, Callable[[], dict[str, Any]]] = {
    "widget": document_schema,
    "sidecar": sidecar_schema,
    "settings": settings_schema,
}
"""By what `widgetd schema` calls them."""
