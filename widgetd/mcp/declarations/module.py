"""One module of declarations for a snapshot: the envelope, then each widget's call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from widgetd.catalog.snapshot import Snapshot
from widgetd.limits import Limits
from widgetd.mcp.declarations import python, typescript
from widgetd.mcp.declarations.responses import FAILED, common, response_of
from widgetd.mcp.declarations.shape import Literals, Named, Record, Scalar, Shaper, Union
from widgetd.mcp.declarations.spelling import Language
from widgetd.mcp.envelope import envelope_schema
from widgetd.schema.document import read_document
from widgetd.widget.widget import Widget

LANGUAGES: Mapping[Literal["ts", "python"], Language] = {"ts": typescript, "python": python}

_ENVELOPE = "Meta"


def declarations(snapshot: Snapshot, language: Literal["ts", "python"]) -> str:
    """The text of a module that declares what `snapshot` serves.

    For each widget the arguments of a call, its response, and a guard that tells this response
    from the others; besides them `Response`, which is any of them, and `UiType`.

    Args:
        snapshot: The widgets.
        language: `ts` for TypeScript, `python` for typed dictionaries.
    """
    spoken = LANGUAGES[language]
    return spoken.BETWEEN.join(_parts(snapshot, spoken))


def _parts(snapshot: Snapshot, language: Language) -> Iterator[str]:
    yield language.HEADER
    for record in (*_envelope(), *common()):
        yield language.declare(record)
    named = _named(snapshot)
    for name, widget in named.items():
        arguments = _arguments(widget, f"{name}Arguments")
        for record in (*arguments.values(), *response_of(widget, name, arguments)):
            yield language.declare(record)
        yield language.guard(name, widget.tool, widget.definition.ui_type)
    responses = Union(tuple(Named(f"{name}Response") for name in (*named, FAILED)))
    yield language.alias("Response", responses)
    ui_types = dict.fromkeys(widget.definition.ui_type for widget in named.values())
    yield language.alias("UiType", Literals(tuple(ui_types)) if ui_types else Scalar("string"))


def _named(snapshot: Snapshot) -> dict[str, Widget]:
    """The widgets under the names that begin their declarations: `FlightTracker`."""
    named: dict[str, Widget] = {}
    for widget in snapshot.widgets.values():
        name, number = widget.definition.component, 2
        while name in named or name == FAILED:
            name, number = f"{widget.definition.component}_{number}", number + 1
        named[name] = widget
    return named


def _envelope() -> tuple[Record, ...]:
    document = read_document(envelope_schema(), Limits())
    shaper = Shaper(document, _ENVELOPE)
    shaper.shape(document.root, _ENVELOPE)
    return tuple(shaper.records.values())


def _arguments(widget: Widget, name: str) -> dict[str, Record]:
    document = widget.schema.document
    shaper = Shaper(document, name)
    shaper.shape(document.root, name)
    return {**shaper.records, name: shaper.records.get(name, Record(name, ()))}
