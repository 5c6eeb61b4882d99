"""One module of declarations for a snapshot: the envelope, then each widget's arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from widgetd.catalog.snapshot import Snapshot
from widgetd.declarations import python, typescript
from widgetd.declarations.shape import Record, Shaper
from widgetd.tools.envelope import envelope_schema

Language = Literal["ts", "python"]

_ENVELOPE = "Meta"


def declarations(snapshot: Snapshot, language: Language) -> str:
    """The text of a module that declares what `snapshot` serves.

    Args:
        snapshot: The widgets.
        language: `ts` for TypeScript, `python` for typed dictionaries.
    """
    parts = _typescript(snapshot) if language == "ts" else _python(snapshot)
    between = "\n\n" if language == "ts" else "\n\n\n"
    return between.join(parts)


def _typescript(snapshot: Snapshot) -> Iterator[str]:
    yield "// What widgetd answers, and what its tools take. Made by `widgetd types --lang ts`."
    for record in _envelope():
        yield typescript.declare(record)
    for tool, records in _arguments(snapshot):
        yield from (typescript.declare(record) for record in records)
        definition = snapshot.widgets[tool].definition
        yield typescript.guard(definition.component, _ENVELOPE, definition.ui_type)
    ui_types = {f'"{w.definition.ui_type}"': None for w in snapshot.widgets.values()}
    yield typescript.alias("UiType", list(ui_types))


def _python(snapshot: Snapshot) -> Iterator[str]:
    yield (
        '"""What widgetd answers, and what its tools take. Made by `widgetd types`."""\n\n'
        + python.HEADER
    )
    for record in _envelope():
        yield python.declare(record)
    for _tool, records in _arguments(snapshot):
        yield from (python.declare(record) for record in records)
    ui_types = {repr(w.definition.ui_type): None for w in snapshot.widgets.values()}
    yield f"UiType = Literal[{', '.join(ui_types) or repr('')}]"


def _envelope() -> list[Record]:
    schema = envelope_schema()
    shaper = Shaper(schema, _ENVELOPE)
    shaper.shape(schema, _ENVELOPE)
    return list(shaper.records.values())


def _arguments(snapshot: Snapshot) -> Iterator[tuple[str, list[Record]]]:
    for tool, widget in snapshot.widgets.items():
        name = f"{widget.definition.component}Arguments"
        shaper = Shaper(widget.schema.advertised, name)
        shaper.shape(widget.schema.advertised, name)
        shaper.records.setdefault(name, Record(name, ()))
        yield tool, list(shaper.records.values())
