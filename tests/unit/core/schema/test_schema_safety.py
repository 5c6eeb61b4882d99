"""Hostile schemas: each is refused, or its cost is bounded for any arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.support.patience import PATIENCE_S
from widgetd.base.errors import CallError, WidgetError
from widgetd.core.schema.explain import Explainer
from widgetd.core.schema.limits import LIMITS, ExplanationBudget
from widgetd.core.schema.pydantic_model import json_schema_to_pydantic
from widgetd.core.schema.validator import Schema, compile_schema

NODE = {"$ref": "#/$defs/node"}


def refuse(schema: Any) -> tuple[str, str]:
    """Return the code and the pointer with which `schema` is refused."""
    with pytest.raises(WidgetError) as error:
        compile_schema(schema)
    return error.value.finding.code, error.value.finding.at


async def soon(schema: Schema, arguments: Any) -> str:
    """Return the result of a call; a slow call fails the test."""

    def call() -> str:
        try:
            schema.check(arguments)
        except CallError as error:
            return str(error)
        return "fits"

    with anyio.fail_after(PATIENCE_S):
        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True)


CIRCLES = [
    ({"$ref": "#"}, "/$ref"),
    ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "/$defs/a/$ref"),
    ({"$defs": {"node": {"anyOf": [NODE]}}}, "/$defs/node/anyOf/0/$ref"),
    ({"$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}, "/$defs/a/not/$ref"),
    ({"$dynamicAnchor": "n", "if": {"$dynamicRef": "#n"}}, "/if/$dynamicRef"),
]


@pytest.mark.parametrize(("schema", "at"), CIRCLES, ids=[row[1] for row in CIRCLES])
def test_circular_reference_without_descent_is_refused(schema: dict[str, Any], at: str) -> None:
    with pytest.raises(WidgetError) as error:
        compile_schema(schema)

    assert str(error.value) == (
        f"#{at}: this reference leads back to itself without looking any deeper; "
        "let the recursion pass through a property or an item"
    )
    assert error.value.finding.code == "W1201"


def laughs(width: int, depth: int) -> dict[str, Any]:
    """Return a schema of a few lines that expands to `width` to the power of `depth` subschemas."""
    defs: dict[str, Any] = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"} for _ in range(width)]}
        for level in range(depth)
    }
    return {"$defs": {**defs, f"d{depth}": {"type": "object"}}, "$ref": "#/$defs/d0"}


def test_billion_laughs_is_counted_and_not_expanded() -> None:
    assert refuse(laughs(10, 9)) == ("W1203", "")
    assert refuse(laughs(2, 500)) == ("W1203", "")
    with pytest.raises(WidgetError, match=r"expands to 2,222 subschemas; keep it to 2,000$"):
        compile_schema(laughs(10, 3))
    assert compile_schema(laughs(4, 3)).document.size < 2_000


def test_recursion_is_followed_once() -> None:
    kinds = {
        f"k{index}": {"type": "object", "properties": {"child": {"$ref": "#/$defs/any"}}}
        for index in range(20)
    }
    union = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]}
    schema = {"properties": {"x": {"$ref": "#/$defs/any"}}, "$defs": {**kinds, "any": union}}

    assert compile_schema(schema).document.size == 63


def test_more_subschemas_than_the_limit_are_refused() -> None:
    assert refuse({"properties": {f"p{index}": {} for index in range(2_000)}}) == ("W1203", "")


def test_too_deeply_nested_schema_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5_000):
        schema = {"not": schema}

    assert refuse(schema)[0] == "W1103"


@pytest.mark.parametrize(
    "reference",
    ["http://127.0.0.1:9/a", "file:///etc/passwd", "other.json", "//a.b/c", "http://[", "urn:a:b"],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_reference_out_of_the_file_is_refused_and_never_followed(
    keyword: str, reference: str
) -> None:
    assert refuse({"properties": {"x": {keyword: reference}}}) == (
        "W1202",
        f"/properties/x/{keyword}",
    )


def test_file_beside_the_schema_is_not_read(tmp_path: Path) -> None:
    beside = tmp_path / "secret.json"
    beside.write_text(json.dumps({"type": "object"}))

    assert refuse({"$ref": beside.as_uri()}) == ("W1202", "/$ref")


BOMBS = ["(a{1000}){1000}", "((a{100}){100}){100}", "(?=a)b", r"(a)\1", "(?<!a)b", "(" * 3_000]


@pytest.mark.parametrize("pattern", BOMBS, ids=[pattern[:20] for pattern in BOMBS])
def test_non_linear_pattern_is_refused(pattern: str) -> None:
    schema = {"properties": {"x": {"pattern": pattern}}}

    assert refuse(schema) == ("W1205", "/properties/x/pattern")


async def test_pattern_with_exponential_backtracking_elsewhere_matches_in_linear_time() -> None:
    schema = compile_schema({"properties": {"x": {"pattern": "^(a+)+$"}}})

    assert (await soon(schema, {"x": "a" * 200_000 + "b"})).startswith("x: expected a string")


def test_only_so_many_patterns_are_compiled() -> None:
    many = {f"p{index}": {"pattern": f"^{index}$"} for index in range(201)}
    large = {f"p{index}": {"pattern": f"^[^a]{{1,{1_000 + index}}}$"} for index in range(5)}

    assert refuse({"properties": many})[0] == "W1203"
    assert refuse({"properties": large})[0] == "W1203"


def chain(depth: int, leaf: Any, **beside: Any) -> Any:
    """`leaf` under `depth` properties called `c`."""
    for _ in range(depth):
        leaf = {"c": leaf, **beside}
    return leaf


LEAF = {"properties": {"c": NODE}}
NEEDY = {"properties": {"c": NODE}, "required": ["x"]}
DYNAMIC = {"properties": {"c": {"$dynamicRef": "#node"}}, "required": ["c"]}


def twelve(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a dozen alternatives that differ in nothing but their titles."""
    return [{**part, "title": str(index)} for index in range(12)]


