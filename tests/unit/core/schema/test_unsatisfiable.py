"""Schemas that nothing fits, and schemas that only look like it."""

from __future__ import annotations

from typing import Any

import pytest

from widgetd.base.errors import WidgetError
from widgetd.core.schema.validator import compile_schema

NEEDS_X: dict[str, Any] = {"required": ["x"]}

IMPOSSIBLE: list[tuple[dict[str, Any], str, str]] = [
    (
        NEEDS_X | {"properties": {"x": False}},
        "/properties/x",
        "nothing fits a schema that is false",
    ),
    (
        NEEDS_X | {"additionalProperties": False},
        "/required",
        "'x' is required, but additionalProperties forbids it",
    ),
    (
        NEEDS_X | {"properties": {"x": {"$ref": "#/$defs/no"}}, "$defs": {"no": {"enum": []}}},
        "/$defs/no/enum",
        "it offers no value of a type that fits",
    ),
    ({"not": {}}, "/not", "everything fits what must not fit"),
    ({"enum": []}, "/enum", "it offers no value of a type that fits"),
    ({"const": 5}, "/const", "it offers no value of a type that fits"),
    ({"allOf": [{"type": "string"}]}, "/allOf/0/type", "no value of type string can stand here"),
    ({"anyOf": [{"type": "string"}, False]}, "/anyOf", "nothing fits any of its alternatives"),
    (
        {"minProperties": 2, "maxProperties": 1},
        "/minProperties",
        "minProperties 2 is greater than maxProperties 1",
    ),
    (
        {"required": ["x", "y"], "maxProperties": 1},
        "/maxProperties",
        "more properties are required than there may be",
    ),
    (
        NEEDS_X | {"properties": {"x": {"type": "string", "minLength": 2, "maxLength": 1}}},
        "/properties/x/minLength",
        "minLength 2 is greater than maxLength 1",
    ),
    (
        NEEDS_X | {"properties": {"x": {"type": "array", "minItems": 1, "items": False}}},
        "/properties/x/items",
        "nothing fits a schema that is false",
    ),
    (
        NEEDS_X | {"properties": {"x": {"$ref": "#"}}},
        "/properties/x",
        "only a value without end fits this recursion",
    ),
]


@pytest.mark.parametrize(
    ("schema", "at", "problem"), IMPOSSIBLE, ids=[row[2] for row in IMPOSSIBLE]
)
def test_unsatisfiable_schema_is_refused_with_the_contradiction(
    schema: dict[str, Any], at: str, problem: str
) -> None:
    with pytest.raises(WidgetError) as refused:
        compile_schema(schema)

    finding = refused.value.finding
    assert (finding.code, finding.at, finding.problem) == ("W1207", at, problem)


POSSIBLE: list[tuple[dict[str, Any], Any]] = [
    ({"properties": {"x": False}}, {}),
    ({"anyOf": [False, True]}, {}),
    (NEEDS_X | {"patternProperties": {"^x$": {}}, "additionalProperties": False}, {"x": 1}),
    (NEEDS_X | {"properties": {"x": {"minLength": 2, "maxLength": 1}}}, {"x": 5}),
    (NEEDS_X | {"properties": {"x": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}, {"x": None}),
    (
        NEEDS_X
        | {"properties": {"x": {"type": ["string", "null"], "minLength": 2, "maxLength": 1}}},
        {"x": None},
    ),
    (NEEDS_X | {"properties": {"x": {"items": False, "type": "array"}}}, {"x": []}),
]


@pytest.mark.parametrize(
    ("schema", "fitting"), POSSIBLE, ids=[str(row[0])[:60] for row in POSSIBLE]
)
def test_satisfiable_schema_is_not_refused(schema: dict[str, Any], fitting: Any) -> None:
    assert compile_schema(schema).admits(fitting)
