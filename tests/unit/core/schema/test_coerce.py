"""Coercion of models' slips."""

from __future__ import annotations

from typing import Any

import pytest

from widgetd.base.errors import CallError
from widgetd.core.schema.coerce import coerce
from widgetd.core.schema.explain import Explainer
from widgetd.core.schema.limits import LIMITS, ExplanationBudget
from widgetd.core.schema.validator import compile_schema

OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
CHOICE = "a choice in another case or with spaces around it was read as it is"

ROWS = [
    ({"type": "integer"}, "7", 7, "x: a number in quotes was read as a number"),
    ({"type": "integer"}, " -7 ", -7, "x: a number in quotes was read as a number"),
    ({"type": "number"}, "1.50", 1.5, "x: a number in quotes was read as a number"),
    ({"type": "number"}, "1e3", 1000.0, "x: a number in quotes was read as a number"),
    ({"type": "integer"}, "62%", 62, "x: a number in quotes was read as a number"),
    ({"type": "number"}, "49.90 EUR", 49.9, "x: a number in quotes was read as a number"),
    ({"type": "number"}, "€5", 5, "x: a number in quotes was read as a number"),
    ({"type": "string"}, 221, "221", "x: a number was read as a text"),
    (
        {"type": "array", "items": {"type": "object", "required": ["id", "label"]}},
        ["A b"],
        [{"id": "a_b", "label": "A b"}],
        "x[0]: a text was read as an object's label",
    ),
    ({"enum": [1, 2]}, "2", 2, "x: a number in quotes was read as a number"),
    ({"const": 1}, "1", 1, "x: a number in quotes was read as a number"),
    (
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "7",
        7,
        "x: a number in quotes was read as a number",
    ),
    ({"$ref": "#/properties/n"}, "7", 7, "x: a number in quotes was read as a number"),
    ({"type": "boolean"}, "true", True, "x: a boolean in quotes was read as a boolean"),
    ({"type": "boolean"}, "False", False, "x: a boolean in quotes was read as a boolean"),
    ({"type": ["integer", "null"]}, "null", None, "x: null in quotes was read as null"),
    (OBJECT, '{"n": 1}', {"n": 1}, "x: a string that holds JSON was read as an object"),
    ({"type": "array"}, "[1, 2]", [1, 2], "x: a string that holds JSON was read as an array"),
    (
        {"type": "array", "items": {"type": "string"}},
        "a",
        ["a"],
        "x: one value was read as an array of one",
    ),
    (
        {"type": "array", "items": OBJECT},
        {"n": 1},
        [{"n": 1}],
        "x: one value was read as an array of one",
    ),
    ({"enum": ["red", "blue"]}, "Red", "red", f"x: {CHOICE}"),
    ({"enum": ["Paid out", "due"]}, "\tpaid out ", "Paid out", f"x: {CHOICE}"),
    ({"const": "ok"}, "OK", "ok", f"x: {CHOICE}"),
    ({"enum": ["a", "A"]}, " A", "A", f"x: {CHOICE}"),
    ({"anyOf": [{"enum": ["red"]}, {"type": "null"}]}, "RED", "red", f"x: {CHOICE}"),
    ({"anyOf": [{"$ref": "#/properties/colour"}, OBJECT]}, "Red", "red", f"x: {CHOICE}"),
    ({"enum": ["true", True]}, "True", "true", f"x: {CHOICE}"),
    (
        {"oneOf": [{"properties": {"kind": {"const": kind}}} for kind in ("card", "bank")]},
        {"kind": "Bank"},
        {"kind": "bank"},
        f"x.kind: {CHOICE}",
    ),
]


def check(keywords: Any, value: Any, *, strict: bool = False) -> Any:
    """Coerce `value` for a property `x` with `keywords`."""
    beside = {"n": {"type": "integer"}, "colour": {"enum": ["red", "blue"]}}
    schema = {"type": "object", "properties": {"x": keywords, **beside}}
    return compile_schema(schema).check({"x": value}, strict=strict)


@pytest.mark.parametrize(
    ("keywords", "arguments", "expected", "note"), ROWS, ids=[str(row[1]) for row in ROWS]
)
def test_value_of_another_type_is_coerced(
    keywords: Any, arguments: Any, expected: Any, note: str
) -> None:
    result = check(keywords, arguments)

    assert result.arguments == {"x": expected}
    assert type(result.arguments["x"]) is type(expected)
    assert result.coerced == (note,)


@pytest.mark.parametrize(
    ("keywords", "arguments"), [row[:2] for row in ROWS], ids=[str(row[1]) for row in ROWS]
)
def test_strict_mode_corrects_nothing(keywords: Any, arguments: Any) -> None:
    with pytest.raises(CallError):
        check(keywords, arguments, strict=True)


