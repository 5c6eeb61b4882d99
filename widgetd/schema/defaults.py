"""Fill in what the author of a schema says an absent property stands for.

For rendering, after validation and never instead of it: a default that its own
schema would refuse is left out. It refuses to change the arguments it was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from widgetd.schema.applicable import Judge, element_part, held_to, property_parts
from widgetd.schema.subschemas import Json, Subschema


class Filler:
    """Fills values with the defaults of one schema.

    Args:
        judge: Decides which alternatives a value fits, and which defaults are usable.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        # A default that holds itself, by way of a recursion, is filled in once.
        self._open: set[int] = set()

    def filled(self, schemas: Sequence[Subschema], value: Json) -> Json:
        """`value`, held to all of `schemas`, with every default that applies, at any depth."""
        if not isinstance(value, (dict, list)):
            return value
        parts = held_to(self._judge, schemas, value)
        if self._judge.exhausted:  # rather no default than that of another alternative
            return value
        if isinstance(value, list):
            return [
                self.filled([element_part(part, index) for part in parts], element)
                for index, element in enumerate(value)
            ]
        filled = {name: self._property(parts, name, inner) for name, inner in value.items()}
        for part in parts:
            for name, inner in part.get("properties", {}).items():
                if name not in filled and isinstance(inner, dict):
                    self._fill(filled, name, inner)
        return filled

    def _property(self, parts: list[Mapping[str, Json]], name: str, value: Json) -> Json:
        held = [schema for part in parts for schema in property_parts(self._judge, part, name)]
        return self.filled(held, value)

    def _fill(self, filled: dict[str, Json], name: str, schema: Mapping[str, Json]) -> None:
        holder = self._holder(schema)
        if holder is None or id(holder) in self._open:
            return
        if self._judge.fits(schema, holder["default"]):
            self._open.add(id(holder))
            filled[name] = self.filled([schema], holder["default"])
            self._open.discard(id(holder))

    def _holder(self, schema: Subschema) -> Mapping[str, Json] | None:
        """The schema that says the default: `schema` itself, or what it refers to."""
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, bool):
                if "default" in part:
                    return part
                waiting.extend(self._judge.targets(part))
        return None
