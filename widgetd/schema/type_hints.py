"""Say as Python types what a schema admits: as much of it as Python can say.

Every hint describes and none decides: a value passes as it came, because the
exact validator has seen it before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ForwardRef, Literal, TypeAlias, Union

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from widgetd.schema.applicators import element_parts
from widgetd.schema.describe import types
from widgetd.schema.document import Document, Subschema
from widgetd.schema.json_values import Json
from widgetd.schema.type_shapes import bearer, branches, held_together, properties

# A type, or a reference to a model that is still being made.
Hint: TypeAlias = Any

SCALARS: Mapping[str, type | None] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": None,
}
BOUNDS: Mapping[str, Mapping[str, str]] = {
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "integer": {
        "minimum": "ge",
        "maximum": "le",
        "exclusiveMinimum": "gt",
        "exclusiveMaximum": "lt",
        "multipleOf": "multiple_of",
    },
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}

# How many unions and arrays, one in the other, are described.
DEEPEST = 32


class AsItCame:
    """Lets a value pass unchanged: 1 stays an integer, 1.0 a float, and nothing is refused."""

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()


class Hints:
    """The hints of one document.

    Args:
        document: The schema.
        model: Makes, or finds, the model of an object: given its schema and its
            parent's and its own name, answers with the model's name.
    """

    def __init__(
        self, document: Document, model: Callable[[Mapping[str, Json], str, str], str]
    ) -> None:
        self._document = document
        self._model = model
        self._depth = 0
        self._known: dict[int, Hint] = {}

    def of(self, schemas: list[Subschema], parent: str, name: str) -> Hint:
        """What the property `name` of the model `parent` may be, held to all of `schemas`."""
        telling = [schema for schema in schemas if schema is not True]
        return self._hint(telling[0], parent, name) if telling else Any

    def _hint(self, schema: Subschema, parent: str, name: str) -> Hint:
        if isinstance(schema, bool) or self._depth == DEEPEST:
            return Any
        if id(schema) not in self._known:
            # A recursion that passes through no model cannot be said in Python.
            self._known[id(schema)] = Any
            self._depth += 1
            self._known[id(schema)] = self._told(schema, parent, name)
            self._depth -= 1
        return self._known[id(schema)]

    def _told(self, schema: Mapping[str, Json], parent: str, name: str) -> Hint:
        if literal := _literal(self._document, schema):
            return literal
        if choices := branches(self._document, schema):
            return _union([self._hint(choice, parent, name) for choice in choices])
        named = next(
            (types(part) for part in held_together(self._document, schema) if types(part)), ()
        )
        if named:
            return _union([self._typed(kind, schema, parent, name) for kind in named])
        if properties(self._document, schema):
            return self._typed("object", schema, parent, name)
        return Any

    def _typed(self, kind: str, schema: Mapping[str, Json], parent: str, name: str) -> Hint:
        parts = list(held_together(self._document, schema))
        if kind == "object":
            hint = self._object(schema, parts, parent, name)
        elif kind == "array":
            hint = list[self._elements(parts, parent, name)]  # type: ignore[misc]  # a hint is made as we go
        else:
            hint = SCALARS.get(kind, Any)
        return _bounded(hint, kind, parts)

    def _object(
        self, schema: Mapping[str, Json], parts: list[Mapping[str, Json]], parent: str, name: str
    ) -> Hint:
        if properties(self._document, schema):
            return ForwardRef(self._model(bearer(self._document, schema), parent, name))
        further = [part["additionalProperties"] for part in parts if "additionalProperties" in part]
        values = [schema for schema in further if not isinstance(schema, bool)]
        return dict[str, self.of(values, parent, name)]  # type: ignore[misc]  # a hint is made as we go

    def _elements(self, parts: list[Mapping[str, Json]], parent: str, name: str) -> Hint:
        held_to: list[Subschema] = []
        for part in parts:
            first, rest = element_parts(part)
            held_to += first
            if rest is not False and (rest is not True or not held_to):
                held_to.append(rest)
        return _union([self._hint(schema, parent, f"{name} item") for schema in held_to])


def _literal(document: Document, schema: Mapping[str, Json]) -> Hint:
    for part in held_together(document, schema):
        choices = [part["const"]] if "const" in part else part.get("enum")
        if choices and all(isinstance(choice, (str, int, type(None))) for choice in choices):
            return Literal[tuple(choices)]
    return None


def _bounded(hint: Hint, kind: str, parts: list[Mapping[str, Json]]) -> Hint:
    known = BOUNDS.get("integer" if kind == "number" else kind, {})
    said = {
        argument: part[keyword]
        for part in reversed(parts)
        for keyword, argument in known.items()
        if keyword in part and not isinstance(part[keyword], bool)
    }
    return Annotated[hint, Field(**said)] if said else hint


def _union(hints: list[Hint]) -> Hint:
    return Any if Any in hints or not hints else Union[tuple(hints)]  # noqa: UP007 - made as we go
