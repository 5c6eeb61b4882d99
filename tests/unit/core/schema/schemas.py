"""Generate schemas that authors may write, and values that nearly fit them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "from", "_x", "items", "a-b", "日本", "model_dump"])
TEXTS = st.sampled_from(
    ["", "a", "ab", "abc", "日本", "2026-01-31", "https://example.com/a", "7", "true"]
)
NUMBERS = st.one_of(
    st.integers(-3, 12), st.sampled_from([0.5, 1.0, 1.5, -2.0, 2.25, 1e20, 2**63, 7.0])
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=4)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
COUNTS = st.integers(0, 3)


DRAFTS = {
    name: f"http{s}://json-schema.org/{name}/schema{end}"
    for names, s, end in (
        (("draft-04", "draft-06", "draft-07"), "", "#"),
        (("draft/2019-09", "draft/2020-12"), "s", ""),
    )
    for name in names
}


def _keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a few of the keywords of JSON Schema 2020-12, with parts from `inner`."""
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(NAMES, inner, max_size=3)
    names = st.lists(NAMES, max_size=2, unique=True)
    values: dict[str, st.SearchStrategy[Any]] = {
        "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 0.5, 0.01]),
        "minLength": COUNTS,
        "maxLength": COUNTS,
        "pattern": st.sampled_from(["^a", "b$", "^[a-c]*$", "^日", "[0-9]"]),
        "format": st.sampled_from(["date", "uri", "uri-reference", "email"]),
        "items": inner,
        "prefixItems": several,
        "contains": inner,
        "minContains": COUNTS,
        "maxContains": COUNTS,
        "minItems": COUNTS,
        "maxItems": COUNTS,
        "uniqueItems": st.booleans(),
        "unevaluatedItems": inner,
        "properties": named,
        "required": names,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "[b-m]"]), inner, max_size=2),
        "additionalProperties": inner,
        "unevaluatedProperties": inner,
        "propertyNames": inner,
        "minProperties": COUNTS,
        "maxProperties": COUNTS,
        "dependentRequired": st.dictionaries(NAMES, names, max_size=2),
        "dependentSchemas": named,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "default": VALUES,
        "contentEncoding": st.just("base64"),
        "contentMediaType": st.just("application/json"),
        "dependencies": st.dictionaries(NAMES, st.one_of(names, inner), max_size=2),
    }
    # Few, so that some arguments are valid; chosen before their values are made, which takes long.
    keywords = [st.tuples(st.just(keyword), value) for keyword, value in values.items()]
    return st.lists(st.one_of(keywords), min_size=1, max_size=4).map(dict)


SUBSCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.booleans(), TYPES.map(lambda name: {"type": name}), st.just({"$ref": "#/$defs/d"})
    ),
    _keywords,
    max_leaves=8,
)
SCHEMAS = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(NAMES, SUBSCHEMAS, min_size=1, max_size=3),
        "$defs": st.fixed_dictionaries({"d": SUBSCHEMAS}),
    },
    optional={
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": SUBSCHEMAS,
        "anyOf": st.lists(SUBSCHEMAS, min_size=1, max_size=2),
    },
)


DRAFTED = st.builds(
    lambda schema, draft: {"$schema": draft, **schema}, SCHEMAS, st.sampled_from([*DRAFTS.values()])
)


