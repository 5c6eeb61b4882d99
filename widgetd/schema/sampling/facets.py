"""Gather everything that one value is held to, from all the schemas it is held to at once.

Alternatives and conditions must have been chosen before; what is left are plain
keywords, of which the tightest counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from widgetd.schema.describe import types
from widgetd.schema.document import Subschema
from widgetd.schema.json_values import Json, identity, is_number

TYPES = ("object", "array", "string", "number", "boolean", "null")

# What gives a type away where none is named.
KEYWORDS: Mapping[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "minProperties", "patternProperties"}),
    "array": frozenset({"items", "prefixItems", "contains", "minItems", "uniqueItems"}),
    "number": frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    ),
}


@dataclass(frozen=True, slots=True)
class Facets:
    """What the keywords of `parts` say together."""

    parts: Sequence[Mapping[str, Json]]

    def all(self, keyword: str) -> Iterator[Json]:
        """Every value that `keyword` has."""
        return (part[keyword] for part in self.parts if keyword in part)

    def least(self, keyword: str, otherwise: int = 0) -> int:
        """The highest of the lower bounds that `keyword` sets."""
        return int(
            max((bound for bound in self.all(keyword) if is_number(bound)), default=otherwise)
        )

    def most(self, keyword: str, otherwise: int) -> int:
        """The lowest of the upper bounds that `keyword` sets."""
        return int(
            min((bound for bound in self.all(keyword) if is_number(bound)), default=otherwise)
        )

    def types(self) -> tuple[str, ...]:
        """The types that may stand here, in the author's order; `integer` only where it must."""
        named = [types(part) for part in self.parts if types(part)]
        if not named:
            return TYPES
        return tuple(
            kind
            for kind in dict.fromkeys(kind for names in named for kind in names)
            if all(kind in names or (kind == "integer" and "number" in names) for names in named)
        )

    def likely(self) -> str:
        """The type that the other keywords are about, where none is named."""
        keywords = {keyword for part in self.parts for keyword in part}
        return next((kind for kind, its_own in KEYWORDS.items() if keywords & its_own), "string")

    def choices(self) -> list[Json] | None:
        """The values that `enum` and `const` leave; `None` where neither is said."""
        offers = [*self.all("enum"), *([only] for only in self.all("const"))]
        if not offers:
            return None
        known = [{identity(choice) for choice in offer} for offer in offers[1:]]
        return [choice for choice in offers[0] if all(identity(choice) in offer for offer in known)]

    def given(self) -> Iterator[Json]:
        """The values that the author wrote down: examples, then defaults."""
        for examples in self.all("examples"):
            yield from examples if isinstance(examples, list) else ()
        yield from self.all("default")

    def interval(self) -> tuple[float | None, float | None]:
        """The inclusive bounds of a number; exclusive ones are moved in by a step."""
        lows = list(_numbers(self.all("minimum")))
        highs = list(_numbers(self.all("maximum")))
        above = list(_numbers(self.all("exclusiveMinimum")))
        below = list(_numbers(self.all("exclusiveMaximum")))
        for part in self.parts:  # draft 4 says only that the bound itself is out
            above += _numbers([part.get("minimum")] if part.get("exclusiveMinimum") is True else [])
            below += _numbers([part.get("maximum")] if part.get("exclusiveMaximum") is True else [])
        step = _gap([*lows, *highs, *above, *below])
        low = max([*lows, *(bound + step for bound in above)], default=None)
        high = min([*highs, *(bound - step for bound in below)], default=None)
        return low, high

    def step(self, *, whole: bool) -> Fraction | None:
        """What a number must be a multiple of; `whole` adds that it is an integer."""
        steps = [Fraction(str(step)) for step in self.all("multipleOf")]
        if whole:
            steps.append(Fraction(1))
        if not steps:
            return None
        bottom = lcm(*(step.denominator for step in steps))
        return Fraction(lcm(*(int(step * bottom) for step in steps)), bottom)


def _numbers(values: Iterator[Json] | list[Json]) -> Iterator[float]:
    return (value for value in values if is_number(value))


def _gap(bounds: list[float]) -> float:
    """A step small enough to stay between different bounds."""
    distances = [abs(a - b) for a in bounds for b in bounds if a != b]
    return min([1, *(distance / 4 for distance in distances)])


def together(schemas: Sequence[Subschema]) -> Subschema:
    """One schema that says what all of `schemas` say."""
    if False in schemas:
        return False
    once = list({id(schema): schema for schema in schemas if schema is not True}.values())
    if len(once) > 1:
        return {"allOf": once}
    return once[0] if once else True
