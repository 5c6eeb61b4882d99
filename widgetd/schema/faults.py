"""The faults of a value, what finding them may cost, and which of several alternatives' tell most.

A fault is where a value does not fit, and what it was held against. Alternatives are compared
from outside, without descending into them: what is seen so is certain, but seldom all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from widgetd.schema.applicators import needed
from widgetd.schema.describe import choices, describe
from widgetd.schema.document import Document, Subschema
from widgetd.schema.engine import LeafValidator
from widgetd.schema.json_values import Json, Path, nodes

MISSING = object()
"""The value of a fault where something is missing."""
NEEDLESS_NULL = "null"
"""The keyword of a fault that is a null where the property might have been left out."""

Trail: TypeAlias = "tuple[()] | tuple[str | int, Trail]"


class Fault(NamedTuple):
    """One place at which a value does not fit.

    Attributes:
        trail: The steps from the value that was explained to the one at fault, as
            nested pairs, so that a step is put in front without copying the others.
        keyword: The keyword that fails.
        value: What is there, or `MISSING`.
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


class Budget:
    """What an explanation may still cost.

    In work and not in time, so that the same call is told the same everywhere.

    Attributes:
        left: Units of about a microsecond; below 0 it is exhausted.
    """

    # To hold a subschema against an object or array, and against anything else.
    HOLDING, HOLDING_SCALAR = 32, 8
    # To look at a value for what discriminates it, and for all that is seen from outside.
    DISCRIMINATING, COMPARING = 1, 4
    # To compile a part of the schema.
    COMPILING = 2_000
    # How many values a unit lets the validator run through, and search for duplicates.
    RUN_THROUGH, DEDUPLICATED = 64, 16

    __slots__ = ("left",)

    def __init__(self, units: int) -> None:
        self.left = units

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left."""
        return self.left < 0

    def pay_for_all(self, value: Json, at_once: int) -> None:
        """Pay for looking at all that `value` is made of, `at_once` values for a unit."""
        self.left -= nodes(value, at_once * max(self.left, 0)) // at_once


RIGHT_KIND, WRONG_DISCRIMINATOR, WRONG_KIND = range(3)
DECISIVE = frozenset({"type", "const", "enum", "false"})
DISCRIMINATORS = frozenset({"const", "enum"})
# What a value of another type costs when alternatives are compared.
MISFIT = 1_000


def most_telling(
    document: Document, parts: Sequence[Subschema], value: Json, branches: Sequence[Faults]
) -> Faults:
    """Of the faults of `value` in each of `parts`, none of which it fits, those that tell most."""
    ranked = [(_distance(faults), faults) for faults in branches]
    (rank, *_), best = min(ranked, key=itemgetter(0))
    if rank == WRONG_KIND:
        return (Fault((), "type", value, {"anyOf": parts}),)
    if rank == WRONG_DISCRIMINATOR:
        # The one fault of a value whose `kind` or `type` none of the alternatives knows.
        wrong = [
            next(filter(_is_discriminator, faults))
            for (rank, *_), faults in ranked
            if rank == WRONG_DISCRIMINATOR
        ]
        if len({fault.trail for fault in wrong}) == 1:
            known = choices([fault.expected(document) for fault in wrong])
            any_of = {"anyOf": [fault.schema for fault in wrong]}
            return (wrong[0]._replace(schema=any_of, phrase=known),)
    return best


def _distance(faults: Faults) -> tuple[int, int, int]:
    """How far a value is from an alternative: what is wrong with it, and how often.

    A null too many is the least that can be wrong.
    """
    rank = WRONG_DISCRIMINATOR if any(map(_is_discriminator, faults)) else RIGHT_KIND
    if any(fault.keyword in DECISIVE and not fault.trail for fault in faults):
        rank = WRONG_KIND
    wrong = sum(fault.keyword != NEEDLESS_NULL for fault in faults)
    return rank, wrong, len(faults)


def _is_discriminator(fault: Fault) -> bool:
    return fault.keyword in DISCRIMINATORS and len(fault.trail) == 2 and not fault.trail[1]


_Surface: TypeAlias = tuple[
    tuple[Mapping[str, Json], ...], tuple[tuple[str, Mapping[str, Json]], ...]
]
"""What there is to see of a schema from outside: the schema and what it refers to, and the
properties by whose fixed values its objects are told from others."""


class Alternatives:
    """Compares values with alternatives of one schema; remembers what is to be seen of each."""

    def __init__(self, document: Document, leaves: LeafValidator, budget: Budget) -> None:
        self._document = document
        self._leaves = leaves
        self._budget = budget
        self._surfaces: dict[int, _Surface] = {}
        self._likeliest: dict[tuple[int, int], tuple[Sequence[Subschema], Json]] = {}

    def likeliest(self, parts: Sequence[Subschema], value: Json) -> Sequence[Subschema]:
        """Of several alternatives the first that `value` misfits least; all, where none will do."""
        key = (id(parts), id(value))
        if key not in self._likeliest:
            best, least = parts[0], MISFIT
            for part in parts:
                self._budget.left -= Budget.DISCRIMINATING
                if not self.wrong_discriminator(part, value):
                    self._budget.left -= Budget.COMPARING
                    misfit = self._misfit(part, value)
                    if misfit < least:
                        best, least = part, misfit
                if not least or self._budget.exhausted:
                    break
            decided = least < MISFIT or self._budget.exhausted
            self._likeliest[key] = ([best] if decided else parts, value)
        return self._likeliest[key][0]

    def wrong_discriminator(self, schema: Subschema, value: Json) -> Fault | None:
        """The property by which `value` says that it is not meant for `schema`."""
        if isinstance(schema, bool) or not isinstance(value, dict):
            return None
        parts, discriminators = self._surface(schema)
        for name, part in discriminators:
            if name not in value:
                continue
            # A null where nothing had to be sent says nothing.
            if value[name] is not None or any(name in needed(one, value) for one in parts):
                keyword = self._leaves.failing(part, value[name])
                if keyword in DISCRIMINATORS:
                    return Fault((name, ()), keyword, value[name], part)
        return None

    def _misfit(self, schema: Subschema, value: Json) -> int:
        """How badly `value` fits `schema`; 0 where nothing is wrong from outside."""
        if isinstance(schema, bool):
            return 0 if schema else MISFIT
        lacking = 0
        for part in self._surface(schema)[0]:
            if self._leaves.failing(part, value):
                return MISFIT
            if isinstance(value, dict):
                lacking += sum(name not in value for name in needed(part, value))
        return lacking

    def _surface(self, schema: Mapping[str, Json]) -> _Surface:
        if id(schema) not in self._surfaces:
            parts: list[Mapping[str, Json]] = []
            waiting: list[Subschema] = [schema]
            while waiting:
                part = waiting.pop()
                if isinstance(part, Mapping):
                    parts.append(part)
                    waiting += self._document.targets(part)
            discriminators = tuple(
                (name, inner)
                for part in parts
                for name, inner in part.get("properties", {}).items()
                if isinstance(inner, Mapping) and inner.keys() & DISCRIMINATORS
            )
            self._surfaces[id(schema)] = (tuple(parts), discriminators)
        return self._surfaces[id(schema)]
