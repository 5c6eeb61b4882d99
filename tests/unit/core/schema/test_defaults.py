"""Defaults of absent properties."""

from __future__ import annotations

from typing import Any

import pytest

from widgetd.core.schema.validator import compile_schema

UNIT = {"type": "string", "default": "C"}

CASES: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("at the root", {"properties": {"unit": UNIT}}, {}, {"unit": "C"}),
    ("only where absent", {"properties": {"unit": UNIT}}, {"unit": "F"}, {"unit": "F"}),
    (
        "null is not absent",
        {"properties": {"unit": {"default": 1}}},
        {"unit": None},
        {"unit": None},
    ),
    (
        "in an object",
        {"properties": {"at": {"properties": {"unit": UNIT}}}},
        {"at": {}},
        {"at": {"unit": "C"}},
    ),
    (
        "in elements",
        {"properties": {"days": {"items": {"properties": {"unit": UNIT}}}}},
        {"days": [{}, {"unit": "F"}]},
        {"days": [{"unit": "C"}, {"unit": "F"}]},
    ),
    (
        "in a default",
        {"properties": {"at": {"default": {}, "properties": {"unit": UNIT}}}},
        {},
        {"at": {"unit": "C"}},
    ),
    (
        "through a reference",
        {"properties": {"unit": {"$ref": "#/$defs/unit"}}, "$defs": {"unit": UNIT}},
        {},
        {"unit": "C"},
    ),
    ("through allOf", {"allOf": [{"properties": {"unit": UNIT}}]}, {}, {"unit": "C"}),
    (
        "of the alternative that fits",
        {
            "anyOf": [
                {"required": ["a"], "properties": {"kind": {"default": "A"}}},
                {"required": ["b"], "properties": {"kind": {"default": "B"}}},
            ]
        },
        {"b": 1},
        {"b": 1, "kind": "B"},
    ),
    (
        "of the condition that holds",
        {"if": {"required": ["a"]}, "then": {"properties": {"kind": {"default": "A"}}}},
        {"a": 1},
        {"a": 1, "kind": "A"},
    ),
    (
        "in further properties",
        {"additionalProperties": {"properties": {"unit": UNIT}}},
        {"x": {}},
        {"x": {"unit": "C"}},
    ),
    (
        "not one that does not fit",
        {"properties": {"unit": {"type": "string", "default": 5}}},
        {},
        {},
    ),
]


@pytest.mark.parametrize(
    ("schema", "arguments", "filled"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_default_is_filled_in(schema: dict[str, Any], arguments: Any, filled: Any) -> None:
    before = str(arguments)

    assert compile_schema(schema).with_defaults(arguments) == filled
    assert str(arguments) == before


def test_self_referential_default_is_filled_in_once() -> None:
    node = {"type": "object", "default": {}, "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = compile_schema(
        {"properties": {"first": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    )

    assert schema.with_defaults({}) == {"first": {}}


def test_default_does_not_make_a_required_property_optional() -> None:
    schema = compile_schema({"required": ["unit"], "properties": {"unit": UNIT}})

    assert not schema.admits({})


def test_among_very_many_alternatives_no_default_is_filled_in_from_the_wrong_one() -> None:
    def kind(name: str, size: int) -> dict[str, Any]:
        return {"properties": {"kind": {"enum": [name]}, "size": {"default": size}}}

    rows = {"items": {"anyOf": [kind("a", 1), kind("b", 2)]}}
    schema = compile_schema({"properties": {"rows": rows}})
    filled = schema.with_defaults({"rows": [{"kind": "b", "n": n} for n in range(20_000)]})

    assert filled["rows"][0] == {"kind": "b", "n": 0, "size": 2}
    assert {row.get("size", 2) for row in filled["rows"]} == {2}
