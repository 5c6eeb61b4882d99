"""A module of declarations for a snapshot: the envelope, then each widget's call.

A call's result is declared in the wire's own shape, as its JSON: in either
profile, or failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from widgetd.author.declarations.languages import LANGUAGES
from widgetd.author.declarations.shape import (
    ANY,
    Field,
    ListOf,
    Literals,
    MapOf,
    Named,
    Record,
    Scalar,
    Shape,
    Shaper,
    Union,
    camel,
)
from widgetd.base.limits import Limits
from widgetd.core.schema.document import SchemaDocument, read_document
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.render.envelope import envelope_schema

_ENVELOPE = "Meta"

_FAILED = "Failed"
"""Begins the names of the types of a failed call."""

Notation = Any
"""A shape as data.

A text names a scalar of JSON Schema, `object` an object of any names. A list has the shape of its
elements, a set the possible scalars, a tuple the alternatives, an object its fields. Names of
optional fields end with `?`. A `Shape` is used as it is.
"""

_COMMON: Mapping[str, Notation] = {
    "Content": {
        "type": Literals(("text", "resource_link")),
        "text?": "string",
        "uri?": "string",
        "name?": "string",
        "mimeType?": "string",
    },
    "FailedMeta": {"widgetd/error": Named("MetaFailure")},
    "FailedResponse": {
        "content": [Named("Content")],
        "isError": {True},
        "_meta": Named("FailedMeta"),
        "structuredContent?": "any",
    },
}
"""The parts of every widget's responses."""


def declarations(
    snapshot: Snapshot,
    language: Literal["ts", "python"],
    builtin: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> str:
    """Return the text of a module with the types of `snapshot`.

    For each widget it has the arguments of a call, its response and a type guard, and for all of
    them `Response` and `UiType`. For built-in tools, given by their input schemas, it has the
    arguments.
    """
    spoken = LANGUAGES[language]
    parts = [spoken.header]

    def declare(records: Mapping[str, Record]) -> None:
        parts.extend("\n".join(spoken.declare(record)) for record in records.values())

    def alias(name: str, shape: Shape) -> None:
        parts.append(spoken.alias.format(name, spoken.spell(shape)))

    declare(_records(read_document(envelope_schema(), Limits()), _ENVELOPE))
    declare(_read(_COMMON))
    for tool, schema in builtin.items():
        own = f"{camel(tool)}Arguments"
        declare({own: Record(own, ()), **_records(read_document(dict(schema), Limits()), own)})
    taken = {_FAILED, *map(camel, builtin)}
    widgets: dict[str, Widget] = {}
    for widget in snapshot.widgets.values():
        component = name = widget.definition.component
        number = 2
        while name in widgets or name in taken:
            name, number = f"{component}_{number}", number + 1
        widgets[name] = widget
    for name, widget in widgets.items():
        own = f"{name}Arguments"
        records = _records(widget.schema.document, own)
        arguments = {**records, own: records.get(own, Record(own, ()))}
        declare(arguments)
        declare(_read(_response(widget, name, arguments)))
        ui_type = widget.definition.ui_type
        parts.append(spoken.guard.format(name=name, tool=widget.tool, ui_type=ui_type))
    alias("Response", Union(tuple(Named(f"{name}Response") for name in (*widgets, _FAILED))))
    ui_types = dict.fromkeys(widget.definition.ui_type for widget in widgets.values())
    alias("UiType", Literals(tuple(ui_types)) if ui_types else Scalar("string"))
    return spoken.between.join(parts)


def _read(notations: Mapping[str, Notation]) -> dict[str, Record]:
    records: dict[str, Record] = {}
    for name, notation in notations.items():
        _shape(notation, name, records)
    return records


def _shape(notation: Notation, name: str, records: dict[str, Record]) -> Shape:
    match notation:
        case "any":
            return ANY
        case "object":
            return MapOf(ANY)
        case str():
            return Scalar(notation)
        case set():
            return Literals(tuple(sorted(notation)))
        case list():
            return ListOf(_shape(notation[0], f"{name}Item", records))
        case tuple():
            return Union(tuple(_shape(variant, name, records) for variant in notation))
        case dict():
            fields = tuple(
                Field(
                    key.removesuffix("?"),
                    _shape(value, name + camel(key), records),
                    required=not key.endswith("?"),
                )
                for key, value in notation.items()
            )
            records[name] = Record(name, fields)
            return Named(name)
    shape: Shape = notation
    return shape


def _records(document: SchemaDocument, name: str) -> dict[str, Record]:
    shaper = Shaper(document, name)
    shaper.shape(document.root, name)
    return shaper.records


def _response(widget: Widget, name: str, arguments: Mapping[str, Record]) -> dict[str, Notation]:
    definition = widget.definition
    ui_type, sidecar = {definition.ui_type}, definition.sidecar
    facts: dict[str, Notation] = {"renderId": "string"}
    for path in sidecar.summary_fields:
        facts[path] = _at(arguments, f"{name}Arguments", path.split("."))
    facts |= dict.fromkeys(sidecar.summary_data, "any")
    # In every answer, whether or not it is the sidecar's.
    summary = facts.pop("summary", "string")
    optional = {f"{key}?": shape for key, shape in facts.items()}
    return {
        f"{name}Facts": {"uiType": ui_type, "summary": summary, **optional},
        f"{name}Ui": {"uiType": ui_type, "uiMetadata": Named("MetaUiMetadata")},
        f"{name}Meta": {
            "widgetd/ui": Named(f"{name}Ui"),
            "widgetd/render": Named("MetaRenderMark"),
            "widgetd/widget?": "object",
        },
        f"{name}Response": {
            "content": [Named("Content")],
            "structuredContent": (Named(f"{name}Facts"), "object"),
            "_meta": Named(f"{name}Meta"),
            "isError?": {False},
        },
    }


def _at(records: Mapping[str, Record], name: str, path: Iterable[str]) -> Shape:
    shape: Shape = Named(name)
    for key in path:
        record = records.get(shape.name) if isinstance(shape, Named) else None
        fields = {field.name: field.shape for field in record.fields} if record else {}
        shape = fields.get(key, ANY)
    return shape
