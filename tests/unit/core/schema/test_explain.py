"""The table of messages to callers, each in full."""

from __future__ import annotations

import json
from typing import Any

import pytest

from widgetd.base.errors import CallError, InvalidArgument
from widgetd.core.schema.validator import compile_schema


def explain_slip(keywords: Any, value: Any) -> str:
    """Return the error of `value` for a property `x` with `keywords`."""
    schema = compile_schema({"type": "object", "properties": {"x": keywords}})
    with pytest.raises(CallError) as refused:
        schema.check({"x": value}, strict=True)
    return str(refused.value).removesuffix(". Smallest valid example: {}")


BANK = {
    "type": "object",
    "properties": {"kind": {"const": "bank"}, "iban": {"type": "string"}},
    "required": ["kind", "iban"],
}
CARD = {"type": "object", "properties": {"kind": {"const": "card"}}, "required": ["kind"]}

MESSAGES = [
    ({"type": "string"}, 5, "x: expected a string, got 5"),
    ({"type": "string"}, None, "x: expected a string, got null"),
    (
        {"type": "string", "minLength": 2},
        "a",
        'x: expected a string of at least 2 characters, got "a"',
    ),
    (
        {"type": "string", "maxLength": 1},
        "ab",
        'x: expected a string of at most 1 character, got "ab"',
    ),
    ({"maxLength": 3, "minLength": 3}, "a", 'x: expected a string of 3 characters, got "a"'),
    ({"pattern": "^[A-Z]{3}$"}, "eur", 'x: expected a string that matches ^[A-Z]{3}$, got "eur"'),
    ({"format": "date"}, "soon", 'x: expected a date as 2026-01-31, got "soon"'),
    (
        {"type": "string", "format": "uri"},
        "/panam.png",
        'x: expected an absolute URI as https://example.com/a, got "/panam.png"',
    ),
    ({"type": "integer"}, 1.5, "x: expected an integer, got 1.5"),
    ({"type": "integer"}, "7", 'x: expected an integer, got "7"'),
    (
        {"type": "integer", "minimum": 0, "maximum": 100},
        101,
        "x: expected an integer from 0 to 100, got 101",
    ),
    ({"type": "number", "exclusiveMinimum": 0}, 0, "x: expected a number above 0, got 0"),
    ({"multipleOf": 5}, 7, "x: expected a number that is a multiple of 5, got 7"),
    (
        {"type": "integer", "minimum": -(2**53 - 1), "maximum": 2**53 - 1},
        "a",
        'x: expected an integer, got "a"',
    ),
    (
        {"type": "integer", "maximum": 9},
        10**40,
        "x: expected a JSON value, got an integer of more than 64 bits",
    ),
    ({"type": "boolean"}, "yes", 'x: expected true or false, got "yes"'),
    ({"enum": ["a", "b"]}, "c", 'x: expected one of "a", "b", got "c"'),
    (
        {"enum": list("abcdefgh")},
        1,
        'x: expected one of "a", "b", "c", "d", "e", "f" and 2 more, got 1',
    ),
    ({"const": 1}, 2, "x: expected 1, got 2"),
    ({"type": ["string", "null"]}, 1, "x: expected a string or null, got 1"),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, "x: expected a string or null, got 1"),
    ({"type": "object"}, [1, 2], "x: expected an object, got an array of 2"),
    ({"type": "array"}, {"a": 1}, "x: expected an array, got an object"),
    (
        {"type": "array", "minItems": 1},
        [],
        "x: expected an array of at least 1 element, got an array of 0",
    ),
    ({"uniqueItems": True}, [1, 1], "x: expected an array without duplicates, got an array of 2"),
    ({"items": {"type": "integer"}}, [1, "b"], 'x[1]: expected an integer, got "b"'),
    ({"prefixItems": [True], "items": False}, [1, 2], "x[1]: expected nothing here, got 2"),
    (
        {"contains": {"const": 1}},
        [2],
        "x: expected an array with at least 1 of this kind: 1, got an array of 1",
    ),
    ({"required": ["a"]}, {}, "x.a: expected a value, got nothing"),
    (
        {"properties": {"city": True}, "additionalProperties": False},
        {"ctiy": "Kyoto"},
        'x.ctiy: expected no such property (did you mean city?), got "Kyoto"',
    ),
    (
        {"maxProperties": 1},
        {"a": 1, "b": 2},
        "x: expected an object of at most 1 property, got an object",
    ),
    (
        {"propertyNames": {"maxLength": 2}},
        {"abc": 1},
        "x.abc: expected a property whose name is a string of at most 2 characters, got 1",
    ),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "x.b: expected a value, got nothing"),
    ({"not": {"type": "null"}}, None, "x: expected anything but null, got null"),
    (
        {"oneOf": [True, {"minimum": 5}]},
        7,
        "x: expected a value that fits one of 2 alternatives, not 2, got 7",
    ),
    (
        {"if": {"type": "string"}, "then": {"minLength": 2}},
        "a",
        'x: expected a string of at least 2 characters, got "a"',
    ),
    ({"anyOf": [BANK, CARD]}, {"kind": "bank"}, "x.iban: expected a string, got nothing"),
    ({"oneOf": [BANK, CARD]}, {"kind": "cash"}, 'x.kind: expected "bank" or "card", got "cash"'),
    (
        {"oneOf": [{"properties": {"kind": {"const": kind}}} for kind in range(100)]},
        {"kind": "cash"},
        'x.kind: expected one of 0, 1, 2, 3, 4, 5 and 94 more, got "cash"',
    ),
    ({"anyOf": [BANK, {"type": "null"}]}, 7, "x: expected an object or null, got 7"),
    (False, 1, "x: expected nothing, got 1"),
    ({"type": "integer"}, "a" * 100, 'x: expected an integer, got "' + "a" * 39 + '…"'),
]


