"""Tables are read as models write them, and refused where a value would be lost."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.core.schema.schemas import VALUES
from widgetd.base.errors import CallError
from widgetd.core.schema.validator import compile_schema

KEYED = {
    "type": "object",
    "properties": {"key": {"type": "string"}, "label": {"type": "string"}},
    "required": ["key"],
    "additionalProperties": False,
}
TABLE = {
    "type": "object",
    "properties": {
        "columns": {"type": "array", "items": KEYED},
        "rows": {
            "type": "array",
            "items": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
        },
        "note": {"type": "boolean"},
    },
    "required": ["columns", "rows"],
    "additionalProperties": False,
}
CHART = {
    "type": "object",
    "properties": {
        "series": {"type": "array", "items": KEYED},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"at": {"type": "string"}},
                "required": ["at"],
                "additionalProperties": {"type": "number"},
            },
        },
    },
    "required": ["series", "rows"],
    "additionalProperties": False,
}
MODEL, PRICE = {"key": "model", "label": "Model"}, {"key": "price_eur", "label": "Price (EUR)"}


@pytest.mark.parametrize(
    ("schema", "arguments", "columns", "rows"),
    [
        (
            TABLE,
            {"columns": ["Model", "Price (EUR)"], "rows": [["A", 1], ["B", None]]},
            [MODEL, PRICE],
            [{"model": "A", "price_eur": 1}, {"model": "B"}],
        ),
        (
            TABLE,
            {"columns": [MODEL, PRICE], "rows": [["A", 1]]},
            [MODEL, PRICE],
            [{"model": "A", "price_eur": 1}],
        ),
        (
            TABLE,
            {"columns": ["Model", "Price (EUR)"], "rows": [{"Model": "A", "price_eur": 1}]},
            [MODEL, PRICE],
            [{"model": "A", "price_eur": 1}],
        ),
        (
            TABLE,
            {"columns": ["2024", "Model", "model"], "rows": [["a", "b", "c"]]},
            [{"key": "column_1", "label": "2024"}, MODEL, {"key": "column_3", "label": "model"}],
            [{"column_1": "a", "model": "b", "column_3": "c"}],
        ),
        (
            CHART,
            {"labels": [2024, 2025], "values": [3, 4]},
            [{"key": "value", "label": "value"}],
            [{"at": "2024", "value": 3}, {"at": "2025", "value": 4}],
        ),
        (
            CHART,
            {
                "labels": ["Jan", "Feb"],
                "datasets": [
                    {"label": "North", "data": [1, 2]},
                    {"label": "South", "data": [3, 4]},
                ],
            },
            [{"key": "north", "label": "North"}, {"key": "south", "label": "South"}],
            [{"at": "Jan", "north": 1, "south": 3}, {"at": "Feb", "north": 2, "south": 4}],
        ),
        (
            CHART,
            {"series": [{"key": "n"}], "labels": ["Jan"], "values": [3]},
            [{"key": "n"}],
            [{"at": "Jan", "n": 3}],
        ),
        (
            CHART,
            {"series": ["North", "South"], "rows": [["Jan", 1, 2]]},
            [{"key": "north", "label": "North"}, {"key": "south", "label": "South"}],
            [{"at": "Jan", "north": 1, "south": 2}],
        ),
    ],
)
def test_names_and_lists_are_read_as_a_table(
    schema: dict[str, Any], arguments: dict[str, Any], columns: list[Any], rows: list[Any]
) -> None:
    checked = compile_schema(schema).check(arguments)

    assert checked.arguments == {next(iter(schema["properties"])): columns, "rows": rows}
    [report] = checked.coerced
    assert report.endswith("rows: names and lists were read as a table")


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (TABLE, {"columns": ["Model"], "rows": [["A", 1]]}),
        (TABLE, {"columns": ["Model", 1], "rows": [["A", 1]]}),
        (CHART, {"labels": ["Jan", "Feb"], "values": [3]}),
        (CHART, {"labels": ["Jan"], "values": [3], "rows": []}),
    ],
)
def test_table_that_would_lose_a_value_is_refused(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    with pytest.raises(CallError, match="expected"):
        compile_schema(schema).check(arguments)


COLUMNS = st.lists(st.one_of(VALUES, st.fixed_dictionaries({"key": VALUES})), max_size=3)


@given(st.sampled_from([TABLE, CHART]), COLUMNS, st.lists(VALUES, max_size=3))
def test_any_columns_and_rows_are_read_as_a_table_or_refused(
    schema: dict[str, Any], columns: list[Any], rows: list[Any]
) -> None:
    compiled = compile_schema(schema)
    arguments = dict(zip(schema["properties"], (columns, rows), strict=False))

    with suppress(CallError):
        assert compiled.admits(compiled.check(arguments).arguments)


def test_error_beside_a_converted_table_names_the_rest_alone() -> None:
    with pytest.raises(CallError) as caught:
        compile_schema(TABLE).check({"columns": ["Model"], "rows": [["A"]], "note": "perhaps"})

    assert [one.path for one in caught.value.invalid_arguments] == ["note"]
