"""A JSON Schema as a type system sees it: scalars, literals, lists, records, unions.

What no type can say is left out, so a shape admits at least what the schema does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.keywords import Subschema
from widgetd.core.schema.types import (
    ValueType,
    collect_properties,
    collect_required,
    find_types,
    follow_references,
)

# Greatest depth of declared arrays, objects and unions.
DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Scalar:
    """A simple type of JSON Schema, or anything (`"any"`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Literals:
    """A choice of JSON scalars."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list."""

    element: Shape


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with unknown names."""

    value: Shape


@dataclass(frozen=True, slots=True)
class Field:
    """A property of a record."""

    name: str
    shape: Shape
    required: bool
    description: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """An object with known properties."""

    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """A choice of shapes."""

    options: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A reference to a declared record."""

    name: str


Shape = Scalar | Literals | ListOf | MapOf | Record | Union | Named
ANY = Scalar("any")


class Shaper:
    """Reads a schema. References to `$defs` become records of their own.

    Attributes:
        records: The records to declare, in the order of need.

    Args:
        document: The schema.
        prefix: Begins the name of every record.
    """

    def __init__(self, document: SchemaDocument, prefix: str) -> None:
        self.records: dict[str, Record] = {}
        self._document = document
        self._prefix = prefix
        # What is being read, and what became of every record, by the schema's identity.
        self._entered: set[int] = set()
        self._names: dict[int, str] = {}

    def shape(self, schema: Subschema, name: str) -> Shape:
        if isinstance(schema, bool) or id(schema) in self._entered:
            return ANY
        target = follow_references(self._document, schema)
        if target is not schema and schema is not self._document.root:
            name = self._prefix + camel(self._document.at(target).rpartition("/")[2])
        if id(target) in self._names:
            return Named(self._names[id(target)])
        if len(self._entered) == DEEPEST:
            return ANY
        self._entered.add(id(schema))
        types = find_types(self._document, schema)
        shapes = [self._typed(kind, target, name, number) for number, kind in enumerate(types, 1)]
        self._entered.discard(id(schema))
        return _union(shapes)

    def _typed(self, kind: ValueType, schema: Mapping[str, Any], name: str, number: int) -> Shape:
        match kind.kind:
            case "scalar":
                return Scalar(kind.name)
            case "literals":
                return Literals(kind.values)
            case "array":
                return ListOf(_union([self.shape(part, f"{name}Item") for part in kind.inside]))
            case "map":
                return MapOf(self.shape(next(iter(kind.inside), True), f"{name}Value"))
            case "record":
                return self._record(schema, name)
            case "alternative":
                return self.shape(kind.inside[0], f"{name}{number}")
            case _:
                return ANY

    def _record(self, schema: Mapping[str, Any], name: str) -> Shape:
        self._names[id(schema)] = name
        needed = collect_required(self._document, schema)
        fields = []
        for key, held_to in collect_properties(self._document, schema).items():
            telling = next((schema for schema in held_to if schema is not True), True)
            description = telling.get("description", "") if isinstance(telling, Mapping) else ""
            shape = self.shape(telling, name + camel(key))
            fields.append(Field(key, shape, key in needed, str(description)))
        self.records[name] = Record(name, tuple(fields))
        return Named(name)


def _union(options: list[Shape]) -> Shape:
    if ANY in options or not options:
        return ANY
    unique = tuple(dict.fromkeys(options))
    return unique[0] if len(unique) == 1 else Union(unique)


def camel(text: str) -> str:
    words = "".join(character if character.isalnum() else " " for character in text).split()
    return "".join(word[0].upper() + word[1:] for word in words)
