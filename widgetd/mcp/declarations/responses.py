"""What a call of a widget comes to, as records: in either profile, or failed.

The wire's own shape, as programs see it that have a result's JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from widgetd.mcp.declarations.shape import (
    ANY,
    Field,
    ListOf,
    Literals,
    MapOf,
    Named,
    Record,
    Scalar,
    Shape,
    Union,
)
from widgetd.widget.widget import Widget

FAILED = "Failed"
"""Begins the names of what stands for every failed call."""

_STRING = Scalar("string")
_TREE = MapOf(ANY)


def common() -> Iterator[Record]:
    """What responses of every widget are made of."""
    yield _record(
        "Content",
        {"type": Literals(("text", "resource_link"))},
        {"text": _STRING, "uri": _STRING, "name": _STRING, "mimeType": _STRING},
    )
    yield _record("FailedMeta", {"widgetd/error": Named("MetaFailure")})
    yield _record(
        "FailedResponse",
        {
            "content": ListOf(Named("Content")),
            "isError": Literals((True,)),
            "_meta": Named("FailedMeta"),
        },
        {"structuredContent": ANY},
    )


def response_of(widget: Widget, name: str, arguments: Mapping[str, Record]) -> Iterator[Record]:
    """The response of one widget, whose records' names begin with `name`.

    Args:
        widget: What is called.
        name: Begins the name of every record.
        arguments: The records of its arguments, by name.
    """
    definition = widget.definition
    ui_type = Literals((definition.ui_type,))
    fields = {
        path: _at(arguments, f"{name}Arguments", path.split("."))
        for path in definition.sidecar.summary_fields
    }
    data = dict.fromkeys(definition.sidecar.summary_data, ANY)
    yield _record(
        f"{name}Facts",
        {"uiType": ui_type, "widget": Literals((widget.tool,)), "title": _STRING},
        {"renderId": _STRING, **fields, **data},
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


def _record(
    name: str, required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None
) -> Record:
    needed = (Field(key, shape, True, "") for key, shape in required.items())
    others = (Field(key, shape, False, "") for key, shape in (optional or {}).items())
    return Record(name, (*needed, *others))


def _at(records: Mapping[str, Record], name: str, path: Iterable[str]) -> Shape:
    """The shape of what lies at `path` in the record called `name`."""
    shape: Shape = Named(name)
    for key in path:
        record = records.get(shape.name) if isinstance(shape, Named) else None
        fields = {field.name: field.shape for field in record.fields} if record else {}
        shape = fields.get(key, ANY)
    return shape
