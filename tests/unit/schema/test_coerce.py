"""What models get wrong, and how it is coerced."""

from __future__ import annotations

from typing import Any

import pytest

from widgetd.errors import CallError
from widgetd.schema.validator import compile_schema

OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

ROWS = [
    ({"type": "integer"}, "7", 7, "x: a number in quotes was read as a number"),
    ({"type": "integer"}, " -7 ", -7, "x: a number in quotes was read as a number"),
    ({"type": "number"}, "1.50", 1.5, "x: a number in quotes was read as a number"),
    ({"type": "number"}, "1e3", 1000.0, "x: a number in quotes was read as a number"),
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
]


def checked(keywords: Any, value: Any, *, strict: bool = False) -> Any:
    """What becomes of `value` where the property `x` is held to `keywords`."""
    schema = {"type": "object", "properties": {"x": keywords, "n": {"type": "integer"}}}
    return compile_schema(schema).check({"x": value}, strict=strict)


@pytest.mark.parametrize(
    ("keywords", "sent", "meant", "told"), ROWS, ids=[str(row[1]) for row in ROWS]
)
def test_a_value_sent_in_another_type_is_read_as_what_it_says(
    keywords: Any, sent: Any, meant: Any, told: str
) -> None:
    result = checked(keywords, sent)

    assert result.arguments == {"x": meant}
    assert type(result.arguments["x"]) is type(meant)
    assert result.coerced == (told,)


@pytest.mark.parametrize(
    ("keywords", "sent"), [row[:2] for row in ROWS], ids=[str(row[1]) for row in ROWS]
)
def test_nothing_is_mended_where_strictness_is_wanted(keywords: Any, sent: Any) -> None:
    with pytest.raises(CallError):
        checked(keywords, sent, strict=True)


NOT_MENDED = [
    ({"type": "integer"}, "seven"),
    ({"type": "integer"}, "1_000"),
    ({"type": "integer"}, "7.5"),
    ({"type": "integer", "maximum": 5}, "7"),
    ({"type": "number"}, "NaN"),
    ({"type": "boolean"}, "yes"),
    ({"type": "boolean"}, 1),
    ({"type": "string"}, 7),
    (OBJECT, '{"n": "a"}'),
    (OBJECT, "{n: 1}"),
    ({"type": "array", "items": {"type": "integer"}}, "a"),
    ({"type": "array"}, None),
    ({"type": "array", "items": {"type": "string"}}, "[1, 2"),
    ({"type": "number"}, "1e400"),
    ({"type": "number"}, "１２"),
    ({"type": "number"}, "007"),
    ({"type": "integer"}, ""),
]


@pytest.mark.parametrize(("keywords", "sent"), NOT_MENDED, ids=[str(row[1]) for row in NOT_MENDED])
def test_what_says_nothing_else_or_would_still_not_fit_is_refused(keywords: Any, sent: Any) -> None:
    with pytest.raises(CallError):
        checked(keywords, sent)


def test_a_value_that_fits_is_left_alone() -> None:
    result = checked({"type": "string"}, "7")

    assert result.arguments == {"x": "7"}
    assert result.coerced == ()


def test_one_mend_may_bring_another_to_light() -> None:
    result = checked({"type": "array", "items": OBJECT}, '[{"n": "1"}, {"n": 2}]')

    assert result.arguments == {"x": [{"n": 1}, {"n": 2}]}
    assert result.coerced == (
        "x: a string that holds JSON was read as an array",
        "x[0].n: a number in quotes was read as a number",
    )


def test_of_faults_one_in_the_other_the_outer_is_mended_first() -> None:
    lists = {"type": "array", "items": {"type": "integer"}}
    inner = {"properties": {"n": {"type": "integer"}}}
    result = checked({"allOf": [lists, {"items": {"minimum": 1}}, inner]}, "7")

    assert result.arguments == {"x": [7]}
    assert result.coerced == (
        "x: one value was read as an array of one",
        "x[0]: a number in quotes was read as a number",
    )
    with pytest.raises(CallError):
        checked({"allOf": [lists, inner]}, {"n": "1"})


def test_the_arguments_that_were_sent_are_not_changed() -> None:
    sent = {"x": [{"n": "1"}]}
    schema = compile_schema({"properties": {"x": {"type": "array", "items": OBJECT}}})

    assert schema.check(sent).arguments == {"x": [{"n": 1}]}
    assert sent == {"x": [{"n": "1"}]}


def test_json_in_a_string_that_nests_too_deeply_is_not_mended() -> None:
    with pytest.raises(CallError):
        checked({"type": "array"}, "[" * 100 + "]" * 100)
