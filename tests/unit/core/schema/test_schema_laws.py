"""Laws that hold for every schema and every value."""

from __future__ import annotations

import json
from typing import Any, get_args

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.examples import examples
from tests.unit.core.schema.schemas import (
    ARGUMENTS,
    DRAFTED,
    DRAFTS,
    RECORDS,
    SCHEMAS,
    dynamic,
    with_nulls,
)
from widgetd.base.errors import CallError, WidgetError
from widgetd.core.schema.engine import LEAVES, OPTIONS
from widgetd.core.schema.keywords import REACHES
from widgetd.core.schema.pydantic_model import json_schema_to_pydantic
from widgetd.core.schema.sampling.sample import State
from widgetd.core.schema.validator import Schema, ValidArguments, compile_schema

STATES = st.sampled_from(get_args(State))
lawful = settings(
    examples(40), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def compile_or_assume(schema: dict[str, Any]) -> Schema:
    """Compile the schema; discard the example if it is unusable."""
    try:
        return compile_schema(schema)
    except WidgetError as error:
        event(error.finding.code)
        assume(False)
        raise


def exactly(value: Any) -> str:
    """Return a text that also differs with the type of a number."""
    return json.dumps(value, sort_keys=True)


@st.composite
def calls(draw: st.DrawFn) -> tuple[Schema, dict[str, Any]]:
    """Return a schema and arguments that are valid, nearly valid or invalid."""
    schema = compile_or_assume(draw(SCHEMAS))
    sample = schema.sample(state=draw(STATES), seed=draw(st.integers(0, 2)))
    arguments = draw(ARGUMENTS)
    if sample is not None and draw(st.booleans()):
        arguments = sample if draw(st.booleans()) else {**sample, **arguments}
    return schema, arguments


@lawful
@given(calls())
def test_explanation_agrees_with_the_validator_on_every_place(
    call: tuple[Schema, dict[str, Any]],
) -> None:
    schema, arguments = call
    explainer = schema.explainer()

    faults = explainer.find_faults(schema.document.root, arguments)

    event(f"admits: {schema.admits(arguments)}")
    assume(not explainer.is_exhausted)
    assert (not faults) == schema.admits(arguments)


@lawful
@given(st.one_of(DRAFTED, dynamic()), ARGUMENTS)
def test_every_rejection_in_every_draft_has_a_sentence_and_a_place_at_which_the_engine_refuses(
    source: dict[str, Any], arguments: dict[str, Any]
) -> None:
    schema = compile_or_assume(source)
    explainer = schema.explainer()

    faults = explainer.find_faults(schema.document.root, arguments)

    event(f"admits: {schema.admits(arguments)}")
    assume(not explainer.is_exhausted)
    assert (not faults) == schema.admits(arguments)
    refused = [
        tuple(error.instance_path)
        for error in jsonschema_rs.iter_errors(source, arguments, **OPTIONS)
    ]
    event(f"dynamic: {schema.document.is_dynamic}")
    for fault in faults:
        assert fault.expected(schema.document)
        assert any(fault.path[: len(place)] == place for place in refused), (fault, refused)


# What each keyword refuses where a draft knows it.
REFUSED_BY_KEYWORD: dict[str, tuple[dict[str, Any], Any]] = {
    "prefixItems": ({"prefixItems": [{"type": "string"}]}, [1]),
    "items": ({"items": [{"type": "string"}]}, [1]),
    "additionalItems": ({"items": [{}], "additionalItems": {"type": "null"}}, [1, 2]),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    "dependentSchemas": ({"dependentSchemas": {"a": {"type": "null"}}}, {"a": 1}),
    "dependencies": ({"dependencies": {"a": {"type": "null"}}}, {"a": 1}),
    "unevaluatedProperties": ({"unevaluatedProperties": {"type": "null"}}, {"a": 1}),
    "unevaluatedItems": ({"unevaluatedItems": {"type": "null"}}, [1]),
    "if": ({"if": {"type": "array"}, "then": {"type": "null"}}, [1]),
    "else": ({"if": {"type": "object"}, "else": {"type": "null"}}, [1]),
    "const": ({"const": 2}, 1),
    "enum": ({"enum": [2, 3]}, 1),
    "contains": ({"contains": {"type": "string"}}, [1]),
    "minContains": ({"contains": {"type": "integer"}, "minContains": 2}, [1]),
    "maxContains": ({"contains": {"type": "integer"}, "maxContains": 1}, [1, 1]),
    "propertyNames": ({"propertyNames": {"maxLength": 0}}, {"a": 1}),
    "contentMediaType": ({"contentMediaType": "application/json"}, "{"),
    "contentEncoding": ({"contentEncoding": "base64"}, "{"),
    "both": ({"contentEncoding": "base64", "contentMediaType": "application/json"}, "ew=="),
    "format": ({"format": "uuid"}, "{"),
    "not": ({"not": {"type": "integer"}}, 1),
    "$ref": ({"$ref": "#/definitions/s", "minimum": 5}, 1),
    "$dynamicRef": ({"$dynamicRef": "#/definitions/s"}, 1),
    "$recursiveRef": ({"$recursiveRef": "#"}, 1),
}
# A draft that knows the keyword, and wants it written otherwise.
OTHER_FORM = {("items", "draft/2020-12"), ("additionalItems", "draft/2020-12")}


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("keyword", REFUSED_BY_KEYWORD)
def test_keyword_is_at_fault_exactly_in_the_drafts_that_know_it(keyword: str, draft: str) -> None:
    keywords, value = REFUSED_BY_KEYWORD[keyword]
    source = {
        "$schema": DRAFTS[draft],
        "type": "object",
        "properties": {"x": keywords},
        "definitions": {"s": {"type": "string"}},
    }
    if (keyword, draft) in OTHER_FORM:
        with pytest.raises(WidgetError):
            compile_schema(source)
        return
    schema = compile_schema(source)

    faults = schema.explainer().find_faults(schema.document.root, {"x": value})

    assert bool(faults) != schema.admits({"x": value})
    assert all(fault.path[:1] == ("x",) for fault in faults)


@lawful
@given(calls())
def test_model_admits_the_same_as_its_schema_and_changes_nothing(
    call: tuple[Schema, dict[str, Any]],
) -> None:
    schema, arguments = call
    model = json_schema_to_pydantic(schema.advertised, "Any")

    if schema.admits(arguments):
        instance = model.model_validate(arguments)
        assert exactly(instance.model_dump(by_alias=True, exclude_unset=True)) == exactly(arguments)
    else:
        with pytest.raises(ValidationError):
            model.model_validate(arguments)


@lawful
@given(calls())
def test_valid_arguments_are_admitted_and_others_get_a_short_error(
    call: tuple[Schema, dict[str, Any]],
) -> None:
    schema, arguments = call
    before = exactly(arguments)

    outcome = check_value(schema, arguments)

    if isinstance(outcome, ValidArguments):
        assert schema.admits(outcome.arguments)
        assert bool(outcome.coerced) != schema.admits(arguments)
    else:
        assert not schema.admits(arguments)
        assert outcome.code == "W2002"
        assert 1 <= len(outcome.invalid_arguments) <= 5
        assert len(str(outcome)) < 600
    assert exactly(arguments) == before


def check_value(schema: Schema, arguments: dict[str, Any]) -> ValidArguments | CallError:
    """Return the result of a check, or its error."""
    try:
        return schema.check(arguments)
    except CallError as error:
        return error


@lawful
@given(SCHEMAS, STATES, st.integers(0, 3))
def test_sample_fits_and_is_the_same_each_time(
    source: dict[str, Any], state: State, seed: int
) -> None:
    schema = compile_or_assume(source)

    sample = schema.sample(state=state, seed=seed)

    event(f"made: {sample is not None}")
    assert sample is None or schema.admits(sample)
    assert sample == compile_schema(source).sample(state=state, seed=seed)
    assert schema.smallest is None or schema.admits(schema.sample(state="smallest"))


@lawful
@given(calls())
def test_defaults_are_added_without_changing_present_values(
    call: tuple[Schema, dict[str, Any]],
) -> None:
    schema, arguments = call
    assume(schema.admits(arguments))

    assert holds(schema.with_defaults(arguments), arguments)


def holds(filled: Any, arguments: Any) -> bool:
    """Return whether `filled` holds everything of `sent` in its place."""
    if isinstance(arguments, dict):
        return all(
            name in filled and holds(filled[name], inner) for name, inner in arguments.items()
        )
    if isinstance(arguments, list):
        return len(filled) == len(arguments) and all(map(holds, filled, arguments))
    return exactly(filled) == exactly(arguments)


KEYWORDS = st.sampled_from(
    [*REACHES, *LEAVES, *("required", "dependentRequired", "default", "$ref", "$schema", "$id")]
)
ODD_VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 2.5, "a", "array", [], [1], ["a"], [{}], {}, {"a": 1}, {"a": []}]
)