@pytest.mark.parametrize(
    ("keywords", "value", "message"), MESSAGES, ids=[row[2][:60] for row in MESSAGES]
)
def test_error_names_the_path_the_expectation_and_the_value(
    keywords: Any, value: Any, message: str
) -> None:
    assert explain_slip(keywords, value) == message


FLIGHT = {
    "type": "object",
    "properties": {
        "number": {"type": "string"},
        "legs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"from": {"type": "string"}, "to": {"type": "string"}},
                "required": ["from"],
            },
        },
        "passport": {"type": "string", "maxLength": 3},
        "traveller": {"type": "object", "properties": {"card": {"type": "string"}}},
        "tokens": {"type": "object", "propertyNames": {"maxLength": 3}},
    },
    "required": ["number", "legs"],
    "additionalProperties": False,
}


def check_refusal(arguments: Any, *sensitive: str) -> CallError:
    """Return the error of a call of the flight widget."""
    with pytest.raises(CallError) as error:
        compile_schema(FLIGHT).check(arguments, strict=True, sensitive=sensitive)
    return error.value


def test_several_faults_are_reported_together_in_schema_order_with_the_smallest_example() -> None:
    error = check_refusal({"legs": [{"from": 1}, {"to": 2}]})

    assert str(error) == (
        "number: expected a string, got nothing; legs[0].from: expected a string, got 1; "
        "legs[1].from: expected a string, got nothing; legs[1].to: expected a string, got 2. "
        'Smallest valid example: {"number":"BS 204","legs":[{"from":"Lisbon"}]}'
    )
    assert error.path == "number"
    assert error.invalid_arguments[1] == InvalidArgument(
        path="legs[0].from", expected="a string", got="1"
    )


@pytest.mark.parametrize(
    ("wrong", "others"), [(5, "4. "), (6, "4; and 1 more. "), (20, "4; and 15 more. ")]
)
def test_at_most_five_faults_are_reported_with_the_number_of_others(
    wrong: int, others: str
) -> None:
    error = check_refusal(
        {"number": "PA 845", "legs": [{"from": number} for number in range(wrong)]}
    )

    assert [argument.path for argument in error.invalid_arguments] == [
        f"legs[{index}].from" for index in range(5)
    ]
    assert f"legs[4].from: expected a string, got {others}Smallest valid example" in str(error)


def test_where_not_all_slips_were_counted_there_are_at_least_so_many() -> None:
    error = check_refusal({"number": "PA 845", "legs": [{"from": number} for number in range(500)]})

    assert "; and at least 59 more. Smallest valid example: " in str(error)


def test_errors_beyond_the_limit_are_counted() -> None:
    names = [letter * 60 for letter in "abcde"]
    texts = {name: {"type": "string", "pattern": "^x{9}$"} for name in names}
    schema = compile_schema({"type": "object", "properties": texts})

    with pytest.raises(CallError) as error:
        schema.check(dict.fromkeys(names, "y" * 30))

    assert len(error.value.invalid_arguments) == 5
    count = str(error.value).count(": expected a string")
    assert count < 5
    assert f"; and {5 - count} more" in str(error.value)


def test_message_stays_under_600_characters_and_ends_with_a_valid_example() -> None:
    long = "a-rather-long-name-of-a-property-number-"
    properties = {f"{long}{index}": {"type": "string", "minLength": 40} for index in range(30)}
    schema = compile_schema(
        {"type": "object", "properties": properties, "required": list(properties)}
    )

    with pytest.raises(CallError) as error:
        schema.check({})

    assert len(str(error.value)) < 600
    assert str(error.value).startswith(f"{long}0: expected a string of at least 40 characters")
    assert f'. Smallest valid example of {long}0: "BS 204 BS 204' in str(error.value)


