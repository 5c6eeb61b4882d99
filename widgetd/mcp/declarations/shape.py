"""A JSON Schema as a type system sees it: scalars, literals, lists, records, unions.

What no type can say is left out, so a shape admits at least what the schema does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCALARS = ("string", "number", "boolean", "null")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, a number, a boolean, null, or anything (`"any"`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Literals:
    """One of some JSON scalars."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list."""

    element: Shape


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose names are not known."""

    value: Shape


@dataclass(frozen=True, slots=True)
class Field:
    """One property of a record."""

    name: str
    shape: Shape
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Record:
    """An object whose properties are known.

    Attributes:
        name: What it is declared as.
        fields: In the schema's order.
    """

    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """One of some shapes."""

    options: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A record that is declared elsewhere, or further up."""

    name: str


Shape = Scalar | Literals | ListOf | MapOf | Record | Union | Named
ANY = Scalar("any")


@dataclass(slots=True)
class Shaper:
    """Reads one schema; references to `$defs` become records of their own.

    Attributes:
        root: The schema, for its `$defs`.
        prefix: Begins the name of every record.
        records: What is to be declared, in the order of need.
    """

    root: Mapping[str, Any]
    prefix: str
    records: dict[str, Record] = field(default_factory=dict)
    _pending: set[str] = field(default_factory=set)

    def shape(self, schema: Any, name: str) -> Shape:
        """The shape of `schema`; what must be declared for it goes to `records`."""
        if not isinstance(schema, Mapping):
            return ANY
        if "$ref" in schema:
            return self._reference(str(schema["$ref"]))
        if "const" in schema:
            return _literals((schema["const"],))
        if isinstance(schema.get("enum"), list):
            return _literals(tuple(schema["enum"]))
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                options = [
                    self.shape(option, f"{name}{number}")
                    for number, option in enumerate(schema[keyword], 1)
                ]
                return _union(options)
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return _union([self._typed({**schema, "type": kind}, kind, name) for kind in kinds])
        return self._typed(schema, kinds or ("object" if "properties" in schema else None), name)

    def _typed(self, schema: Mapping[str, Any], kind: object, name: str) -> Shape:
        if kind == "integer":
            return Scalar("number")
        if kind in SCALARS:
            return Scalar(str(kind))
        if kind == "array":
            return ListOf(self.shape(schema.get("items"), f"{name}Item"))
        if kind == "object":
            return self._record(schema, name)
        return ANY

    def _record(self, schema: Mapping[str, Any], name: str) -> Shape:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return MapOf(self.shape(schema.get("additionalProperties"), f"{name}Value"))
        required = schema.get("required") or ()
        fields = tuple(
            Field(
                key,
                self.shape(inner, name + _camel(key)),
                key in required,
                str(inner.get("description", "")) if isinstance(inner, Mapping) else "",
            )
            for key, inner in properties.items()
        )
        self.records[name] = Record(name, fields)
        return Named(name)

    def _reference(self, reference: str) -> Shape:
        target: Any = self.root
        for part in reference.removeprefix("#").split("/")[1:]:
            target = target.get(part) if isinstance(target, Mapping) else None
        if not reference.startswith("#/") or not isinstance(target, Mapping):
            return ANY
        name = self.prefix + _camel(reference.rpartition("/")[2])
        if name in self.records or name in self._pending:
            return Named(name)
        self._pending.add(name)
        return self.shape(target, name)


def _literals(values: tuple[Any, ...]) -> Shape:
    scalar = all(isinstance(value, (str, int, float, bool, type(None))) for value in values)
    return Literals(values) if scalar and values else ANY


def _union(options: list[Shape]) -> Shape:
    if ANY in options or not options:
        return ANY
    unique = tuple(dict.fromkeys(options))
    return unique[0] if len(unique) == 1 else Union(unique)


def _camel(text: str) -> str:
    words = "".join(character if character.isalnum() else " " for character in text).split()
    return "".join(word[0].upper() + word[1:] for word in words)
