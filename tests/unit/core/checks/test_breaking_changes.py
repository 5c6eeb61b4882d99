from __future__ import annotations

import json
from typing import Any

import pytest

from widgetd.base.files.source import Source
from widgetd.core.checks.breaking_changes import find_breaking_changes
from widgetd.core.widget.definition import Definition, define


def define_parcel(schema: Any, name: str = "Parcel") -> Definition:
    file = {"version": "1.0", "name": name, "template": '{"type":"Card"}'}
    file |= {} if schema is None else {"jsonSchema": schema}
    return define(Source(path="parcel.widget", content=json.dumps(file).encode(), digest=""))


def compare_messages(before: Any, after: Any) -> list[str]:
    findings = find_breaking_changes(define_parcel(before), define_parcel(after))
    return [
        f"{finding.code} {finding}".replace(" parcel.widget#/jsonSchema", " ")
        for finding in findings
    ]


def fields(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
REFUSED = "callers that send what was right before are refused"


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (TEXT, NUMBER, "is number now, no longer string"),
        (NUMBER, {"type": "integer"}, "is integer now, no longer number"),
        ({"type": ["string", "null"]}, TEXT, "is string now, no longer null"),
        ({"anyOf": [TEXT, {"type": "null"}]}, TEXT, "is string now, no longer null"),
        ({}, TEXT, "is string now, where it was anything"),
        ({"enum": ["a", "b"]}, {"enum": ["b"]}, 'no longer admits "a"'),
        ({"const": "a"}, {"enum": ["b"]}, 'no longer admits "a"'),
        (TEXT, {**TEXT, "enum": ["a", "b"]}, 'admits only "a" or "b" now'),
        ({**NUMBER, "minimum": 1}, {**NUMBER, "minimum": 2}, "has minimum 2 now, where it had 1"),
        (NUMBER, {**NUMBER, "maximum": 9}, "has maximum 9 now, where it had none"),
        (TEXT, {**TEXT, "pattern": "^a"}, 'has pattern "^a" now, where it had none'),
        (
            {**TEXT, "format": "date"},
            {**TEXT, "format": "time"},
            'has format "time" now, where it had "date"',
        ),
        ({**TEXT, "const": "a"}, {**TEXT, "const": "b"}, 'has const "b" now, where it had "a"'),
        (
            {"type": "object"},
            {"type": "object", "additionalProperties": False},
            "admits no further fields now",
        ),
    ],
)
def test_narrowed_field_is_named(before: Any, after: Any, problem: str) -> None:
    assert compare_messages(fields(city=before), fields(city=after)) == [
        f"W1503 /properties/city: 'city' {problem}; {REFUSED}"
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TEXT, TEXT),
        (TEXT, {}),
        ({"type": "integer"}, NUMBER),
        (TEXT, {"type": ["string", "null"]}),
        (TEXT, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}),
        ({**NUMBER, "minimum": 2}, {**NUMBER, "minimum": 1}),
        ({**NUMBER, "maximum": 2}, NUMBER),
        ({**TEXT, "pattern": "^a"}, TEXT),
        ({"$ref": "#/$defs/city"}, TEXT),
        ({"type": "array", "uniqueItems": True}, {"type": "array", "uniqueItems": False}),
    ],
)
def test_equal_or_widened_field_is_not_reported(before: Any, after: Any) -> None:
    defs = {"$defs": {"city": TEXT}}

    assert compare_messages(fields(city=before) | defs, fields(city=after) | defs) == []


def test_removed_field_is_named() -> None:
    closed = {**fields(), "additionalProperties": False}

    assert compare_messages(fields(city=TEXT), fields()) == [
        "W1501 /properties: 'city' was removed; callers that send it are no longer understood"
    ]
    assert compare_messages({**fields(city=TEXT), "additionalProperties": False}, closed) == [
        "W1501 /properties: 'city' was removed; callers that send it are refused"
    ]


@pytest.mark.parametrize("before", [fields(city=TEXT), fields()])
def test_newly_required_field_is_named(before: Any) -> None:
    assert compare_messages(before, fields("city", city=TEXT)) == [
        (
            "W1502 /required: 'city' is required now; "
            "callers that leave it out are refused; leave it optional"
        )
    ]


def test_fields_within_lists_and_objects_are_compared_too() -> None:
    before = fields(legs={"type": "array", "items": fields(to=fields(city=TEXT))})
    after = fields(legs={"type": "array", "items": fields(to=fields("city", city=NUMBER))})

    assert compare_messages(before, after) == [
        (
            "W1502 /properties/legs/items/properties/to/required: 'legs[].to.city' is required "
            "now; callers that leave it out are refused; leave it optional"
        ),
        (
            "W1503 /properties/legs/items/properties/to/properties/city: 'legs[].to.city' "
            f"is number now, no longer string; {REFUSED}"
        ),
    ]


def test_recursive_schema_is_compared_to_a_finite_depth() -> None:
    before = fields(next={"$ref": "#"}, city=TEXT)

    assert compare_messages(before, before) == []
    assert compare_messages(before, fields(next={"$ref": "#"}, city=NUMBER))[0].startswith(
        "W1503 /properties/next"
    )


def test_widget_without_a_schema_breaks_no_caller() -> None:
    assert compare_messages(None, fields("city")) == compare_messages(fields("city"), None) == []


def test_renamed_tool_is_named() -> None:
    findings = find_breaking_changes(define_parcel(None), define_parcel(None, "Packet"))

    assert [f"{finding.code} {finding}" for finding in findings] == [
        (
            "W1504 parcel.widget#/name: the tool is called 'packet' now, not 'parcel'; "
            "callers of 'parcel' will not find it; keep the name if they matter"
        )
    ]
