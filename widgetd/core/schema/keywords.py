"""JSON Schema's keywords in every draft, by the use of the schemas in them.

Source: JSON Schema 2020-12 core, sections 10 and 11, under the name of applicators.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from widgetd.core.schema.json_values import Json, pointer, steps

Subschema: TypeAlias = Mapping[str, Json] | bool
Reach = Literal["same", "inside", "apart"]

NAMED: Mapping[str, Reach] = {
    "properties": "inside",
    "patternProperties": "inside",
    "dependentSchemas": "same",
    "dependencies": "same",
    "$defs": "apart",
    "definitions": "apart",
}
"""Keywords that hold schemas by name, and the reach of these schemas."""

REACHES: Mapping[str, Reach] = {
    **NAMED,
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "not", "if", "then", "else"), "same"),
    **dict.fromkeys(("items", "prefixItems", "additionalItems", "unevaluatedItems"), "inside"),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties"), "inside"),
    **dict.fromkeys(("contains", "propertyNames"), "inside"),
    "contentSchema": "apart",
}
"""The value that a keyword's schemas apply to: the same one, one inside it, or none."""


REVEALING: Mapping[str, frozenset[str]] = {
    "object": frozenset(
        {"properties", "required", "patternProperties", "minProperties", "maxProperties"}
    ),
    "array": frozenset({"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"}),
    "number": frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    ),
    "string": frozenset(
        {"format", "pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType"}
    ),
}
"""Keywords that reveal the type of a schema that names none."""


class SchemaPart(NamedTuple):
    """A schema within a schema, with the JSON pointer from the outer to the inner."""

    pointer: str
    schema: Subschema
    reach: Reach


def list_parts(schema: Subschema) -> Iterator[SchemaPart]:
    """Yield every schema directly within `schema`, in the order of its keys."""
    if isinstance(schema, bool):
        return
    for keyword, value in schema.items():
        reach = REACHES.get(keyword)
        if reach is None:
            continue
        if keyword not in NAMED and isinstance(value, (dict, bool)):
            yield SchemaPart(pointer(keyword), value, reach)
        elif keyword not in NAMED or isinstance(value, dict):
            for step, part in steps(value):
                if isinstance(part, (dict, bool)):
                    yield SchemaPart(pointer(keyword, step), part, reach)


def list_types(schema: Mapping[str, Json]) -> tuple[str, ...]:
    types = schema.get("type")
    if isinstance(types, str):
        return (types,)
    return tuple(str(name) for name in types) if isinstance(types, list) else ()


def guess_type(keywords: Collection[str]) -> str:
    guesses = (name for name, own in REVEALING.items() if not own.isdisjoint(keywords))
    return next(guesses, "")


def list_choices(schema: Mapping[str, Json]) -> list[Json]:
    """Return the values of `enum`, or else of `const`, if any."""
    values: list[Json] = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return values


def list_required(schema: Mapping[str, Json], present: Container[str]) -> Iterator[str]:
    """Yield the required properties of an object with the properties `present`."""
    yield from schema.get("required", ())
    for keyword in ("dependentRequired", "dependencies"):
        for name, others in schema.get(keyword, {}).items():
            if name in present and isinstance(others, list):
                yield from others


def find_dependent(schema: Mapping[str, Json], value: Json) -> Iterator[Subschema]:
    for keyword in ("dependentSchemas", "dependencies"):
        for name, part in schema.get(keyword, {}).items():
            if isinstance(value, dict) and name in value and not isinstance(part, list):
                yield part


def split_elements(schema: Mapping[str, Json]) -> tuple[list[Subschema], Subschema]:
    """Return the schemas of the first elements, and the schema of all others, in any draft."""
    items = schema.get("items", True)
    if isinstance(items, list):
        return items, schema.get("additionalItems", True)
    return schema.get("prefixItems", []), items


def find_element(schema: Mapping[str, Json], index: int) -> Subschema:
    """Return the schema of the element at `index`, by the keywords of `schema` alone."""
    first, rest = split_elements(schema)
    return first[index] if index < len(first) else rest
