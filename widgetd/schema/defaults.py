"""Fill in the defaults of absent properties.

For rendering, after validation and never instead of it: a default that violates its own schema is
left out. The caller's arguments are never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from widgetd.schema.explain import Explainer
from widgetd.schema.json_values import Json, steps
from widgetd.schema.keywords import Subschema


def fill_defaults(
    explainer: Explainer, root: Subschema, arguments: dict[str, Json]
) -> dict[str, Json]:
    """Return `arguments` with every default that applies, at any depth."""
    whole: dict[str, Json] = _Defaults(explainer).fill([root], arguments)
    return whole


class _Defaults:
    def __init__(self, explainer: Explainer) -> None:
        self._explainer = explainer
        # A default that contains itself through a recursion is filled in once.
        self._active: set[int] = set()

    def fill(self, schemas: Sequence[Subschema], value: Json) -> Json:
        """Fill every default into `value`, to which all of `schemas` apply."""
        if not isinstance(value, (dict, list)):
            return value
        parts = self._explainer.collect_applicable(schemas, value)
        if self._explainer.is_exhausted:  # no default is better than another alternative's
            return value
        filled: dict[Any, Json] = {
            step: self.fill(self._explainer.find_inside(parts, step), inner)
            for step, inner in steps(value)
        }
        if isinstance(value, list):
            return list(filled.values())
        for part in parts:
            for name, schema in part.get("properties", {}).items():
                if name not in filled and isinstance(schema, dict):
                    self._add(filled, name, schema)
        return filled

    def _add(self, filled: dict[str, Json], name: str, schema: Mapping[str, Json]) -> None:
        """Add the default of `schema`, or of its reference's target, unless it is invalid."""
        waiting: list[Subschema] = [schema]
        while waiting:
            part = waiting.pop()
            if isinstance(part, bool):
                continue
            if "default" not in part:
                waiting.extend(self._explainer.targets(part))
                continue
            if id(part) not in self._active and self._explainer.fits(schema, part["default"]):
                self._active.add(id(part))
                filled[name] = self.fill([schema], part["default"])
                self._active.discard(id(part))
            return
