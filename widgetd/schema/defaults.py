"""Fill in what the author of a schema says an absent property stands for.

For rendering, after validation and never instead of it: a default that its own
schema would refuse is left out. The arguments that came are never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from widgetd.schema.explain import Explainer
from widgetd.schema.json_values import Json
from widgetd.schema.keywords import Subschema, find_element


def filled(explainer: Explainer, root: Subschema, arguments: dict[str, Json]) -> dict[str, Json]:
    """`arguments` with every default that applies, at any depth."""
    whole: dict[str, Json] = _Defaults(explainer).filled([root], arguments)
    return whole


class _Defaults:
    def __init__(self, explainer: Explainer) -> None:
        self._explainer = explainer
        # A default that holds itself, by way of a recursion, is filled in once.
        self._within: set[int] = set()

    def filled(self, schemas: Sequence[Subschema], value: Json) -> Json:
        """`value`, held to all of `schemas`, with every default in it."""
        if not isinstance(value, (dict, list)):
            return value
        parts = self._explainer.collect_applicable(schemas, value)
        if self._explainer.exhausted:  # rather no default than that of another alternative
            return value
        if isinstance(value, list):
            return [
                self.filled([find_element(part, index) for part in parts], element)
                for index, element in enumerate(value)
            ]
        filled: dict[str, Json] = {}
        for name, inner in value.items():
            held = [s for part in parts for s in self._explainer.find_properties(part, name)]
            filled[name] = self.filled(held, inner)
        for part in parts:
            for name, schema in part.get("properties", {}).items():
                if name not in filled and isinstance(schema, dict):
                    self._add(filled, name, schema)
        return filled

    def _add(self, filled: dict[str, Json], name: str, schema: Mapping[str, Json]) -> None:
        """Add the default that `schema` says, or what it refers to does, unless it misfits."""
        waiting: list[Subschema] = [schema]
        while waiting:
            part = waiting.pop()
            if isinstance(part, bool):
                continue
            if "default" not in part:
                waiting.extend(self._explainer.targets(part))
                continue
            if id(part) not in self._within and self._explainer.fits(schema, part["default"]):
                self._within.add(id(part))
                filled[name] = self.filled([schema], part["default"])
                self._within.discard(id(part))
            return
