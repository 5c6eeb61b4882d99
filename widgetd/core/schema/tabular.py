"""Read tables as most models write them.

A schema has a table where the elements of an array have a `key`, and those of another are objects
with a property for each key. Models write names in place of the former, lists in place of the
latter, or `labels` beside `values`, as spreadsheets and chart libraries have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from widgetd.base.text_search import compile_pattern
from widgetd.core.schema.json_values import Json, is_type

KEY = "key"
LABELS, VALUES, DATASETS = "labels", "values", "datasets"
LONGEST_KEY = 40

_NOT_OF_A_KEY = compile_pattern(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _TableShape:
    """The properties of a table.

    Attributes:
        columns: The array whose elements have a key.
        rows: The array whose elements have a property for each key.
        place: The property of a row beside the columns, as a chart's place on its axis, or empty.
        has_label: Whether a column has a label beside its key.
    """

    columns: str
    rows: str
    place: str
    has_label: bool


def _find_table(schema: Mapping[str, Json]) -> _TableShape | None:
    items = {
        name: part["items"]
        for name, part in schema.get("properties", {}).items()
        if isinstance(part, Mapping) and isinstance(part.get("items"), Mapping)
    }
    keyed = [name for name, item in items.items() if KEY in item.get("required", ())]
    open_ended = [
        name
        for name, item in items.items()
        if isinstance(item.get("additionalProperties"), Mapping)
        and len(item.get("required", ())) <= 1
    ]
    if len(keyed) != 1 or len(open_ended) != 1:
        return None
    return _TableShape(
        columns=keyed[0],
        rows=open_ended[0],
        place=next(iter(items[open_ended[0]].get("required", ())), ""),
        has_label="label" in items[keyed[0]].get("properties", {}),
    )


def read_table(arguments: Json, schema: Mapping[str, Json]) -> tuple[Json, str] | None:
    """Return arguments with their table as the schema wants it, and the report of it.

    Returns:
        None if the table is not written in another known way, or would lose a value.
    """
    shape = _find_table(schema)
    if shape is None or not isinstance(arguments, Mapping):
        return None
    rest = _read_datasets(arguments, shape) if shape.place else dict(arguments)
    heads, rows = rest.get(shape.columns), rest.get(shape.rows)
    labels, values = rest.get(LABELS), rest.get(VALUES)
    if shape.place and rows is None and isinstance(labels, list) and isinstance(values, list):
        if len(labels) != len(values):
            return None
        del rest[LABELS], rest[VALUES]
        heads, rows = heads or ["value"], [list(pair) for pair in zip(labels, values, strict=True)]
    if not isinstance(heads, list) or not isinstance(rows, list):
        return None
    if not any(isinstance(head, str) for head in heads) and not any(
        isinstance(row, list) for row in rows
    ):
        return None
    columns = list(_read_columns(heads, shape))
    keys = [column.get(KEY) if isinstance(column, Mapping) else None for column in columns]
    named = {head: key for head, key in zip(heads, keys, strict=True) if isinstance(head, str)}
    cells = [shape.place, *keys] if shape.place else keys
    if not all(isinstance(key, str) for key in keys) or any(
        isinstance(row, list) and len(row) != len(cells) for row in rows
    ):
        return None
    rest[shape.columns] = columns
    rest[shape.rows] = [_read_row(row, cells, named, shape.place) for row in rows]
    return rest, f"{shape.columns}, {shape.rows}: names and lists were read as a table"


def _read_datasets(arguments: Mapping[str, Json], shape: _TableShape) -> dict[str, Json]:
    rest = dict(arguments)
    labels, sets = rest.get(LABELS), rest.get(DATASETS)
    if not isinstance(labels, list) or not isinstance(sets, list):
        return rest
    values = [dataset.get("data") if isinstance(dataset, Mapping) else None for dataset in sets]
    if not all(isinstance(series, list) and len(series) == len(labels) for series in values):
        return rest
    del rest[LABELS], rest[DATASETS]
    names = [str(dataset.get("label", f"Series {at}")) for at, dataset in enumerate(sets, 1)]
    rows = [list(row) for row in zip(labels, *values, strict=True)]
    return {shape.columns: names, shape.rows: rows, **rest}


# A name becomes a label, and a key made of it.
def _read_columns(heads: Iterable[Json], shape: _TableShape) -> Iterator[Json]:
    keys = (head.get(KEY) for head in heads if isinstance(head, Mapping))
    taken = {shape.place, *(key for key in keys if isinstance(key, str))}
    for number, head in enumerate(heads, 1):
        if not isinstance(head, str):
            yield head
            continue
        key = _NOT_OF_A_KEY.sub("_", head).strip("_").lower()[:LONGEST_KEY]
        if not key[:1].isalpha() or key in taken:
            key = f"column_{number}"
        taken.add(key)
        yield {KEY: key, "label": head} if shape.has_label else {KEY: key}


def _read_row(row: Json, cells: Iterable[Json], named: Mapping[str, Json], place: str) -> Json:
    if isinstance(row, list):
        pairs = zip(cells, row, strict=True)
        # A place on an axis is a text, and often a year.
        return {
            key: str(cell) if key == place and is_type(cell, "number") else cell
            for key, cell in pairs
            if cell is not None
        }
    if isinstance(row, Mapping):
        return {named.get(key, key): cell for key, cell in row.items()}
    return row