UNIONS: dict[str, dict[str, Any]] = {
    "anyOf": {"anyOf": twelve({**LEAF, "required": ["c"]})},
    "oneOf": {"oneOf": twelve(NEEDY)},
    "not": {"not": {"not": {"anyOf": [NEEDY, LEAF]}}},
    "if": {"if": NEEDY, "then": LEAF, "else": LEAF},
    "unevaluated": {"anyOf": [NEEDY, LEAF], "unevaluatedProperties": False},
    "dependent": {"dependentSchemas": {"c": {**LEAF, "allOf": [LEAF]}}},
    "dynamic": {"$dynamicAnchor": "node", "anyOf": twelve(DYNAMIC)},
    "further": {"anyOf": twelve({"additionalProperties": NODE, "required": ["c"]})},
}


@pytest.mark.parametrize("keyword", UNIONS)
@pytest.mark.parametrize("depth", [14, 62])
async def test_recursive_union_is_decided_and_explained_in_few_steps(
    keyword: str, depth: int
) -> None:
    node = {"type": ["object", "string"], **UNIONS[keyword]}
    schema = compile_schema({"properties": {"x": NODE}, "$defs": {"node": node}})

    for leaf in ("a", 5):
        outcome = await soon(schema, {"x": chain(depth, leaf)})
        assert outcome == "fits" or "Smallest valid example" in outcome


async def test_work_of_an_explanation_is_bounded_for_any_schema() -> None:
    branches = [
        {"type": "object", "properties": {"c": NODE}, "required": ["c", f"r{index}"]}
        for index in range(150)
    ]
    schema = compile_schema({"properties": {"x": NODE}, "$defs": {"node": {"oneOf": branches}}})
    explainer = schema.explainer()

    explainer.find_faults(schema.document.root, {"x": chain(60, 5)})

    assert explainer.is_exhausted
    assert "expected" in await soon(schema, {"x": chain(60, 5)})


NAMES = [str(number) for number in range(50_000)]
LARGE: dict[str, tuple[Any, Any]] = {
    "duplicates": (
        {"anyOf": [{"uniqueItems": True, "contains": {"const": n}} for n in range(9)]},
        NAMES,
    ),
    "constants": ({"anyOf": [{"const": [n] * 50} for n in range(400)]}, NAMES),
    "patterns": (
        {"patternProperties": {f"^{n}x": False for n in range(150)}, "required": ["x"]},
        dict.fromkeys(NAMES, 1),
    ),
    "names": ({"propertyNames": {"minLength": 2}}, dict.fromkeys(NAMES, 1)),
    "contains": ({"contains": {"const": "x"}}, NAMES),
    "unevaluated": ({"contains": {"const": "1"}, "unevaluatedItems": False}, NAMES),
}