@lawful
@given(st.dictionaries(KEYWORDS, ODD_VALUES, max_size=3), st.sampled_from([*DRAFTS]), STATES)
def test_part_that_only_a_reference_leads_to_is_refused_or_usable(
    part: dict[str, Any], draft: str, state: State
) -> None:
    reference = {"$ref": "#/parts/y"}
    properties = {"a": reference, "b": {"type": "array", "items": reference}}
    source = {"$schema": DRAFTS[draft], "properties": properties, "parts": {"y": part}}
    schema = compile_or_assume(source)

    sample = schema.sample(state=state)

    assert sample is None or schema.admits(sample)
    assert isinstance(
        check_value(schema, {"a": {"a": 1}, "b": [1, ["a"]]}), ValidArguments | CallError
    )
    assert isinstance(schema.with_defaults({}), dict)


@lawful
@given(RECORDS, STATES, st.integers(0, 2))
def test_nulls_of_absent_non_nullable_properties_change_nothing(
    source: dict[str, Any], state: State, seed: int
) -> None:
    schema = compile_or_assume(source)
    sample = schema.sample(state=state, seed=seed)
    assume(sample is not None)
    arguments = with_nulls(source, sample)
    assume(not schema.admits(arguments) or arguments == sample)

    result = schema.check(arguments)

    event(f"nulls: {arguments != sample}")
    assert exactly(result.arguments) == exactly(sample)
    assert bool(result.coerced) == (arguments != sample)
