"""`widgetd schema`: JSON Schemas of people's files, from the code of their readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from widgetd.core.schema.engine import DEFAULT_DRAFT
from widgetd.core.widget.document import KNOWN, REQUIRED, SHAPES, VERSION
from widgetd.core.widget.sidecar import Sidecar
from widgetd.server.command import Shell, print_json

if TYPE_CHECKING:
    from widgetd.author.browser.keywords import Keyword

_TYPES: Mapping[type, str] = {str: "string", dict: "object"}


def schema(what: Literal["widget", "sidecar", "settings", "test", "tree"], *, shell: Shell) -> None:
    """Print the JSON Schema of a kind of file, or of a tree of components, for editors.

    Args:
        what: The kind: .widget, .widget.toml, widgetd.toml, *.test.yaml or a tree.
    """
    print_json({**SCHEMA_OF, "settings": shell.settings_schema}[what]())


def document_schema() -> dict[str, Any]:
    properties: dict[str, Any] = {"$schema": {"type": "string"}}
    for key in KNOWN:
        name = _TYPES[SHAPES[key][0]]
        properties[key] = {"type": name if key in REQUIRED else [name, "null"]}
    properties["version"] = {"const": VERSION}
    properties["template"]["pattern"] = r"\S"
    properties["template"]["description"] = "Jinja that writes a tree of components as JSON."
    properties["jsonSchema"]["description"] = "The JSON Schema of the tool's arguments."
    tree = tree_schema()
    # The second alternative admits every preview: the first only explains and completes it.
    preview = {"anyOf": [{"$ref": "#/$defs/component"}, properties["outputJsonPreview"]]}
    return {
        "$schema": DEFAULT_DRAFT,
        "title": "A ChatKit widget",
        "type": "object",
        "properties": {**properties, "outputJsonPreview": preview},
        "required": list(REQUIRED),
        "$defs": tree["$defs"],
    }


def tree_schema() -> dict[str, Any]:
    # Imported here: the other schemas do not need ChatKit's classes, which take 100 ms to import.
    from widgetd.core.widget.components import load_vocabulary

    components = load_vocabulary().components
    definitions: dict[str, Any] = {}
    kinds = []
    for type_, component in components.items():
        own = dict(component.schema)
        definitions |= own.pop("$defs", {})
        children = {} if component.holds == frozenset() else {"children": _CHILDREN}
        definitions[type_] = {
            **own,
            "description": component.use,
            "properties": {**own["properties"], **children},
        }
        is_type = {"properties": {"type": {"const": type_}}, "required": ["type"]}
        kinds.append({"if": is_type, "then": {"$ref": f"#/$defs/{type_}"}})
    definitions["component"] = {
        "type": "object",
        "properties": {"type": {"enum": list(components)}},
        "required": ["type"],
        "allOf": kinds,
    }
    return {
        "$schema": DEFAULT_DRAFT,
        "title": "A tree of ChatKit components",
        "$ref": "#/$defs/component",
        "$defs": definitions,
    }


_CHILDREN: Mapping[str, Any] = {
    "anyOf": [
        {"$ref": "#/$defs/component"},
        {"type": "array", "items": {"$ref": "#/$defs/component"}},
    ]
}


def sidecar_schema() -> dict[str, Any]:
    schema = Sidecar.model_json_schema()
    several = schema["properties"]["feed"]
    annotations = {key: several.pop(key) for key in ("default", "description", "title")}
    schema["properties"]["feed"] = {"anyOf": [several["items"], several], **annotations}
    return {"$schema": DEFAULT_DRAFT, **schema, "title": "A widget's sidecar"}


def suite_schema() -> dict[str, Any]:
    # Imported here: the other schemas do not need the browser's room.
    from widgetd.author.browser.keywords import KEYWORDS

    does = {
        name: _arguments_schema(row) for row in KEYWORDS.values() for name in (row.name, row.slug)
    }
    alone = [
        name
        for row in KEYWORDS.values()
        if not row.schema.get("required")
        for name in (row.name, row.slug)
    ]
    steps = {"type": "array", "items": {"$ref": "#/$defs/step"}}
    texts = {"type": "array", "items": {"$ref": "#/$defs/text"}}
    rows = {"type": "array", "items": {"type": "object"}}
    module = {"params": texts, "steps": steps}
    use = {"anyOf": [{"$ref": "#/$defs/text"}, {"type": "object", "required": ["module"]}]}
    test: dict[str, Any] = {
        "name": {"$ref": "#/$defs/text"},
        "tags": texts,
        "for": {"anyOf": [rows, {"$ref": "#/$defs/text"}], "description": "Rows, or a CSV file."},
        "steps": {**steps, "minItems": 1},
    }
    return {
        "$schema": DEFAULT_DRAFT,
        "title": "Tests of widgets",
        "type": "object",
        "properties": {
            "widget": {"$ref": "#/$defs/text"},
            "vars": {"type": ["object", "null"]},
            "targets": {"type": "object"},
            "modules": {
                "type": "object",
                "additionalProperties": {"anyOf": [steps, _closed_object(module)]},
            },
            "tests": {"type": "array", "items": _closed_object(test, "name", "steps")},
        },
        "required": ["tests"],
        "additionalProperties": False,
        "$defs": {
            "text": {"type": ["string", "number", "boolean"], "minLength": 1},
            "variable": {"type": "string", "pattern": r"\$\{"},
            "step": {
                "anyOf": [
                    {"enum": alone},
                    {
                        **_closed_object({**does, "use": use, "when": {"type": "object"}}),
                        "minProperties": 1,
                        "maxProperties": 2,
                        "dependentSchemas": {"when": {"minProperties": 2}},
                        "if": {"maxProperties": 2, "minProperties": 2},
                        "then": {"required": ["when"]},
                    },
                ]
            },
        },
    }


def _closed_object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _arguments_schema(row: Keyword) -> dict[str, Any]:
    schema = row.schema
    parts = {
        name: {"anyOf": [part, {"$ref": "#/$defs/variable"}]}
        for name, part in schema["properties"].items()
    }
    forms = [{**schema, "properties": parts}, *list(parts.values())[:1]]
    if not schema.get("required"):
        forms.append({"type": "null"})
    return {"description": row.summary, "anyOf": forms}


SCHEMA_OF: Mapping[str, Callable[[], dict[str, Any]]] = {
    "widget": document_schema,
    "sidecar": sidecar_schema,
    "test": suite_schema,
    "tree": tree_schema,
}
"""Schemas by their names in `widgetd schema`, but for that of the settings."""
