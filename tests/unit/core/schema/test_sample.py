"""Arguments made from a schema: they fit, they show the state, and they read well."""

from __future__ import annotations

import json
from typing import Any, get_args

import orjson
import pytest

from tests.support.corpus import corpus_files, needs_corpus
from widgetd.core.schema.phrase import FORMATS
from widgetd.core.schema.sampling.pattern_strings import make_pattern_strings
from widgetd.core.schema.sampling.sample import State
from widgetd.core.schema.validator import Schema, compile_schema

STATES = get_args(State)


def make_sample(keywords: Any, state: State = "full", seed: int = 0) -> Any:
    """Make a sample of a property `x` with `keywords`."""
    schema = compile_schema({"type": "object", "properties": {"x": keywords}, "required": ["x"]})
    arguments = schema.sample(state=state, seed=seed)
    assert arguments is not None
    assert schema.admits(arguments)
    return arguments["x"]


FLIGHT = compile_schema(
    {
        "type": "object",
        "properties": {
            "number": {"type": "string"},
            "airline": {"type": "object", "properties": {"name": {"type": "string"}}},
            "departure": {"$ref": "#/$defs/stop"},
            "arrival": {"$ref": "#/$defs/stop"},
            "note": {"type": ["string", "null"]},
            "legs": {"type": "array", "items": {"$ref": "#/$defs/stop"}},
        },
        "required": ["number", "departure", "legs"],
        "$defs": {
            "stop": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "gate": {"type": "string"}},
                "required": ["city"],
            }
        },
    }
)


def of_flight(state: State, seed: int = 0) -> dict[str, Any]:
    """Return arguments of the flight widget."""
    arguments = FLIGHT.sample(state=state, seed=seed)
    assert arguments is not None
    return arguments


def test_smallest_example_has_the_required_properties_and_reads_well() -> None:
    assert FLIGHT.sample(state="smallest") == {
        "number": "BS 204",
        "departure": {"city": "Lisbon"},
        "legs": [],
    }


def test_required_has_no_optional_property() -> None:
    assert of_flight("required") == {
        "number": "BS 204",
        "departure": {"city": "Lisbon"},
        "legs": [{"city": "Kyoto"}],
    }


def test_full_has_every_property_and_repeats_no_city() -> None:
    assert of_flight("full") == {
        "number": "BS 204",
        "airline": {"name": "Blue Sky Air"},
        "departure": {"city": "Lisbon", "gate": "B12"},
        "arrival": {"city": "Kyoto", "gate": "A4"},
        "note": "Bring a coat.",
        "legs": [{"city": "Nairobi", "gate": "B12 2"}, {"city": "Kyoto", "gate": "A4"}],
    }


@pytest.mark.parametrize(("state", "count"), [("empty", 0), ("one", 1), ("two", 2), ("many", 20)])
def test_state_determines_the_length_of_an_open_array(state: State, count: int) -> None:
    assert len(of_flight(state)["legs"]) == count
    assert set(of_flight(state)) == {"number", "airline", "departure", "arrival", "note", "legs"}


def test_bounds_come_before_the_state() -> None:
    assert len(make_sample({"type": "array", "minItems": 2}, "empty")) == 2
    assert len(make_sample({"type": "array", "maxItems": 3}, "many")) == 3
    assert len(make_sample({"type": "string", "maxLength": 5}, "long")) == 5
    assert make_sample({"type": "integer"}, "nulls") == 2


def test_nulls_are_everywhere_they_are_allowed() -> None:
    assert of_flight("nulls")["note"] is None
    assert of_flight("nulls")["number"] == "BS 204"
    assert make_sample({"enum": ["a", None]}, "nulls") is None
    assert make_sample({"anyOf": [{"type": "string"}, {"type": "null"}]}, "nulls") is None


def test_long_strings_are_long() -> None:
    assert len(of_flight("long")["number"]) == 300


def test_nasty_strings_contain_what_breaks_strings_scripts_templates_and_lines() -> None:
    text = of_flight("nasty")["departure"]["city"]

    for nasty in ('"', "\\", "\n", "</script>", "{{ x }}", "{% y %}", "\u2028", "😀", "\u202e"):
        assert nasty in text


def test_same_seed_makes_the_same_and_another_makes_another() -> None:
    for state in STATES:
        assert of_flight(state) == of_flight(state)
    assert of_flight("full", seed=1) != of_flight("full")


@pytest.mark.parametrize("name", FORMATS)
def test_format_is_honoured(name: str) -> None:
    first, second = make_sample(
        {"type": "array", "items": {"format": name}, "uniqueItems": True}, "two"
    )

    assert first != second
    make_sample({"type": "string", "format": name}, "nasty")


