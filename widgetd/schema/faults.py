"""The faults of a value, and which of several sets of faults says most.

A fault is where a value does not fit, and what it was held against. It refuses to
know how faults are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from widgetd.schema.describe import choices, describe
from widgetd.schema.document import Document
from widgetd.schema.json_values import Path
from widgetd.schema.subschemas import Json, Subschema

NOTHING = object()

Trail: TypeAlias = "tuple[()] | tuple[str | int, Trail]"


class Fault(NamedTuple):
    """One place at which a value does not fit.

    Attributes:
        trail: The steps from the value that was explained to the one at fault, as
            nested pairs, so that a step is put in front without copying the others.
        keyword: The keyword that fails.
        value: What is there; `NOTHING` where something is missing.
        schema: What it was held against.
        phrase: What was expected, where the schema alone does not say it.
    """

    trail: Trail
    keyword: str
    value: object
    schema: Subschema
    phrase: str = ""

    @property
    def path(self) -> Path:
        """The steps from the value that was explained to the one at fault."""
        steps = []
        trail = self.trail
        while trail:
            step, trail = trail
            steps.append(step)
        return tuple(steps)

    def expected(self, document: Document) -> str:
        """What was expected, as a noun phrase."""
        return self.phrase or describe(document, self.schema)


Faults = tuple[Fault, ...]


def unexplained(schema: Subschema, value: Json) -> Fault:
    """What is said of a value that does not fit where no keyword could be found at fault."""
    return Fault((), "", value, schema, "an object that fits the input schema")


RIGHT_KIND, WRONG_MARK, WRONG_KIND = range(3)
DECISIVE = frozenset({"type", "const", "enum", "false"})


def nearest(
    document: Document, parts: Sequence[Subschema], value: Json, branches: Sequence[Faults]
) -> Faults:
    """The faults that tell most, of a `value` that fits none of the alternatives `parts`.

    Args:
        document: The schema.
        parts: The alternatives.
        value: What fits none of them.
        branches: The faults of `value` in each.
    """
    ranked = [(_distance(faults), faults) for faults in branches]
    (rank, _), best = min(ranked, key=itemgetter(0))
    if rank == WRONG_KIND:
        return (Fault((), "type", value, {"anyOf": parts}),)
    if rank == WRONG_MARK:
        marked = [faults for (rank, _), faults in ranked if rank == WRONG_MARK]
        return _merged(document, marked) or best
    return best


def _distance(faults: Faults) -> tuple[int, int]:
    """How far a value is from an alternative: what is wrong with it, and how often."""
    rank = RIGHT_KIND
    for fault in faults:
        if fault.keyword in DECISIVE and not fault.trail:
            return WRONG_KIND, len(faults)
        if _is_mark(fault):
            rank = WRONG_MARK
    return rank, len(faults)


def _merged(document: Document, branches: Sequence[Faults]) -> Faults:
    """The one fault of a value whose mark (`kind`, `type`) none of the alternatives knows."""
    marks = [next(filter(_is_mark, faults)) for faults in branches]
    if len({mark.trail for mark in marks}) > 1:
        return ()
    known = choices([mark.expected(document) for mark in marks])
    return (marks[0]._replace(phrase=known),)


def _is_mark(fault: Fault) -> bool:
    return fault.keyword in ("const", "enum") and len(fault.trail) == 2 and not fault.trail[1]