@pytest.mark.parametrize(
    ("keywords", "value"),
    [
        ({"properties": {"n" * 700: True}, "additionalProperties": False}, {"n" * 699: "v" * 99}),
        ({"properties": {"n" * 700: {"const": "c" * 99}}}, {"n" * 700: "v" * 99}),
        ({"oneOf": [{"properties": {"k": {"const": f"{n}" * 60}}} for n in range(99)]}, {"k": "v"}),
        ({"propertyNames": {"pattern": "p" * 500}}, {"n" * 700: 1}),
        ({"enum": ["e" * 500, "f" * 500]}, "v" * 500),
    ],
)
@pytest.mark.parametrize("required", ["r", "r" * 390])
def test_message_stays_under_600_characters_for_parts_of_any_length(
    keywords: Any, value: Any, required: str
) -> None:
    properties = {"x": keywords, required: {"const": "e" * 300}}
    schema = compile_schema({"properties": properties, "required": [required]})

    with pytest.raises(CallError) as error:
        schema.check({"x": value})

    assert len(f"[W2002] {error.value} (retry: yes, after 60 s)") < 600
    assert all(len(argument.expected) <= 240 for argument in error.value.invalid_arguments)


def test_example_may_contain_an_integer_of_64_bits() -> None:
    schema = compile_schema({"properties": {"x": {"const": 2**64 - 1}}, "required": ["x"]})

    with pytest.raises(CallError) as error:
        schema.check({})

    assert str(error.value).endswith('Smallest valid example: {"x":18446744073709551615}')


SECRETS = [
    (
        {"passport": "X123"},
        ["passport"],
        "passport: expected a string of at most 3 characters, got a string",
    ),
    (
        {"traveller": {"card": 4242}},
        ["traveller.card"],
        "traveller.card: expected a string, got an integer",
    ),
    ({"traveller": {"card": 4242}}, ["traveller"], "traveller: expected a string, got an integer"),
    (
        {"traveller": '{"card": 4242}'},
        ["traveller.card"],
        "traveller: expected an object, got a string",
    ),
    (
        {"legs": [{"from": 4242}]},
        ["legs[].from"],
        "legs[0].from: expected a string, got an integer",
    ),
    (
        {"tokens": {"X123": 4242}},
        ["tokens"],
        (
            "tokens: expected a property whose name is a string of at most 3 characters, "
            "got an integer"
        ),
    ),
    (
        {"pasport": "X123"},
        ["passport"],
        "pasport: expected no such property (did you mean passport?), got a string",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "sensitive", "message"), SECRETS, ids=[row[2] for row in SECRETS]
)
def test_sensitive_value_is_never_shown(arguments: Any, sensitive: list[str], message: str) -> None:
    error = check_refusal({"number": "PA", "legs": [{"from": "KHI"}]} | arguments, *sensitive)

    assert str(error).startswith(message + ". Smallest")
    assert "4242" not in str(error)
    assert "X123" not in str(error)


def test_fault_deep_in_a_long_array_is_found() -> None:
    legs = [{"from": "KHI", "to": "DXB"} for _ in range(20_000)]
    legs[19_450] = {"from": "KHI", "to": 5}  # type: ignore[dict-item]  # the slip

    assert check_refusal({"number": "PA", "legs": legs}).path == "legs[19450].to"


@pytest.mark.parametrize(
    "root",
    [
        {"items": {"$ref": "#/$defs/a%20b"}},
        {"items": {"$ref": "n"}, "$id": "https://example.com/w", "$defs": {"n": {"$id": "n"}}},
        {"items": {"$ref": "n"}, "$id": "w", "$defs": {"n": {"$id": "n"}}},
        {"items": {"$ref": "#/$defs/n"}, "$schema": "http://json-schema.org/draft-07/schema#"},
        {"prefixItems": [True, True], "items": {"$ref": "#/$defs/n"}},
        {"contains": {"not": {"$ref": "#/$defs/n"}}, "maxContains": 0},
    ],
)
def test_long_array_is_searched_wherever_its_elements_are_described(root: Any) -> None:
    root = json.loads(json.dumps(root))
    definitions = root.pop("$defs", {"n": {}, "a b": {}})
    naming = {key: root.pop(key) for key in ("$id", "$schema") if key in root}
    for definition in definitions.values():
        definition["type"] = "integer"
    schema = compile_schema({**naming, "properties": {"x": root}, "$defs": definitions})

    with pytest.raises(CallError) as error:
        schema.check({"x": [*range(300), "300", *range(300)]}, strict=True)

    assert str(error.value).startswith(
        'x[300]: expected an integer, got "300".'
        if "items" in root
        else "x: expected an array with at most 0 of this kind: another value, got an array of 601."
    )