NOT_MENDED = [
    ({"type": "integer"}, "seven"),
    ({"type": "integer"}, "1_000"),
    ({"type": "integer"}, "7.5"),
    ({"type": "integer", "maximum": 5}, "7"),
    ({"type": "number"}, "NaN"),
    ({"type": "boolean"}, "yes"),
    ({"type": "boolean"}, 1),
    ({"type": "string"}, True),
    (OBJECT, '{"n": "a"}'),
    (OBJECT, "{n: 1}"),
    ({"type": "array", "items": {"type": "integer"}}, "a"),
    ({"type": "array", "items": {"type": "string"}}, [None]),
    ({"type": "array", "items": {"type": "string"}}, "[1, 2"),
    ({"type": "number"}, "1e400"),
    ({"type": "number"}, "１２"),
    ({"type": "number"}, "007"),
    ({"type": "integer"}, ""),
    ({"enum": ["straße", "STRASSE"]}, "Strasse"),
    ({"enum": ["red"]}, "re d"),
    ({"type": "string", "pattern": "^a$"}, "A"),
]


@pytest.mark.parametrize(
    ("keywords", "arguments"), NOT_MENDED, ids=[str(row[1]) for row in NOT_MENDED]
)
def test_uncorrectable_value_is_refused(keywords: Any, arguments: Any) -> None:
    with pytest.raises(CallError):
        check(keywords, arguments)


def test_valid_value_is_unchanged() -> None:
    result = check({"type": "string"}, "7")

    assert result.arguments == {"x": "7"}
    assert result.coerced == ()


def test_one_repair_may_reveal_another() -> None:
    result = check({"type": "array", "items": OBJECT}, '[{"n": "1"}, {"n": 2}]')

    assert result.arguments == {"x": [{"n": 1}, {"n": 2}]}
    assert result.coerced == (
        "x: a string that holds JSON was read as an array",
        "x[0].n: a number in quotes was read as a number",
    )


def test_outer_of_two_nested_faults_is_corrected_first() -> None:
    lists = {"type": "array", "items": {"type": "integer"}}
    inner = {"properties": {"n": {"type": "integer"}}}
    result = check({"allOf": [lists, {"items": {"minimum": 1}}, inner]}, "7")

    assert result.arguments == {"x": [7]}
    assert result.coerced == (
        "x: one value was read as an array of one",
        "x[0]: a number in quotes was read as a number",
    )
    with pytest.raises(CallError):
        check({"allOf": [lists, inner]}, {"n": "1"})


def test_original_arguments_are_not_changed() -> None:
    arguments = {"x": [{"n": "1"}]}
    schema = compile_schema({"properties": {"x": {"type": "array", "items": OBJECT}}})

    assert schema.check(arguments).arguments == {"x": [{"n": 1}]}
    assert arguments == {"x": [{"n": "1"}]}


def test_deeply_nested_json_in_a_string_is_not_corrected() -> None:
    with pytest.raises(CallError):
        check({"type": "array"}, "[" * 100 + "]" * 100)


def optional(keywords: Any, **beside: Any) -> dict[str, Any]:
    """Return a schema of objects whose property `a` is held to `keywords` and may be left out."""
    return {"type": "object", "properties": {"a": keywords, "n": {"type": "integer"}}, **beside}


TEXT = {"type": "string"}
CARD = optional({"enum": ["visa"]}, required=["kind"])
CARD["properties"]["kind"] = {"const": "card"}
BANK = optional({"type": "integer"}, required=["kind"])
BANK["properties"]["kind"] = {"const": "bank"}
TITLED = {
    "type": "object",
    "properties": {"title": TEXT, "a": TEXT},
    "required": ["title"],
    "additionalProperties": False,
}
NAMED = {
    "type": "object",
    "properties": {"name": TEXT, "a": TEXT},
    "required": ["name"],
    "additionalProperties": False,
}
NEEDLESS: dict[str, tuple[Any, Any, Any]] = {
    "a type": (optional(TEXT), {"a": None, "n": 1}, {"n": 1}),
    "choices": (optional({"enum": ["a", 1]}), {"a": None}, {}),
    "a constant": (optional({"const": 1}), {"a": None}, {}),
    "alternatives": (optional({"anyOf": [TEXT, {"type": "integer"}]}), {"a": None}, {}),
    "a reference": (optional({"$ref": "#/properties/n"}), {"a": None}, {}),
    "not": (optional({"not": {"type": "null"}}), {"a": None}, {}),
    "false": (optional(False), {"a": None}, {}),
    "a map": ({"type": "object", "additionalProperties": TEXT}, {"b": None, "c": "d"}, {"c": "d"}),
    "a pattern": ({"type": "object", "patternProperties": {"^b": TEXT}}, {"b": None}, {}),
    "elements": (
        {"type": "array", "items": optional(TEXT)},
        [{"a": None}, {"a": "b"}, {"a": None}],
        [{}, {"a": "b"}, {}],
    ),
    "a marked alternative": (
        {"oneOf": [CARD, BANK]},
        {"kind": "bank", "a": None},
        {"kind": "bank"},
    ),
    "an alternative without a mark": (
        {"anyOf": [TITLED, NAMED]},
        {"name": "Ada", "a": None},
        {"name": "Ada"},
    ),
    "what it would bring along": (
        optional(TEXT, dependentRequired={"a": ["b"], "b": ["n"]}),
        {"a": None},
        {},
    ),
    "a chain of them": (optional(TEXT, dependentRequired={"a": ["n"]}), {"a": None, "n": None}, {}),
    "a closed object": (
        {"allOf": [optional(TEXT)], "unevaluatedProperties": False},
        {"a": None},
        {},
    ),
}


