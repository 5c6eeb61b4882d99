"""Read a schema as a type system does, for pydantic, TypeScript and Python alike.

Demands beyond every type system are left out, so a type admits at least the schema's values. A
single step is read at a time: inner types are returned as schemas, so the writer of the types
names the records and ends the recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.json_values import Json
from widgetd.core.schema.keywords import Subschema, list_types, split_elements

# Keywords beside a reference that make it more than a name for its target.
TELLING = frozenset({"properties", "allOf", "anyOf", "oneOf", "const", "enum"})


class ValueType(NamedTuple):
    """An alternative for the type of a value.

    Attributes:
        kind: `scalar`, one of the `values` of `literals`, an `array` of `inside`, a `map` whose
            values are `inside`, a `record` whose properties are declared, another schema's
            `alternative`, or `anything`.
        name: The JSON Schema type of a scalar.
        values: The values of literals.
        inside: The schemas of elements or values, or of the alternative.
    """

    kind: Literal["scalar", "literals", "array", "map", "record", "alternative", "anything"]
    name: str = ""
    values: tuple[Json, ...] = ()
    inside: tuple[Subschema, ...] = ()


ANYTHING = ValueType("anything")


def find_types(document: SchemaDocument, schema: Subschema) -> tuple[ValueType, ...]:
    parts = list(document.reach(schema, "allOf"))
    for part in parts:
        choices = [part["const"]] if "const" in part else part.get("enum")
        if choices and all(isinstance(choice, (str, int, float, type(None))) for choice in choices):
            return (ValueType("literals", values=tuple(choices)),)
    for part in parts:
        for keyword in ("anyOf", "oneOf"):
            if branches := part.get(keyword):
                return tuple(ValueType("alternative", inside=(branch,)) for branch in branches)
    named = next((names for part in parts if (names := list_types(part))), ())
    is_record = any(part.get("properties") for part in parts)
    if is_record and not named:
        named = ("object",)
    return tuple(_build_type(name, parts, is_record=is_record) for name in named) or (ANYTHING,)


def _build_type(name: str, parts: list[Mapping[str, Json]], *, is_record: bool) -> ValueType:
    if name == "array":
        elements: list[Subschema] = []
        for part in parts:
            first, rest = split_elements(part)
            elements += first
            if rest is not False and (rest is not True or not elements):
                elements.append(rest)
        return ValueType("array", inside=tuple(elements))
    if name == "object" and is_record:
        return ValueType("record")
    if name == "object":
        values = [part.get("additionalProperties", True) for part in parts]
        return ValueType("map", inside=tuple(v for v in values if not isinstance(v, bool)))
    return ValueType("scalar", name)


def collect_properties(document: SchemaDocument, schema: Subschema) -> dict[str, list[Subschema]]:
    properties: dict[str, list[Subschema]] = {}
    for part in document.reach(schema, "allOf"):
        for name, held in part.get("properties", {}).items():
            properties.setdefault(name, []).append(held)
    return properties


def collect_required(document: SchemaDocument, schema: Subschema) -> set[str]:
    return {name for part in document.reach(schema, "allOf") for name in part.get("required", ())}


def follow_references(document: SchemaDocument, schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the target of a mere reference, so all references to it share a type."""
    while not schema.keys() & TELLING:
        target = next(iter(document.targets(schema)), True)
        if isinstance(target, bool):
            break
        schema = target
    return schema