@st.composite
def dynamic(draw: st.DrawFn) -> dict[str, Any]:
    """Schemas in which a reference leads to where the way to it says."""
    parts = st.sampled_from([{"type": name} for name in ("string", "integer", "null", "array")])
    item = {"$dynamicAnchor": "item"}
    ways: dict[str, Any] = {
        f"r{index}": {
            "$id": f"r{index}",
            **draw(
                st.sampled_from(
                    [
                        {"$ref": "list"},
                        {"$ref": "list#/items"},
                        {"type": "object", "additionalProperties": {"$ref": "list"}},
                        {"items": {"$dynamicRef": "list#item"}},
                        {"anyOf": [{"$ref": "list"}, {"$ref": "r0"}] if index else [True]},
                    ]
                )
            ),
            **draw(st.sampled_from([{}, {"$defs": {"i": {**item, **draw(parts)}}}])),
        }
        for index in range(3)
    }
    ways["list"] = {
        "$id": "list",
        "items": {"$dynamicRef": "#item"},
        "$defs": {"i": {**item, **draw(st.sampled_from([{}, {"type": "string"}]))}},
    }
    if draw(st.booleans()):
        ways["i"] = {**item, **draw(parts)}
    return {
        "$id": "https://example.com/root",
        "type": "object",
        "properties": {name: {"$ref": f"r{index}"} for index, name in enumerate(("a", "b", "_x"))},
        "$defs": ways,
    }


def records(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of objects as people write them, with properties from `inner`."""
    return st.builds(
        lambda properties, wanted, closed: {
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if name in wanted],
            **({"additionalProperties": False} if closed else {}),
        },
        st.dictionaries(NAMES, inner, max_size=4),
        st.sets(NAMES),
        st.booleans(),
    )


def _marked(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return alternatives that their property `kind` tells apart."""
    return {
        "oneOf": [
            {
                **part,
                "properties": {**part["properties"], "kind": {"const": f"k{index}"}},
                "required": [*part["required"], "kind"],
            }
            for index, part in enumerate(parts)
        ]
    }


FIELDS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer"},
            {"type": ["string", "null"]},
            {"enum": ["red", "blue", None]},
            {"enum": ["red", 2]},
            {"const": True},
            {"anyOf": [{"type": "number"}, {"type": "null"}]},
            {"anyOf": [{"type": "number"}, {"type": "boolean"}]},
            {"not": {"type": "null"}},
            {"$ref": "#/$defs/d"},
        ]
    ),
    lambda inner: st.one_of(
        records(inner),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda value: {"type": "object", "additionalProperties": value}, inner),
        st.lists(records(inner), min_size=1, max_size=3).map(_marked),
        records(inner).map(lambda part: {"anyOf": [part, {"type": "string"}]}),
        records(inner).map(lambda part: {"allOf": [part]}),
    ),
    max_leaves=12,
)
RECORDS = st.builds(
    lambda root, part: {**root, "$defs": {"d": part}}, records(FIELDS), records(st.just(True))
)


def with_nulls(schema: Mapping[str, Any], value: Any, *, everywhere: bool = False) -> Any:
    """Return `value`, valid for `schema`, with null for each absent property at every depth.

    As adapters send it that make classes of schemas: null for whatever was not said.

    Args:
        schema: One of `RECORDS`, or made of the same keywords.
        value: Is not changed.
        everywhere: Whether null stands where it may be, too.
    """
    return _with_nulls(schema, schema, value, everywhere)


def _with_nulls(
    root: Mapping[str, Any], schema: Mapping[str, Any] | bool, value: Any, everywhere: bool
) -> Any:
    if isinstance(schema, bool):
        return value
    if "$ref" in schema:
        return _with_nulls(root, root["$defs"]["d"], value, everywhere)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(keyword, ()):
            if _admits(root, part, value):
                return _with_nulls(root, part, value, everywhere)
    if isinstance(value, list):
        items = schema.get("items", True)
        return [_with_nulls(root, items, element, everywhere) for element in value]
    if not isinstance(value, dict):
        return value
    declared, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    absent = {
        name: None
        for name, part in declared.items()
        if name not in value and (everywhere or not _admits(root, part, None))
    }
    value_with_nulls = {
        name: _with_nulls(root, declared.get(name, others), inner, everywhere)
        for name, inner in value.items()
    }
    return {**value_with_nulls, **absent}


def _admits(root: Mapping[str, Any], schema: Mapping[str, Any] | bool, value: Any) -> bool:
    document = {"allOf": [schema], "$defs": root.get("$defs", {})}
    return jsonschema_rs.Draft202012Validator(document).is_valid(value)