@pytest.mark.parametrize("case", NEEDLESS)
def test_null_of_an_optional_non_nullable_property_is_dropped(case: str) -> None:
    keywords, arguments, expected = NEEDLESS[case]

    result = check(keywords, arguments)

    assert result.arguments == {"x": expected}
    assert result.coerced
    assert all(note.endswith(": null was read as absent") for note in result.coerced)
    with pytest.raises(CallError):
        check(keywords, arguments, strict=True)


def test_nulls_are_reported_once_for_all_elements_of_an_array() -> None:
    rows = {"type": "array", "items": optional(TEXT)}

    result = check(rows, [{"a": None, "n": None}] * 3)

    assert result.coerced == (
        "x[0].a and 2 more: null was read as absent",
        "x[0].n and 2 more: null was read as absent",
    )


def test_null_of_a_nullable_property_stays() -> None:
    nullable = optional({"type": ["string", "null"]})

    result = check(nullable, {"a": None, "n": None, "unknown": None})

    assert result.arguments == {"x": {"a": None, "unknown": None}}


NEEDED: dict[str, tuple[Any, Any, str]] = {
    "required": (optional(TEXT, required=["a"]), {"a": None}, "x.a: expected a string, got null"),
    "required elsewhere": (
        {"allOf": [optional(TEXT), {"required": ["a"]}]},
        {"a": None},
        "x.a: expected a string, got null",
    ),
    "required by another": (
        optional(TEXT, dependentRequired={"n": ["a"]}),
        {"n": 1, "a": None},
        "x.a: expected a string, got null",
    ),
    "a mark": (
        {"oneOf": [CARD, BANK]},
        {"kind": None},
        'x.kind: expected "card" or "bank", got null',
    ),
    "an element": ({"type": "array", "items": TEXT}, [None], "x[0]: expected a string, got null"),
}


@pytest.mark.parametrize("case", NEEDED)
def test_null_of_a_required_or_impossible_property_is_refused(case: str) -> None:
    keywords, arguments, note = NEEDED[case]

    with pytest.raises(CallError) as refused:
        check(keywords, arguments)

    assert str(refused.value).startswith(note)


def test_error_omits_harmless_nulls() -> None:
    keywords = optional(TEXT, required=["n"])

    with pytest.raises(CallError) as refused:
        check(keywords, {"a": None, "n": "many"})

    assert [argument.path for argument in refused.value.invalid_arguments] == ["x.n"]


def test_hundreds_of_nulls_are_read_as_absent_and_their_number_is_no_way_to_much_work() -> None:
    rows = {"type": "array", "items": optional(TEXT)}
    schema = compile_schema({"properties": {"x": rows}})

    result = schema.check({"x": [{"a": None, "n": None}] * 300})
    calls = 0

    class Counting(Explainer):
        def find_faults(self, part: Any, value: Any) -> Any:
            nonlocal calls
            calls += 1
            return super().find_faults(part, value)

    budget = ExplanationBudget(LIMITS.explanation_units)
    explainer = Counting(schema.document, schema.compile_part, budget)
    _, notes, _ = coerce({"x": [{"a": None} for _ in range(50_000)]}, explainer, schema.admits)

    assert result.arguments == {"x": [{}] * 300}
    assert not notes
    assert calls < LIMITS.explanation_units
    assert budget.left > -LIMITS.explanation_units


def test_null_in_every_level_of_deep_arguments_counts_as_absent() -> None:
    node = optional(TEXT)
    node["properties"]["c"] = {"$ref": "#/properties/x"}
    arguments: Any = {"a": None}
    expected: Any = {}
    for _ in range(60):
        arguments, expected = {"c": arguments, "a": None}, {"c": expected}

    assert check(node, arguments).arguments == {"x": expected}


def test_null_in_an_unknown_property_is_dropped_and_reported() -> None:
    keywords = optional(TEXT, additionalProperties=False)

    read = check(keywords, {"a": "b", "gate": None})

    assert read.arguments == {"x": {"a": "b"}}
    assert read.coerced == ("x.gate: null was read as absent",)


def test_error_omits_coercible_values() -> None:
    keywords = {
        "type": "object",
        "properties": {
            "price": {"type": "number"},
            "status": {"enum": ["delayed"]},
            "name": {"type": "string"},
        },
    }

    with pytest.raises(CallError) as refused:
        check(keywords, {"price": "49.90", "status": "Delayed", "name": True})

    assert [argument.path for argument in refused.value.invalid_arguments] == ["x.name"]
