"""Schemas: permitted keywords, advertised form, and admitted values."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest

from widgetd.base.errors import CallError, WidgetError
from widgetd.core.schema.validator import ValidArguments, compile_schema


def compile_properties(**keywords: Any) -> Any:
    """Return the schema of one property `x`, held to `keywords`."""
    return compile_schema({"type": "object", "properties": {"x": keywords}})


def test_authors_schema_is_advertised_verbatim() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"from": {"type": "string", "x-note": ["kept"]}},
        "type": "object",
        "additionalProperties": False,
    }

    assert compile_schema(schema).advertised == schema
    assert list(compile_schema(schema).advertised) == list(schema)


def test_missing_type_and_missing_properties_are_added_at_the_root() -> None:
    assert compile_schema({}).advertised == {"type": "object", "properties": {}}
    assert compile_schema({"$ref": "#/$defs/a", "$defs": {"a": {}}}).advertised == {
        "type": "object",
        "$ref": "#/$defs/a",
        "$defs": {"a": {}},
        "properties": {},
    }


def test_later_changes_to_a_callers_schema_change_nothing() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}}
    compiled = compile_schema(schema)

    schema["properties"]["x"]["type"] = "string"

    assert compiled.admits({"x": 1})
    assert compiled.advertised["properties"]["x"] == {"type": "integer"}


EVERY_KEYWORD = [
    ({"enum": ["a", 1, None]}, ["a", 1, 1.0, None], ["b", 2, True]),
    ({"const": {"a": [1]}}, [{"a": [1]}, {"a": [1.0]}], [{"a": []}, {"a": [True]}]),
    ({"type": "integer"}, [1, 1.0, -3], [1.5, "1", True, None]),
    ({"type": ["string", "null"]}, ["a", None], [1, [], False]),
    ({"minimum": 1, "maximum": 3}, [1, 3, 2.5, "other"], [0.999, 3.01]),
    ({"exclusiveMinimum": 1, "exclusiveMaximum": 3}, [1.001, 2], [1, 3]),
    ({"multipleOf": 0.01}, [0.07, 19.99, 4], [0.075]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "日本", "😀😀😀"], ["a", "abcd"]),
    ({"pattern": "^a+$"}, ["a", "aaa", 5], ["b", "ba"]),
    ({"format": "uri"}, ["https://example.com/a"], ["/panam.png", "not a uri"]),
    ({"format": "uri-reference"}, ["/panam.png"], ["a b"]),
    ({"format": "date-time"}, ["2026-01-31T09:30:00Z"], ["2026-01-31", "soon"]),
    ({"format": "email"}, ["ada@example.com"], ["ada"]),
    ({"format": "no-such-format"}, ["anything"], []),
    ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["a", 5], [4]),
    ({"oneOf": [{"type": "number"}, {"minimum": 5}]}, [4, "a"], [5]),
    ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, [1, 3], [0, 4]),
    ({"not": {"type": "string"}}, [1, None], ["a"]),
    ({"if": {"minimum": 10}, "then": {"multipleOf": 10}, "else": {"maximum": 5}}, [20, 3], [15, 7]),
    ({"dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 2}, {}], [{"a": 1}]),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{"b": 1}, {"a": 1, "b": 1}], [{"a": 1}]),
    ({"prefixItems": [{"type": "string"}], "items": False}, [["a"], []], [[1], ["a", "b"]]),
    ({"contains": {"const": 1}, "minContains": 2, "maxContains": 2}, [[1, 1]], [[1], [1, 1, 1]]),
    ({"uniqueItems": True}, [[1, 2], [1, True]], [[1, 1.0], [{"a": 1}, {"a": 1}]]),
    ({"minItems": 1, "maxItems": 2}, [[1], [1, 2]], [[], [1, 2, 3]]),
    ({"minProperties": 1, "maxProperties": 1}, [{"a": 1}], [{}, {"a": 1, "b": 2}]),
    ({"patternProperties": {"^n_": {"type": "number"}}}, [{"n_a": 1}, {"a": "b"}], [{"n_a": "x"}]),
    ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}], [{"abc": 1}]),
    (
        {"properties": {"a": True}, "additionalProperties": {"type": "integer"}},
        [{"a": "x", "b": 1}],
        [{"b": "x"}],
    ),
    (
        {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False},
        [{"a": 1}],
        [{"b": 1}],
    ),
    ({"allOf": [{"prefixItems": [True]}], "unevaluatedItems": False}, [[1]], [[1, 2]]),
    ({"properties": {"no": False, "yes": True}}, [{"yes": 1}, {}], [{"no": 1}]),
    (True, [1, None, {}], []),
]


@pytest.mark.parametrize(
    ("keywords", "fitting", "others"), EVERY_KEYWORD, ids=lambda part: str(part)[:40]
)
def test_every_keyword_is_enforced_as_specified_and_its_refusals_are_explained(
    keywords: Any, fitting: list[Any], others: list[Any]
) -> None:
    schema = compile_schema({"type": "object", "properties": {"x": keywords}})

    for value in fitting:
        assert schema.admits({"x": value}), value
        assert schema.explainer().find_faults(schema.document.root, {"x": value}) == (), value
    for value in others:
        assert not schema.admits({"x": value}), value
        with pytest.raises(CallError) as refused:
            schema.check({"x": value}, strict=True)
        assert refused.value.path.startswith("x"), value


def test_draft_named_by_the_schema_applies() -> None:
    bounds = {"minimum": 1, "exclusiveMinimum": True}
    draft_4 = compile_schema(
        {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"x": bounds}}
    )
    draft_7 = compile_schema(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"short": {"maxLength": 2}},
            "properties": {"x": {"$ref": "#/definitions/short", "maxLength": 1}},
        }
    )

    assert draft_4.admits({"x": 2})
    assert not draft_4.admits({"x": 1})
    assert draft_7.admits({"x": "ab"})


REFERENCES = [
    {"$defs": {"n": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/n"}}},
    {"$defs": {"a/b %": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/a~1b%20%25"}}},
    {"$defs": {"n": {"$anchor": "n", "type": "integer"}}, "properties": {"x": {"$ref": "#n"}}},
    {
        "$defs": {"n": {"$dynamicAnchor": "n", "type": "integer"}},
        "properties": {"x": {"$dynamicRef": "#n"}},
    },
    {
        "$id": "https://example.com/widget",
        "$defs": {"n": {"$id": "number", "type": "integer"}},
        "properties": {"x": {"$ref": "https://example.com/number"}},
    },
    {"components": {"n": {"type": "integer"}}, "properties": {"x": {"$ref": "#/components/n"}}},
]


@pytest.mark.parametrize(
    "keywords", REFERENCES, ids=["pointer", "escaped", "anchor", "dynamic", "address", "anywhere"]
)
def test_reference_resolves_inside_the_file(keywords: dict[str, Any]) -> None:
    schema = compile_schema({"type": "object", **keywords})

    assert schema.admits({"x": 1})
    with pytest.raises(CallError, match=r"^x: expected an integer, got \"a\""):
        schema.check({"x": "a"})


def test_recursive_schema_admits_every_depth_up_to_the_limit() -> None:
    schema = compile_schema(
        {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    )
    deepest: dict[str, Any] = {}
    for _ in range(63):
        deepest = {"next": deepest}

    assert schema.admits(deepest)
    assert not schema.admits({"next": deepest})
    with pytest.raises(CallError) as refused:
        schema.check({"next": deepest})
    assert refused.value.code == "W2003"
    assert str(refused.value) == "the arguments nest deeper than 64 levels"


REFUSED = [
    ("W1204", "", True, 'the schema is True; write {"type": "object", …}'),
    (
        "W1204",
        "/type",
        {"type": "array"},
        (
            'the arguments are said to be "array"; write "type": "object", and what is wanted '
            "as one of its properties"
        ),
    ),
    (
        "W1204",
        "/type",
        {"type": ["object", "null"]},
        (
            'the arguments are said to be ["object", "null"]; write "type": "object", and what is '
            "wanted as one of its properties"
        ),
    ),
    (
        "W1201",
        "/properties/x/type",
        {"properties": {"x": {"type": "strin"}}},
        "'strin' is no type; did you mean 'string'?",
    ),
    (
        "W1201",
        "/$schema",
        {"$schema": "https://example.com/my-own"},
        (
            '"https://example.com/my-own" is no known draft of JSON Schema; write '
            '"https://json-schema.org/draft/2020-12/schema", or leave it out'
        ),
    ),
    (
        "W1201",
        "/properties/x/$ref",
        {"properties": {"x": {"$ref": "#/$defs/airprt"}}, "$defs": {"airport": {}}},
        "'#/$defs/airprt' leads to no schema; did you mean '#/$defs/airport'?",
    ),
    (
        "W1202",
        "/properties/x/$ref",
        {"properties": {"x": {"$ref": "https://example.com/a.json"}}},
        (
            "'https://example.com/a.json' lies outside this file, and nothing is ever fetched; "
            "put that schema under $defs and refer to it as '#/$defs/…'"
        ),
    ),
    (
        "W1205",
        "/properties/x/pattern",
        {"properties": {"x": {"pattern": "(?=a)b"}}},
        (
            "the pattern '(?=a)b' needs look-around or a back reference; write it without, so "
            "that it can be matched in linear time"
        ),
    ),
    (
        "W1205",
        "/patternProperties/^(a)~0~1\\1$",
        {"patternProperties": {"^(a)~/\\1$": {}}},
        (
            "the pattern '^(a)~/\\1$' needs look-around or a back reference; write it without, so "
            "that it can be matched in linear time"
        ),
    ),
    (
        "W1205",
        "/properties/x/pattern",
        {"properties": {"x": {"pattern": "("}}},
        (
            "the pattern '(' is no regular expression, or too large a one; write one that can "
            "be matched in linear time"
        ),
    ),
    (
        "W1207",
        "/properties/x/minimum",
        {"required": ["x"], "properties": {"x": {"type": "integer", "minimum": 5, "maximum": 3}}},
        "minimum 5 is greater than maximum 3; let some arguments fit",
    ),
    (
        "W1104",
        "/default",
        {"default": float("nan")},
        "the number nan cannot be said in JSON; write plain JSON values",
    ),
]


@pytest.mark.parametrize(
    ("code", "at", "schema", "message"), REFUSED, ids=[row[3][:40] for row in REFUSED]
)
def test_unusable_schema_is_refused_with_place_and_reason(
    code: str, at: str, schema: Any, message: str
) -> None:
    with pytest.raises(WidgetError) as refused:
        compile_schema(schema)

    finding = refused.value.finding
    assert (finding.code, finding.at) == (code, at)
    assert f"{finding.problem}; {finding.advice}" == message


VALUE = {"$ref": "a", "b": 1}

BAD_KEYWORDS = [
    ({"type": "strin"}, "type", "'strin' is no type; did you mean 'string'?"),
    (
        {"type": ["string", "any"]},
        "type",
        "'any' is no type; write one of string, integer, number, boolean, object, array, null",
    ),
    (
        {"type": None},
        "type",
        "null is no type; write one of string, integer, number, boolean, object, array, null",
    ),
    (
        {"type": ["string", {"type": "null"}]},
        "type",
        (
            '{"type": "null"} is no type; '
            "write one of string, integer, number, boolean, object, array, null"
        ),
    ),
    (
        {"items": [{"type": "string"}]},
        "items",
        (
            '[{"type":"string"}] is not of types "boolean", "object"; '
            "write 'prefixItems' for a list of schemas, one for each place"
        ),
    ),
    (
        {"required": True},
        "required",
        "true is not of type \"array\"; write it as a list of names, beside 'properties'",
    ),
    (
        {"minimum": "5"},
        "minimum",
        '"5" is not of type "number"; write the keyword as JSON Schema wants it',
    ),
]


@pytest.mark.parametrize(("keywords", "at", "message"), BAD_KEYWORDS)
def test_misused_keyword_is_reported_with_the_right_one(
    keywords: Any, at: str, message: str
) -> None:
    with pytest.raises(WidgetError) as refused:
        compile_schema({"properties": {"x": keywords}})

    finding = refused.value.finding
    assert finding.at == f"/properties/x/{at}"
    assert f"{finding.problem}; {finding.advice}" == message


@pytest.mark.parametrize("keywords", [{"const": VALUE}, {"enum": [VALUE]}])
def test_reference_in_a_value_disables_nothing_beside_it(keywords: Any) -> None:
    draft = "http://json-schema.org/draft-07/schema#"
    schema = compile_schema({"$schema": draft, "properties": {"x": keywords}})

    with pytest.raises(CallError, match=re.escape(f"x: expected {json.dumps(VALUE)}, got 1.")):
        schema.check({"x": 1})


@pytest.mark.parametrize(("keywords", "at", "message"), BAD_KEYWORDS)
def test_misused_keyword_is_reported_in_a_part_that_only_a_reference_leads_to(
    keywords: Any, at: str, message: str
) -> None:
    with pytest.raises(WidgetError) as refused:
        compile_schema({"properties": {"x": {"$ref": "#/parts/y"}}, "parts": {"y": keywords}})

    finding = refused.value.finding
    assert finding.at == f"/parts/y/{at}"
    assert f"{finding.problem}; {finding.advice}" == message


@pytest.mark.parametrize("draft", [{}, {"$schema": "https://json-schema.org/draft/2020-12/schema"}])
def test_reference_with_invalid_uri_characters_is_not_reported_as_an_unknown_draft(
    draft: Any,
) -> None:
    with pytest.raises(WidgetError) as refused:
        compile_schema({**draft, "$defs": {"a b": {}}, "$ref": "#/$defs/a b"})

    finding = refused.value.finding
    assert finding.problem.startswith("a reference is no URI (Invalid URI reference '#/$defs/a b'")
    assert finding.advice == "write %20 for a space and %25 for a percent sign"


def test_bad_keyword_is_pointed_at() -> None:
    with pytest.raises(WidgetError) as refused:
        compile_schema({"properties": {"a/b": {"minLength": "two"}}})

    assert refused.value.finding.at == "/properties/a~1b/minLength"
    assert refused.value.finding.problem.startswith('"two" is not of type')


NO_JSON = [
    ({"x": (1, 2)}, "x: expected a JSON value, got a Python tuple"),
    ({"x": [{1}]}, "x[0]: expected a JSON value, got a Python set"),
    ({"x": 2**64}, "x: expected a JSON value, got an integer of more than 64 bits"),
    ({"x": [-(2**63) - 1]}, "x[0]: expected a JSON value, got an integer of more than 64 bits"),
    ({"x": float("nan")}, "x: expected a JSON value, got the number nan"),
    ({"x": Decimal("1.5")}, "x: expected a JSON value, got a Python Decimal"),
    ({"x": {1: 2}}, "x: expected a JSON value, got an object with an integer as a key"),
    (
        {"x": "\ud800"},
        "x: expected a JSON value, got a string with half a character (a lone surrogate)",
    ),
    ({"x": b"a"}, "x: expected a JSON value, got a Python bytes"),
]


@pytest.mark.parametrize(("arguments", "message"), NO_JSON, ids=[row[1] for row in NO_JSON])
def test_values_without_a_json_form_are_refused_by_name(arguments: Any, message: str) -> None:
    schema = compile_schema({})

    assert not schema.admits(arguments)
    with pytest.raises(CallError) as refused:
        schema.check(arguments)
    assert (refused.value.code, str(refused.value)) == ("W2002", message)


@pytest.mark.parametrize("schema", [{}, {"type": "object"}], ids=["silent", "said"])
def test_arguments_other_than_an_object_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(CallError) as refused:
        compile_schema(schema).check([1])

    assert str(refused.value).startswith("expected an object")
    assert ", got an array of 1. " in str(refused.value)


def test_valid_arguments_are_returned_unchanged() -> None:
    arguments = {"x": 1.0, "y": [1, True]}

    assert compile_schema({}).check(arguments) == ValidArguments(arguments=arguments, coerced=())