@pytest.mark.parametrize("case", LARGE)
def test_explaining_much_data_ends_when_there_has_been_enough(case: str) -> None:
    keywords, value = LARGE[case]
    schema = compile_schema({"properties": {"x": keywords}})
    matches = 0

    class Counting(Explainer):
        def matches(self, pattern: str, text: str) -> bool:
            nonlocal matches
            matches += 1
            return super().matches(pattern, text)

    budget = ExplanationBudget(LIMITS.explanation_units)
    explainer = Counting(schema.document, schema.compile_part, budget)
    explainer.find_faults(schema.document.root, {"x": value})

    assert matches <= LIMITS.explanation_units
    assert budget.left > -LIMITS.explanation_units - len(NAMES)


async def test_two_ways_to_one_schema_are_not_four_a_level_deeper() -> None:
    twice = {
        "type": "object",
        "allOf": [{"properties": {"c": NODE}}, {"properties": {"c": NODE}}],
        "properties": {"c": NODE, "n": {"default": 1}},
    }
    schema = compile_schema({"properties": {"x": NODE}, "$defs": {"node": twice}})

    with anyio.fail_after(PATIENCE_S):
        filled = await anyio.to_thread.run_sync(schema.with_defaults, {"x": chain(60, {})})
        model = await anyio.to_thread.run_sync(
            json_schema_to_pydantic(schema.advertised, "Twice").model_validate, {"x": chain(60, {})}
        )

    assert filled["x"] == chain(61, {"n": 1}, n=1)["c"]
    assert model.model_dump(exclude_unset=True) == {"x": chain(60, {})}


async def test_unique_items_are_compared_by_content_and_not_pair_by_pair() -> None:
    schema = compile_schema({"properties": {"x": {"uniqueItems": True}}})
    elements = [{"a": index, "b": [index]} for index in range(20_000)]

    assert await soon(schema, {"x": elements}) == "fits"
    assert (await soon(schema, {"x": [*elements, elements[0]]})).startswith(
        "x: expected an array without duplicates, got an array of 20001"
    )


LINKS: dict[str, Any] = {
    "plain": lambda target: {"$ref": target},
    "titled": lambda target: {"$ref": target, "title": "a link"},
    "alternatives": lambda target: {"anyOf": [{"$ref": target}]},
}


@pytest.mark.parametrize("link", LINKS)
async def test_long_chain_of_references_is_followed_without_a_deep_stack(link: str) -> None:
    defs = {f"d{index}": LINKS[link](f"#/$defs/d{index + 1}") for index in range(600)}
    defs["d600"] = {"type": "object", "properties": {"c": {"$ref": "#/$defs/d0"}}}
    schema = compile_schema({"$ref": "#/$defs/d0", "$defs": defs})

    outcome = await soon(schema, chain(60, 5))

    assert outcome.startswith(("c.c.c", "expected an object that fits the input schema"))
    assert outcome.endswith(". Smallest valid example: {}")
    model = json_schema_to_pydantic(schema.advertised, "Chain")
    assert model(c={"c": {}}).model_dump(exclude_unset=True) == {"c": {"c": {}}}


async def test_arguments_of_any_depth_are_refused_without_a_deep_stack() -> None:
    schema = compile_schema({})
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    assert await soon(schema, {"x": deep}) == "the arguments nest deeper than 64 levels"
    assert not schema.admits({"x": deep})
    unnest(deep)


def unnest(value: list[Any]) -> None:
    """Take `value` apart level by level, which the interpreter would otherwise do recursively."""
    while value:
        value = value.pop()


def arguments_that_hold_themselves() -> Iterator[Any]:
    """Yield arguments that only a Python caller can pass, and no JSON text."""
    endless: dict[str, Any] = {}
    endless["x"] = endless
    yield endless


async def test_self_referential_arguments_are_refused() -> None:
    for arguments in arguments_that_hold_themselves():
        outcome = await soon(compile_schema({}), arguments)
        assert outcome == "the arguments nest deeper than 64 levels"
