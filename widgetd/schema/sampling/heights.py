"""Measure how deep the shallowest value of each schema nests.

So that whoever makes a value can leave a recursion by the shortest way. A schema
without a finite value has no height.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from widgetd.schema.applicators import element_part
from widgetd.schema.document import Document, Subschema
from widgetd.schema.json_values import Json

# What no round has found by then only comes later among the alternatives.
MOST_ROUNDS = 16


class Heights:
    """The heights of a document's parts, found when one is asked for."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[int, float] = {}
        self._found = False

    def of(self, schema: Subschema) -> float:
        """How many levels the shallowest value of `schema` has; `inf` if it has none."""
        if not self._found:
            self._found = True
            self._spread()
        return self._so_far(schema)

    def _spread(self) -> None:
        """Let short ones spread until none changes."""
        schemas = list(self._document.subschemas())
        for _ in range(MOST_ROUNDS):
            # To and fro, so that a chain of references takes two rounds in whichever order it is.
            schemas.reverse()
            if not sum([self._lowers(schema) for schema in schemas]):
                break

    def _so_far(self, schema: Subschema) -> float:
        if isinstance(schema, bool):
            return 0 if schema else inf
        return self._known.get(id(schema), inf)

    def _lowers(self, schema: Mapping[str, Json]) -> bool:
        """Whether `schema` turns out to be less high than was known."""
        height = self._measured(schema)
        lower = height < self._known.get(id(schema), inf)
        if lower:
            self._known[id(schema)] = height
        return lower

    def _measured(self, schema: Mapping[str, Json]) -> float:
        if "const" in schema or "enum" in schema:
            return 0
        together = (*self._document.targets(schema), *schema.get("allOf", ()))
        found = [0.0, *map(self._so_far, together)]
        for keyword in schema.keys() & {"anyOf", "oneOf"}:
            found += [min(map(self._so_far, schema[keyword]), default=inf)]
        if schema.get("type", "object") == "object":
            named = schema.get("properties", {})
            required = schema.get("required", ())
            found += [1 + self._so_far(named.get(name, True)) for name in required]
        if schema.get("type") == "array" and schema.get("minItems", 0):
            found += [1 + self._so_far(element_part(schema, 0))]
        return max(found)
