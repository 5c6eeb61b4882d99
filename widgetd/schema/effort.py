"""Count the work that an explanation does, and know when there has been enough of it.

Work, not time, so that the same call is told the same everywhere. One unit is
about a microsecond's worth.
"""

from __future__ import annotations

from widgetd.schema.json_values import nodes
from widgetd.schema.subschemas import Json

# What it costs to hold a subschema against an object or array, and against anything else.
HOLDING, HOLDING_SCALAR = 32, 8
# What it costs to look for another mark in a value, and to look at it from outside.
MARK, GLANCE = 1, 4
# What it costs to have the validator decide about one more part of the schema.
ASKING = 2_000
# How many values a unit lets the validator run through, and a search for duplicates.
RUN_THROUGH, COMPARED = 64, 16


class Effort:
    """What an explanation may still cost.

    Attributes:
        left: Units; below 0 there has been enough.
    """

    __slots__ = ("left",)

    def __init__(self, units: int) -> None:
        self.left = units

    @property
    def exhausted(self) -> bool:
        """Whether there has been enough."""
        return self.left < 0

    def all_of(self, value: Json, at_once: int) -> None:
        """Pay for looking at all that `value` is made of, `at_once` values for a unit."""
        self.left -= nodes(value, at_once * max(self.left, 0)) // at_once
