"""One module of declarations for a snapshot: the envelope, then each widget's call.

A call's result is declare in the wire's own shape, as programs see it that have its JSON:
in either profile, or failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

from widgetd.catalog.snapshot import Snapshot
from widgetd.declarations.answers import declare_answer
from widgetd.declarations.languages import LANGUAGES, Language
from widgetd.declarations.shape import (
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
from widgetd.limits import Limits
from widgetd.render.envelope import envelope_schema
from widgetd.schema.document import SchemaDocument, read_document
from widgetd.widget.widget import Widget

_ENVELOPE = "Meta"

_FAILED = "Failed"
"""Begins the names of what stands for every failed call."""

_STRING = Scalar("string")
_TREE = MapOf(ANY)


def _record(
    name: str, required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None
) -> Record:
    needed = (Field(key, shape, True, "") for key, shape in required.items())
    others = (Field(key, shape, False, "") for key, shape in (optional or {}).items())
    return Record(name, (*needed, *others))


_COMMON = (
    _record(
        "Content",
        {"type": Literals(("text", "resource_link"))},
        {"text": _STRING, "uri": _STRING, "name": _STRING, "mimeType": _STRING},
    ),
    _record("FailedMeta", {"widgetd/error": Named("MetaFailure")}),
    _record(
        "FailedResponse",
        {
            "content": ListOf(Named("Content")),
            "isError": Literals((True,)),
            "_meta": Named("FailedMeta"),
        },
        {"structuredContent": ANY},
    ),
)
"""What responses of every widget are made of."""


def declarations(
    snapshot: Snapshot,
    language: Literal["ts", "python"],
    builtin: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> str:
    """Return the text of a module that declares what `snapshot` serves.

    It has, for each widget, the arguments of a call, its response and a type guard, and for all
    of them `Response` and `UiType`.

    Args:
        snapshot: The widgets.
        language: `ts` for TypeScript, `python` for typed dictionaries.
        builtin: The input schemas of built-in tools, by name, whose arguments and answers it has.
    """
    spoken = LANGUAGES[language]
    return spoken.between.join(_parts(snapshot, spoken, builtin))


def _parts(
    snapshot: Snapshot, language: Language, builtin: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    def declare(records: Iterable[Record]) -> Iterator[str]:
        return ("\n".join(language.declare(record)) for record in records)

    yield language.header
    yield from declare(_records(read_document(envelope_schema(), Limits()), _ENVELOPE).values())
    yield from declare(_COMMON)
    for tool, schema in builtin.items():
        own = f"{camel(tool)}Arguments"
        records = _records(read_document(dict(schema), Limits()), own)
        yield from declare({own: Record(own, ()), **records}.values())
        parts, shape = declare_answer(tool)
        yield from declare(parts)
        if shape != Named(name := f"{camel(tool)}Answer"):
            yield language.alias.format(name, language.spell(shape))
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
        yield from declare((*arguments.values(), *_response(widget, name, arguments)))
        ui_type = widget.definition.ui_type
        yield language.guard.format(name=name, tool=widget.tool, ui_type=ui_type)
    responses = Union(tuple(Named(f"{name}Response") for name in (*widgets, _FAILED)))
    yield language.alias.format("Response", language.spell(responses))
    ui_types = dict.fromkeys(widget.definition.ui_type for widget in widgets.values())
    either = Literals(tuple(ui_types)) if ui_types else _STRING
    yield language.alias.format("UiType", language.spell(either))


def _records(document: SchemaDocument, name: str) -> dict[str, Record]:
    """Return the records to declare for a schema; its own record is called `name`."""
    shaper = Shaper(document, name)
    shaper.shape(document.root, name)
    return shaper.records


def _response(widget: Widget, name: str, arguments: Mapping[str, Record]) -> Iterator[Record]:
    """Yield the records of one widget's response; their names begin with `name`."""
    definition = widget.definition
    ui_type = Literals((definition.ui_type,))
    fields = {
        path: _at(arguments, f"{name}Arguments", path.split("."))
        for path in definition.sidecar.summary_fields
    }
    data = dict.fromkeys(definition.sidecar.summary_data, ANY)
    optional = {"renderId": _STRING, **fields, **data}
    summary = optional.pop(
        "summary", _STRING
    )  # in every answer, whether or not it is the sidecar's
    yield _record(
        f"{name}Facts",
        {"uiType": ui_type, "summary": summary},
        optional,
    )
    yield _record(f"{name}Ui", {"uiType": ui_type, "uiMetadata": Named("MetaUiMetadata")})
    yield _record(
        f"{name}Meta",
        {"widgetd/ui": Named(f"{name}Ui"), "widgetd/render": Named("MetaRenderMark")},
        {"widgetd/widget": _TREE},
    )
    yield _record(
        f"{name}Response",
        {
            "content": ListOf(Named("Content")),
            "structuredContent": Union((Named(f"{name}Facts"), _TREE)),
            "_meta": Named(f"{name}Meta"),
        },
        {"isError": Literals((False,))},
    )


def _at(records: Mapping[str, Record], name: str, path: Iterable[str]) -> Shape:
    """Return the shape at `path` in the record called `name`."""
    shape: Shape = Named(name)
    for key in path:
        record = records.get(shape.name) if isinstance(shape, Named) else None
        fields = {field.name: field.shape for field in record.fields} if record else {}
        shape = fields.get(key, ANY)
    return shape