def kinds(count: int) -> dict[str, Any]:
    """Return a recursive union of objects that their `kind` tells apart."""
    branches = [
        {
            "type": "object",
            "properties": {"kind": {"const": f"k{index}"}, "c": {"$ref": "#/$defs/node"}},
            "required": ["kind"],
        }
        for index in range(count)
    ]
    return {
        "properties": {"x": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"oneOf": [*branches, {"type": "null"}]}},
    }


def test_error_in_a_deep_union_of_many_kinds_is_located() -> None:
    schema = compile_schema(kinds(150))
    value: Any = 5
    for level in range(60):
        value = {"kind": f"k{level}", "c": value}

    with pytest.raises(CallError) as error:
        schema.check({"x": value})

    assert len(error.value.invalid_arguments) == 1
    assert ".c: expected an object or null, got 5" in str(error.value)


def test_unknown_kind_in_a_deep_union_is_reported_with_the_known_ones() -> None:
    schema = compile_schema(kinds(600))
    value: Any = {"kind": "k600"}
    for level in range(55):
        value = {"kind": f"k{level}", "c": value}

    with pytest.raises(CallError) as error:
        schema.check({"x": value})

    assert '.c.kind: expected one of "k0", "k1"' in str(error.value)
    assert 'and 594 more, got "k600"' in str(error.value)


def test_where_the_budget_does_not_reach_the_likeliest_alternative_is_explained() -> None:
    branches = [
        {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/step"}},
            "required": ["next", f"mark{index}"],
        }
        for index in range(60)
    ]
    schema = compile_schema(
        {
            "type": "object",
            "properties": {"first": {"$ref": "#/$defs/step"}},
            "$defs": {"step": {"anyOf": [*branches, {"type": "string"}]}},
        }
    )
    step: Any = 5
    for _ in range(60):
        step = {"next": step}

    with pytest.raises(CallError) as error:
        schema.check({"first": step})

    assert "expected a value, got nothing" in str(error.value)


ROWS = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "cells": {"type": "array", "minItems": 2, "items": {"type": "number"}},
                },
                "required": ["name"],
            },
        },
    },
    "required": ["title", "rows"],
}


@pytest.mark.parametrize(
    ("sent", "meant"),
    [("name", "title"), ("location", "place"), ("flight", "number"), ("chartType", "kind")],
)
def test_unknown_argument_of_the_same_meaning_is_suggested(sent: str, meant: str) -> None:
    properties = {name: {"type": "string"} for name in ("title", "place", "number", "kind", "b")}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    others = {"number"} if sent == "flight" else set[str]()

    with pytest.raises(CallError, match=rf"no such property \(did you mean {meant}\?\)"):
        compile_schema({**schema, "required": [*others]}).check({sent: "NF 218"})


SMALL = {"title": "Ships", "rows": [{"name": "Ada", "cells": [1, 2, 3]}]}
LARGE = {"title": "Ships", "rows": [{"name": f"Ada {n}", "cells": [n, n]} for n in range(90)]}


def ending(arguments: Any, example: Any, schema: Any = None) -> str:
    """Return the end of the error for a schema with the author's `example`."""
    with pytest.raises(CallError) as error:
        compile_schema(schema or ROWS).check(arguments, example=lambda: example)
    assert len(str(error.value)) < 570
    return str(error.value).partition(". ")[2]


def test_authors_example_is_shown() -> None:
    assert ending({"title": True}, SMALL) == (
        'Valid example: {"title":"Ships","rows":[{"name":"Ada","cells":[1,2,3]}]}'
    )


def test_large_example_is_reduced_to_the_faulty_part_and_one_list_element() -> None:
    first = '{"name":"Ada 0","cells":[0,0]}'

    assert ending({"title": "a", "rows": 7}, LARGE) == f"Valid example of rows: [{first}]"
    assert ending({"title": "a", "rows": [{"cells": []}]}, LARGE) == (
        f"Valid example of rows: [{first}]"
    )
    assert ending({"title": True, "rows": []}, LARGE) == 'Valid example of title: "Ships"'


def test_list_with_a_minimum_length_is_shown_whole_or_not_at_all() -> None:
    rows = {**ROWS["properties"]["rows"], "minItems": 90}  # type: ignore[index]  # a schema is JSON
    schema = {**ROWS, "properties": {**ROWS["properties"], "rows": rows}}  # type: ignore[dict-item]

    assert ending({"title": "a", "rows": 7}, LARGE, schema) == ""
    assert ending({"title": "a", "rows": [{"name": True}] * 90}, LARGE, schema).endswith(
        'Valid example of rows[0]: {"name":"Ada 0","cells":[0,0]}'
    )


def test_where_the_authors_example_has_no_room_the_smallest_is_shown() -> None:
    large = {"title": "a" * 900, "rows": []}

    assert ending({"title": True, "rows": []}, large).startswith('Smallest valid example: {"title"')
