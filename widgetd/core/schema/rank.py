"""Rank the alternatives of a union for a failing value, so the error explains the likeliest.

Before the descent, alternatives are compared from outside, by discriminators and by keywords
without inner schemas: they rule out with certainty, but seldom everything. After it, alternatives
are compared by their faults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.engine import LeafValidator
from widgetd.core.schema.json_values import Json
from widgetd.core.schema.keywords import Subschema, list_required
from widgetd.core.schema.limits import ExplanationBudget
from widgetd.core.schema.phrase import ArgumentFault, Faults, join_choices

NEEDLESS_NULL = "null"
"""The keyword of a fault that is a null where the property could have been left out."""

RIGHT_KIND, WRONG_DISCRIMINATOR, WRONG_KIND = range(3)
DECISIVE = frozenset({"type", "const", "enum", "false"})
DISCRIMINATORS = frozenset({"const", "enum"})
# The misfit of a value of another type, above any number of missing properties.
MISFIT = 1_000


def pick_most_telling(
    document: SchemaDocument, parts: Sequence[Subschema], value: Json, branches: Sequence[Faults]
) -> Faults:
    """Return the best explanation why `value` fits none of the alternatives `parts`.

    `branches` has its faults in each examined alternative.
    """
    ranked = [(_measure_distance(faults), faults) for faults in branches]
    (rank, *_), best = min(ranked, key=itemgetter(0))
    if rank == WRONG_KIND:
        return (ArgumentFault((), "type", value, {"anyOf": parts}),)
    if rank == WRONG_DISCRIMINATOR:
        # A single fault for a value whose `kind` or `type` is unknown to every alternative.
        wrong = [
            next(filter(_is_discriminator, faults))
            for (rank, *_), faults in ranked
            if rank == WRONG_DISCRIMINATOR
        ]
        if len({fault.trail for fault in wrong}) == 1:
            choices = join_choices([fault.expected(document) for fault in wrong])
            any_of = {"anyOf": [fault.schema for fault in wrong]}
            return (wrong[0]._replace(schema=any_of, phrase=choices),)
    return best


def _measure_distance(faults: Faults) -> tuple[int, int, int]:
    """Measure how far a value is from an alternative. A needless null counts least."""
    rank = WRONG_DISCRIMINATOR if any(map(_is_discriminator, faults)) else RIGHT_KIND
    if any(fault.keyword in DECISIVE and not fault.trail for fault in faults):
        rank = WRONG_KIND
    wrong = sum(fault.keyword != NEEDLESS_NULL for fault in faults)
    return rank, wrong, len(faults)


def _is_discriminator(fault: ArgumentFault) -> bool:
    return fault.keyword in DISCRIMINATORS and len(fault.trail) == 2 and not fault.trail[1]


_Surface: TypeAlias = tuple[
    tuple[Mapping[str, Json], ...], tuple[tuple[str, Mapping[str, Json]], ...]
]
"""A schema with everything it refers to, and its properties with fixed values."""


class Alternatives:
    """Compares values with the alternatives of a schema, and caches the surface of each."""

    def __init__(
        self, document: SchemaDocument, leaves: LeafValidator, budget: ExplanationBudget
    ) -> None:
        self._document = document
        self._leaves = leaves
        self._budget = budget
        self._surfaces: dict[int, _Surface] = {}
        self._likeliest: dict[tuple[int, int], tuple[Sequence[Subschema], Json]] = {}

    def pick_likeliest(self, parts: Sequence[Subschema], value: Json) -> Sequence[Subschema]:
        """Return the first alternative with the least misfit, or all if `value` misfits all."""
        key = (id(parts), id(value))
        if key not in self._likeliest:
            best, least = parts[0], MISFIT
            for part in parts:
                self._budget.left -= ExplanationBudget.DISCRIMINATING
                if not self.find_wrong_discriminator(part, value):
                    self._budget.left -= ExplanationBudget.COMPARING
                    misfit = self._measure_misfit(part, value)
                    if misfit < least:
                        best, least = part, misfit
                if not least or self._budget.is_exhausted:
                    break
            decided = least < MISFIT or self._budget.is_exhausted
            self._likeliest[key] = ([best] if decided else parts, value)
        return self._likeliest[key][0]

    def find_wrong_discriminator(self, schema: Subschema, value: Json) -> ArgumentFault | None:
        if isinstance(schema, bool) or not isinstance(value, dict):
            return None
        parts, discriminators = self._read_surface(schema)
        for name, part in discriminators:
            if name not in value:
                continue
            # A null in an optional property says nothing.
            if value[name] is not None or any(name in list_required(p, value) for p in parts):
                keyword = self._leaves.find_failing(part, value[name])
                if keyword in DISCRIMINATORS:
                    return ArgumentFault((name, ()), keyword, value[name], part)
        return None

    def _measure_misfit(self, schema: Subschema, value: Json) -> int:
        if isinstance(schema, bool):
            return 0 if schema else MISFIT
        lacking = 0
        for part in self._read_surface(schema)[0]:
            if self._leaves.find_failing(part, value):
                return MISFIT
            if isinstance(value, dict):
                lacking += sum(name not in value for name in list_required(part, value))
        return lacking

    def _read_surface(self, schema: Mapping[str, Json]) -> _Surface:
        if id(schema) not in self._surfaces:
            parts = tuple(self._document.reach(schema))
            discriminators = tuple(
                (name, inner)
                for part in parts
                for name, inner in part.get("properties", {}).items()
                if isinstance(inner, Mapping) and inner.keys() & DISCRIMINATORS
            )
            self._surfaces[id(schema)] = (parts, discriminators)
        return self._surfaces[id(schema)]
