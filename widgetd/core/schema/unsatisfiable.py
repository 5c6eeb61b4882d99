"""Find schemas that certainly admit nothing.

Only plain contradictions are recognised, so a schema with a hidden contradiction passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.json_values import TYPES, Json, error_at, is_number, is_type, pointer
from widgetd.core.schema.keywords import Subschema, list_types, split_elements
from widgetd.core.schema.limits import LIMITS

# Of each type, the keywords with a lower and an upper bound.
BOUNDS: Mapping[str, tuple[str, str]] = {
    "object": ("minProperties", "maxProperties"),
    "array": ("minItems", "maxItems"),
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
}


_Reason: TypeAlias = tuple[str, str]
"""The JSON pointer of a contradiction, and a clause about it."""


def refuse_contradictions(document: SchemaDocument) -> None:
    """Refuse a schema without any valid object.

    Raises:
        WidgetError: There is a contradiction (W1207).
    """
    if reason := _Search(document).find_reason(document.root, "", ("object",)):
        raise error_at("W1207", *reason, "let some arguments fit")


class _Search:
    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._left = LIMITS.contradiction_schemas
        self._entered: set[int] = set()

    def find_reason(
        self, schema: Subschema, at: str, possible: tuple[str, ...] = TYPES
    ) -> _Reason | None:
        if isinstance(schema, bool):
            return None if schema else (at, "nothing fits a schema that is false")
        if id(schema) in self._entered:
            return at, "only a value without end fits this recursion"
        self._left -= 1
        if self._left < 0 or len(self._entered) == LIMITS.contradiction_depth:
            return None
        self._entered.add(id(schema))
        try:
            return next(self._list_reasons(schema, at, possible), None)
        finally:
            self._entered.discard(id(schema))

    def _list_reasons(
        self, schema: Mapping[str, Json], at: str, possible: tuple[str, ...]
    ) -> Iterator[_Reason]:
        if named := list_types(schema):
            wide = {"number" if name == "integer" else name for name in named}
            possible = tuple(name for name in possible if name in wide)
        if not possible:
            yield at + "/type", f"no value of type {' or '.join(named)} can stand here"
            return
        for keyword in ("enum", "const"):
            if keyword in schema:
                choices = schema["enum"] if keyword == "enum" else [schema["const"]]
                if not any(is_type(choice, name) for choice in choices for name in possible):
                    yield at + pointer(keyword), "it offers no value of a type that fits"
        reasons = [next(self._check_type(name, schema, at), None) for name in possible]
        if all(reasons):
            yield from (reason for reason in reasons if reason)
        yield from self._check_combined(schema, at, possible)

    def _check_combined(
        self, schema: Mapping[str, Json], at: str, possible: tuple[str, ...]
    ) -> Iterator[_Reason]:
        for target in self._document.targets(schema):
            entered = not isinstance(target, bool) and id(target) not in self._entered
            place = self._document.at(target) if entered else at
            if reason := self.find_reason(target, place, possible):
                yield reason
        for index, part in enumerate(schema.get("allOf", ())):
            if reason := self.find_reason(part, at + pointer("allOf", index), possible):
                yield reason
        for keyword in ("anyOf", "oneOf"):
            parts = schema.get(keyword, [True])
            if all(self.find_reason(part, at, possible) for part in parts):
                yield at + pointer(keyword), "nothing fits any of its alternatives"
        if schema.get("not") in (True, {}):
            yield at + "/not", "everything fits what must not fit"

    def _check_type(self, name: str, schema: Mapping[str, Json], at: str) -> Iterator[_Reason]:
        if name in BOUNDS:
            low, high = BOUNDS[name]
            least: Json = schema.get(low)
            most: Json = schema.get(high)
            if is_number(least) and is_number(most) and least > most:
                yield at + pointer(low), f"{low} {least} is greater than {high} {most}"
        if name == "object":
            yield from self._check_object(schema, at)
        elif name == "array":
            first, rest = split_elements(schema)
            needs_one = not first and schema.get("minItems", 0) > 0
            if needs_one and (reason := self.find_reason(rest, at + "/items")):
                yield reason

    def _check_object(self, schema: Mapping[str, Json], at: str) -> Iterator[_Reason]:
        named, open_to = schema.get("properties", {}), schema.get("additionalProperties", True)
        required = schema.get("required", [])
        if len(set(required)) > schema.get("maxProperties", len(required)):
            yield at + "/maxProperties", "more properties are required than there may be"
        for name in required if isinstance(required, list) else ():
            if name in named:
                if reason := self.find_reason(named[name], at + pointer("properties", name)):
                    yield reason
            elif open_to is False and not schema.get("patternProperties"):
                problem = f"'{name}' is required, but additionalProperties forbids it"
                yield at + "/required", problem
