"""Find the schemas that nothing fits, where that is certain.

Looks for plain contradictions, so it says "nothing fits" only when that is so,
and may keep silent about a schema whose contradiction is well hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from widgetd.schema.document import Document
from widgetd.schema.json_values import TYPES, Json, is_number, is_type, pointer
from widgetd.schema.keywords import Subschema, list_types, split_elements

BUDGET = 2_000
DEEPEST = 64
# Of each type, the keywords that bound it below and above.
BOUNDS: Mapping[str, tuple[str, str]] = {
    "object": ("minProperties", "maxProperties"),
    "array": ("minItems", "maxItems"),
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why nothing fits: the JSON pointer of the contradiction, and a clause."""

    at: str
    problem: str


def unsatisfiable(document: Document) -> Reason | None:
    """Why no object fits the schema; `None` where one may."""
    return _Search(document).reason(document.root, "", ("object",))


class _Search:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = BUDGET
        self._entered: set[int] = set()

    def reason(
        self, schema: Subschema, at: str, possible: tuple[str, ...] = TYPES
    ) -> Reason | None:
        """Why no value of one of the `possible` types fits `schema`."""
        if isinstance(schema, bool):
            return None if schema else Reason(at, "nothing fits a schema that is false")
        if id(schema) in self._entered:
            return Reason(at, "only a value without end fits this recursion")
        self._left -= 1
        if self._left < 0 or len(self._entered) == DEEPEST:
            return None
        self._entered.add(id(schema))
        try:
            return next(self._reasons(schema, at, possible), None)
        finally:
            self._entered.discard(id(schema))

    def _reasons(
        self, schema: Mapping[str, Json], at: str, possible: tuple[str, ...]
    ) -> Iterator[Reason]:
        if named := list_types(schema):
            wide = {"number" if name == "integer" else name for name in named}
            possible = tuple(name for name in possible if name in wide)
        if not possible:
            yield Reason(at + "/type", f"no value of type {' or '.join(named)} can stand here")
            return
        for keyword in ("enum", "const"):
            if keyword in schema:
                choices = schema["enum"] if keyword == "enum" else [schema["const"]]
                if not any(is_type(choice, name) for choice in choices for name in possible):
                    yield Reason(at + pointer(keyword), "it offers no value of a type that fits")
        reasons = [next(self._typed(name, schema, at), None) for name in possible]
        if all(reasons):
            yield from (reason for reason in reasons if reason)
        yield from self._combined(schema, at, possible)

    def _combined(
        self, schema: Mapping[str, Json], at: str, possible: tuple[str, ...]
    ) -> Iterator[Reason]:
        for target in self._document.targets(schema):
            entered = not isinstance(target, bool) and id(target) not in self._entered
            place = self._document.at(target) if entered else at
            if reason := self.reason(target, place, possible):
                yield reason
        for index, part in enumerate(schema.get("allOf", ())):
            if reason := self.reason(part, at + pointer("allOf", index), possible):
                yield reason
        for keyword in ("anyOf", "oneOf"):
            parts = schema.get(keyword, [True])
            if all(self.reason(part, at, possible) for part in parts):
                yield Reason(at + pointer(keyword), "nothing fits any of its alternatives")
        if schema.get("not") in (True, {}):
            yield Reason(at + "/not", "everything fits what must not fit")

    def _typed(self, name: str, schema: Mapping[str, Json], at: str) -> Iterator[Reason]:
        """Why no value of the type `name` fits the keywords about it."""
        if name in BOUNDS:
            low, high = BOUNDS[name]
            least: Json = schema.get(low)
            most: Json = schema.get(high)
            if is_number(least) and is_number(most) and least > most:
                yield Reason(at + pointer(low), f"{low} {least} is greater than {high} {most}")
        if name == "object":
            yield from self._object(schema, at)
        elif name == "array":
            first, rest = split_elements(schema)
            needs_one = not first and schema.get("minItems", 0) > 0
            if needs_one and (reason := self.reason(rest, at + "/items")):
                yield reason

    def _object(self, schema: Mapping[str, Json], at: str) -> Iterator[Reason]:
        named, open_to = schema.get("properties", {}), schema.get("additionalProperties", True)
        required = schema.get("required", [])
        if len(set(required)) > schema.get("maxProperties", len(required)):
            yield Reason(at + "/maxProperties", "more properties are required than there may be")
        for name in required if isinstance(required, list) else ():
            if name in named:
                if reason := self.reason(named[name], at + pointer("properties", name)):
                    yield reason
            elif open_to is False and not schema.get("patternProperties"):
                problem = f"'{name}' is required, but additionalProperties forbids it"
                yield Reason(at + "/required", problem)