PATTERNS = [
    "^[A-Z]{3}$",
    "^[A-Z]{2}[0-9]{2,4}$",
    r"^\d{4}-\d{2}-\d{2}$",
    r"^(red|green|blue)$",
    r"^#[0-9a-fA-F]{6}$",
    r"^\+?[0-9 ]{7,15}$",
    r"^[a-z0-9]+(?:-[a-z0-9]+)*$",
    r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$",
    r"^\p{L}+$",
    r"^(?P<hours>[01]\d|2[0-3]):[0-5]\d$",
    r"a*b+c?",
    r"^[\w\-. ]{1,64}$",
    r"^\x41\u0042\.\/$",
    r"",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern_is_matched(pattern: str) -> None:
    for state in STATES:
        make_sample({"type": "string", "pattern": pattern}, state)


def test_pattern_and_a_length_are_honoured_together() -> None:
    assert (
        len(
            make_sample({"type": "string", "pattern": "^[a-z]+$", "minLength": 12, "maxLength": 40})
        )
        >= 12
    )


@pytest.mark.parametrize("pattern", ["(?=a)b", "(", "[", "a{", "(?<n", "*", "\\", "(" * 9_999])
def test_unsupported_pattern_gets_no_sample(pattern: str) -> None:
    assert list(make_pattern_strings(pattern)) in ([], [""])


def test_strings_of_nested_repetitions_stay_short() -> None:
    assert all(len(text) < 5_000 for text in make_pattern_strings("((((a+)+)+)+){100}"))


KEYWORDS: list[tuple[Any, Any]] = [
    ({"const": {"a": 1}}, {"a": 1}),
    ({"enum": ["b", "a"]}, "b"),
    ({"type": "string", "examples": ["from the author"]}, "from the author"),
    ({"type": "string", "default": "said"}, "said"),
    ({"type": "string", "default": 5}, "Example"),
    ({"type": "integer", "minimum": 10, "maximum": 20, "multipleOf": 7}, 14),
    ({"type": "integer", "exclusiveMinimum": 2, "exclusiveMaximum": 4}, 3),
    ({"type": "number", "minimum": 0.1, "maximum": 0.2, "multipleOf": 0.05}, 0.2),
    ({"type": "boolean"}, True),
    ({"type": "null"}, None),
    ({"allOf": [{"type": "number"}, {"type": "integer", "minimum": 9}]}, 9),
    ({"oneOf": [{"type": "number"}, {"minimum": 5}]}, 2),
    ({"not": {"type": "string"}, "type": ["string", "integer"]}, 2),
    ({"if": {"type": "string"}, "then": {"minLength": 9}, "type": "string"}, "Example E"),
    ({"prefixItems": [{"const": 1}, {"const": 2}], "items": False}, [1, 2]),
    ({"type": "array", "contains": {"const": 9}, "items": {"type": "integer"}}, [9, 3]),
    (
        {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True, "minItems": 2},
        ["a", "b"],
    ),
    ({"type": "object", "minProperties": 2}, {"extra1": "Example", "extra2": "Example"}),
    (
        {
            "type": "object",
            "patternProperties": {"^n_": {"type": "integer"}},
            "minProperties": 1,
            "additionalProperties": False,
        },
        {"n_": 2},
    ),
    (
        {"properties": {"a": {"const": 1}}, "dependentRequired": {"a": ["b"]}},
        {"a": 1, "b": "Example"},
    ),
    (
        {
            "properties": {"a": {"const": 1}},
            "dependentSchemas": {"a": {"properties": {"b": {"const": 2}}, "required": ["b"]}},
        },
        {"a": 1, "b": 2},
    ),
    ({"properties": {"a": {"const": 1}, "b": False}, "required": ["a"]}, {"a": 1}),
]


@pytest.mark.parametrize(
    ("keywords", "expected"), KEYWORDS, ids=[str(row[0])[:50] for row in KEYWORDS]
)
def test_keyword_is_honoured(keywords: Any, expected: Any) -> None:
    assert make_sample(keywords) == expected
    for state in STATES:
        make_sample(keywords, state)


def test_recursion_ends_on_the_shortest_path() -> None:
    node = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node"}},
                "required": ["next"],
            },
            {"type": "string"},
        ]
    }
    schema = compile_schema(
        {"properties": {"x": {"$ref": "#/$defs/node"}}, "required": ["x"], "$defs": {"node": node}}
    )

    assert schema.sample(state="full") == {"x": {"next": "Example"}}
    assert schema.sample(state="smallest") == {"x": "Example"}


def test_alternatives_are_taken_in_turn() -> None:
    kinds = [{"properties": {"kind": {"const": kind}}, "required": ["kind"]} for kind in "abc"]

    assert [
        element["kind"] for element in make_sample({"type": "array", "items": {"anyOf": kinds}})
    ] == ["a", "b"]


@pytest.mark.parametrize("least", [10_001, 10**9, 2**63])
def test_string_requiring_all_memory_is_not_made(least: int) -> None:
    demanding = {"properties": {"x": {"type": "string", "minLength": least}}, "required": ["x"]}
    assert compile_schema(demanding).sample(state="smallest") is None


def test_none_means_that_no_sample_was_found() -> None:
    contradiction = {"allOf": [{"pattern": "^a$"}, {"pattern": "^b$"}], "type": "string"}
    schema = compile_schema({"properties": {"x": contradiction}, "required": ["x"]})

    assert schema.sample(state="smallest") is None


def corpus_schemas() -> list[tuple[str, Schema]]:
    """Return the schemas of the real widgets."""
    schemas = []
    for path in corpus_files():
        content = json.loads(path.read_bytes())
        if "jsonSchema" in content:
            schemas.append((path.name, compile_schema(content["jsonSchema"])))
    return schemas


@needs_corpus
@pytest.mark.parametrize("state", STATES)
def test_every_real_widget_gets_arguments_in_every_state(state: State) -> None:
    for name, schema in corpus_schemas():
        arguments = schema.sample(state=state)
        assert arguments is not None, name
        assert schema.admits(arguments), name


def test_integer_beyond_most_json_readers_is_written_in_a_form_they_read() -> None:
    large = {"type": "integer", "minimum": 1e20}
    schema = compile_schema({"properties": {"x": large}, "required": ["x"]})

    assert repr(schema.smallest) == "{'x': 1e+20}"
    assert orjson.dumps(schema.smallest) == b'{"x":1e+20}'
