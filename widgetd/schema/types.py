"""A schema as a type system sees it: the one reading for pydantic, TypeScript and Python.

What no type can say is left out, so a type admits at least what its schema does. Read one
step at a time: what lies inside is given as schemas, so that whoever spells the types names
the records and ends the recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from widgetd.schema.document import Document
from widgetd.schema.json_values import Json
from widgetd.schema.keywords import Subschema, list_types, split_elements

# Keywords beside a reference that make it more than a name for what it leads to.
TELLING = frozenset({"properties", "allOf", "anyOf", "oneOf", "const", "enum"})


class Type(NamedTuple):
    """One thing that a value may be.

    Attributes:
        kind: `scalar`, one of the `values` of `literals`, an `array` of what `inside` says, a `map`
            whose values `inside` says, a `record` whose properties are declared, another
            schema's `alternative`, or `anything`.
        name: Of a scalar: its type in JSON Schema.
        values: Of literals.
        inside: The schemas of elements or values, or of the alternative.
    """

    kind: Literal["scalar", "literals", "array", "map", "record", "alternative", "anything"]
    name: str = ""
    values: tuple[Json, ...] = ()
    inside: tuple[Subschema, ...] = ()


ANYTHING = Type("anything")


def types_of(document: Document, schema: Subschema) -> tuple[Type, ...]:
    """What a value that fits `schema` may be, one of several things."""
    parts = list(conjunction(document, schema))
    for part in parts:
        choices = [part["const"]] if "const" in part else part.get("enum")
        if choices and all(isinstance(one, (str, int, float, type(None))) for one in choices):
            return (Type("literals", values=tuple(choices)),)
    for part in parts:
        for keyword in ("anyOf", "oneOf"):
            if branches := part.get(keyword):
                return tuple(Type("alternative", inside=(branch,)) for branch in branches)
    named = next((names for part in parts if (names := list_types(part))), ())
    is_record = any(part.get("properties") for part in parts)
    if is_record and not named:
        named = ("object",)
    return tuple(_typed(name, parts, is_record=is_record) for name in named) or (ANYTHING,)


def _typed(name: str, parts: list[Mapping[str, Json]], *, is_record: bool) -> Type:
    if name == "array":
        elements: list[Subschema] = []
        for part in parts:
            first, rest = split_elements(part)
            elements += first
            if rest is not False and (rest is not True or not elements):
                elements.append(rest)
        return Type("array", inside=tuple(elements))
    if name == "object" and is_record:
        return Type("record")
    if name == "object":
        values = [part.get("additionalProperties", True) for part in parts]
        return Type("map", inside=tuple(one for one in values if not isinstance(one, bool)))
    return Type("scalar", name)


def properties(document: Document, schema: Subschema) -> dict[str, list[Subschema]]:
    """What each declared property is held to, wherever it is declared."""
    found: dict[str, list[Subschema]] = {}
    for part in conjunction(document, schema):
        for name, held in part.get("properties", {}).items():
            found.setdefault(name, []).append(held)
    return found


def required(document: Document, schema: Subschema) -> set[str]:
    """The properties that must be there."""
    return {name for part in conjunction(document, schema) for name in part.get("required", ())}


def referenced(document: Document, schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """The schema that a mere reference stands for, so that all who refer to it share one type."""
    while not schema.keys() & TELLING:
        target = next(iter(document.targets(schema)), True)
        if isinstance(target, bool):
            break
        schema = target
    return schema


def conjunction(document: Document, schema: Subschema) -> Iterator[Mapping[str, Json]]:
    """`schema` and everything that holds wherever it does, by reference or `allOf`."""
    waiting = [schema]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop(0)
        if not isinstance(part, bool) and id(part) not in seen:
            seen.add(id(part))
            yield part
            waiting += [*document.targets(part), *part.get("allOf", ())]
