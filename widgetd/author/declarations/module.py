"""A module of declarations for a snapshot: the envelope, then each widget's call.

A call's result is declared in the wire's own shape, as its JSON: in either
profile, or failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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


def _record(name: str, shapes: Mapping[str, Shape]) -> Record:
    """Return a record of these fields. Names of optional fields end with `?`."""
    fields = (
        Field(key.removesuffix("?"), shape, required=not key.endswith("?"))
        for key, shape in shapes.items()
    )
    return Record(name, tuple(fields))


_CONTENT = ListOf(Named("Content"))
_STRING, _OBJECT = Scalar("string"), MapOf(ANY)

_COMMON = (
    _record(
        "Content",
        {
            "type": Literals(("text", "resource_link")),
            "text?": _STRING,
            "uri?": _STRING,
            "name?": _STRING,
            "mimeType?": _STRING,
        },
    ),
    _record("FailedMeta", {"widgetd/error": Named("MetaFailure")}),
    _record(
        "FailedResponse",
        {
            "content": _CONTENT,
            "isError": Literals((True,)),
            "_meta": Named("FailedMeta"),
            "structuredContent?": ANY,
        },
    ),
)
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

    def declare(records: Iterable[Record]) -> None:
        parts.extend("\n".join(spoken.declare(record)) for record in records)

    def alias(name: str, shape: Shape) -> None:
        parts.append(spoken.alias.format(name, spoken.spell(shape)))

    declare(_records(read_document(envelope_schema(), Limits()), _ENVELOPE).values())
    declare(_COMMON)
    for tool, schema in builtin.items():
        own = f"{camel(tool)}Arguments"
        records = {own: Record(own, ()), **_records(read_document(dict(schema), Limits()), own)}
        declare(records.values())
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
        declare(arguments.values())
        declare(_response(widget, name, arguments))
        ui_type = widget.definition.ui_type
        parts.append(spoken.guard.format(name=name, tool=widget.tool, ui_type=ui_type))
    alias("Response", Union(tuple(Named(f"{name}Response") for name in (*widgets, _FAILED))))
    ui_types = dict.fromkeys(widget.definition.ui_type for widget in widgets.values())
    alias("UiType", Literals(tuple(ui_types)) if ui_types else Scalar("string"))
    return spoken.between.join(parts)


def _records(document: SchemaDocument, name: str) -> dict[str, Record]:
    shaper = Shaper(document, name)
    shaper.shape(document.root, name)
    return shaper.records


def _response(widget: Widget, name: str, arguments: Mapping[str, Record]) -> Iterator[Record]:
    definition = widget.definition
    ui_type, sidecar = Literals((definition.ui_type,)), definition.sidecar
    facts: dict[str, Shape] = {"renderId": _STRING}
    for path in sidecar.summary_fields:
        facts[path] = _at(arguments, f"{name}Arguments", path.split("."))
    facts |= dict.fromkeys(sidecar.summary_data, ANY)
    # In every answer, whether or not it is the sidecar's.
    summary = facts.pop("summary", _STRING)
    optional = {f"{key}?": shape for key, shape in facts.items()}
    yield _record(f"{name}Facts", {"uiType": ui_type, "summary": summary, **optional})
    yield _record(f"{name}Ui", {"uiType": ui_type, "uiMetadata": Named("MetaUiMetadata")})
    yield _record(
        f"{name}Meta",
        {
            "widgetd/ui": Named(f"{name}Ui"),
            "widgetd/render": Named("MetaRenderMark"),
            "widgetd/widget?": _OBJECT,
        },
    )
    yield _record(
        f"{name}Response",
        {
            "content": _CONTENT,
            "structuredContent": Union((Named(f"{name}Facts"), _OBJECT)),
            "_meta": Named(f"{name}Meta"),
            "isError?": Literals((False,)),
        },
    )


def _at(records: Mapping[str, Record], name: str, path: Iterable[str]) -> Shape:
    shape: Shape = Named(name)
    for key in path:
        record = records.get(shape.name) if isinstance(shape, Named) else None
        fields = {field.name: field.shape for field in record.fields} if record else {}
        shape = fields.get(key, ANY)
    return shape
