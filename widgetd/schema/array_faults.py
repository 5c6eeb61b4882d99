"""Ask the validator which elements of a long array are at fault, instead of entering each.

It refuses to know why an element is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TypeAlias

from widgetd.schema.applicable import element_parts
from widgetd.schema.effort import ASKING, RUN_THROUGH, Effort
from widgetd.schema.subschemas import Json, Subschema

Decides: TypeAlias = Callable[[Json], bool]

# An array of no more elements than this is looked through one by one.
LONG = 64


class Asking:
    """The validator's word on the elements of arrays.

    Args:
        decider: Makes what decides about one part of the schema; nothing where it cannot.
        effort: Pays for it.
    """

    def __init__(self, decider: Callable[[Subschema], Decides | None], effort: Effort) -> None:
        self._decider = decider
        self._effort = effort
        self._deciders: dict[int, Decides | None] = {}

    def about(self, schema: Subschema, value: list[Json]) -> Decides | None:
        """What decides whether elements of `value` fit `schema`; None where it is not asked."""
        if len(value) <= LONG or isinstance(schema, bool):
            return None
        self._effort.all_of(value, RUN_THROUGH)
        if not self._effort.exhausted and id(schema) not in self._deciders:
            self._effort.left -= ASKING
            self._deciders[id(schema)] = self._decider(schema)
        return None if self._effort.exhausted else self._deciders[id(schema)]

    def suspects(self, schema: Mapping[str, Json], value: list[Json], most: int) -> Iterable[int]:
        """The elements to look at: of a long array, `most` of those that the validator refuses."""
        first, rest = element_parts(schema)
        if rest is True:
            return range(min(len(first), len(value)))
        decides = self.about(rest, value)
        if decides is None:
            return range(len(value) if len(value) <= LONG or not self._effort.exhausted else 0)
        refused = (index for index in range(len(first), len(value)) if not decides(value[index]))
        return [*range(min(len(first), len(value))), *islice(refused, most)]
