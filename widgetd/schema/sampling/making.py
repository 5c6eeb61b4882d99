"""Make a value that fits a schema, in a given style.

Builds from the keywords; where alternatives, conditions or patterns make that
uncertain it asks a judge, and tries again in another way. It promises nothing:
the caller holds what was made against the validator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from widgetd.schema.applicators import Evaluator, dependent, element_part, needed, property_parts
from widgetd.schema.document import Subschema
from widgetd.schema.json_values import Json, identity
from widgetd.schema.sampling.choosing import Chooser, Spot, Style
from widgetd.schema.sampling.facets import TYPES, Facets, together
from widgetd.schema.sampling.heights import Heights
from widgetd.schema.sampling.matching import matching
from widgetd.schema.sampling.scalars import numbers, strings

# In values made or tried.
BUDGET = 10_000
DEEPEST = 48
MOST_TURNS = 40
MOST_PROPERTIES = 1_000
MOST_ELEMENTS = 1_000
# How many elements an array gets where the schema leaves it open.
ELEMENTS: Mapping[Style, int] = {
    "smallest": 0,
    "required": 1,
    "full": 2,
    "empty": 0,
    "one": 1,
    "two": 2,
    "many": 20,
    "long": 2,
    "nulls": 1,
    "nasty": 2,
}


class CannotMakeError(Exception):
    """No value could be made for a schema."""


class Maker:
    """Makes values in one style.

    Args:
        judge: Decides about alternatives and strings.
        heights: Know the shortest way out of a recursion.
        style: What is wanted.
    """

    def __init__(self, judge: Evaluator, heights: Heights, style: Style) -> None:
        self._judge = judge
        self._style = style
        self._chooser = Chooser(judge, heights, style)
        self._left = BUDGET
        self._words: Counter[tuple[str, int]] = Counter()

    @property
    def spent(self) -> bool:
        """Whether so much was tried that another try would come to nothing either."""
        return self._left < 0 or self._judge.exhausted

    def make(self, schema: Subschema, spot: Spot) -> Json:
        """A value that very probably fits `schema`.

        Raises:
            CannotMakeError: None was found.
        """
        self._left -= 1
        if schema is False or self.spent or spot.depth > DEEPEST:
            raise CannotMakeError
        if isinstance(schema, bool):
            return next(strings(self._style, Facets([]), spot.name, spot.turn))
        way, ways = 0, 1
        while way < ways:
            facets, ways = self._chooser.chosen(schema, spot, way)
            for made in self._values(facets, spot) if facets else ():
                self._left -= 1
                if self._judge.fits(schema, made):
                    return made
            way += 1
        raise CannotMakeError

    def _values(self, facets: Facets, spot: Spot) -> Iterator[Json]:
        """Values to be tried, likeliest first."""
        choices = facets.choices()
        if choices is not None:
            yield from _turned(sorted(choices, key=self._unwanted), spot.turn)
            return
        kinds = facets.types()
        if self._style == "nulls" and "null" in kinds and kinds != TYPES:
            yield None
        if self._style not in ("long", "nasty"):
            given = [value for value in facets.given() if not isinstance(value, (dict, list))]
            yield from _turned(given, spot.turn)
        if kinds == TYPES:
            kinds = (facets.likely(),)
        for kind in sorted(kinds, key=lambda kind: kind == "null"):
            with suppress(CannotMakeError):
                yield from self._typed(kind, facets, spot)

    def _unwanted(self, value: Json) -> bool:
        return (value is None) != (self._style == "nulls")

    def _typed(self, kind: str, facets: Facets, spot: Spot) -> Iterator[Json]:
        if kind == "object":
            yield self._object(facets, spot)
        elif kind == "array":
            yield self._array(facets, spot)
        elif kind == "string":
            yield from strings(self._style, facets, spot.name, self._word(spot))
        elif kind == "boolean":
            yield from (spot.turn % 2 == 0, spot.turn % 2 == 1)
        elif kind == "null":
            yield None
        else:
            yield from numbers(facets, spot.name, spot.turn, whole=kind == "integer")

    def _word(self, spot: Spot) -> int:
        """Which word to take, so that an arrival is at another city than the departure."""
        own = spot.name.rpartition(".")[2]
        self._words[own, spot.turn] += 1
        return spot.turn + self._words[own, spot.turn] - 1

    def _object(self, facets: Facets, spot: Spot) -> dict[str, Json]:
        parts, names = self._named(facets, spot)
        required = {name for part in parts for name in part.get("required", ())}
        made: dict[str, Json] = {}
        for name in names:
            with suppress(*() if name in required else (CannotMakeError,)):
                made[name] = self._property(name, parts, spot)
        least = facets.least("minProperties")
        if len(made) < least:
            for name in self._further_names(facets, spot):
                with suppress(CannotMakeError):
                    made.setdefault(name, self._property(name, parts, spot))
                if len(made) >= least:
                    break
        return made

    def _property(self, name: str, parts: list[Mapping[str, Json]], spot: Spot) -> Json:
        held_to = [held for part in parts for held in property_parts(self._judge, part, name)]
        above = spot.name.rpartition(".")[2]
        within = spot.within | {id(part) for part in parts}
        inside = replace(spot, name=f"{above}.{name}", depth=spot.depth + 1, within=within)
        return self.make(together(held_to), inside)

    def _named(
        self, facets: Facets, spot: Spot
    ) -> tuple[list[Mapping[str, Json]], dict[str, None]]:
        """The properties that are wanted, in order, and everything that then holds."""
        parts = list(facets.parts)
        names: dict[str, None] = {}
        for part in parts:
            names.update(dict.fromkeys(part.get("required", ())))
        if not (self._style == "required" or self._chooser.economises(parts, spot)):
            most = facets.most("maxProperties", MOST_PROPERTIES)
            declared = [name for part in parts for name in part.get("properties", {})]
            names.update(dict.fromkeys(declared[: max(0, most - len(names))]))
        for part in parts:  # which grows
            names.update(dict.fromkeys(needed(part, names)))
            for held in dependent(part, names):
                if isinstance(held, Mapping) and held not in parts:
                    parts.append(held)
                    names.update(dict.fromkeys(held.get("required", ())))
        order = [name for part in parts for name in part.get("properties", {}) if name in names]
        return parts, dict.fromkeys([*order, *names])

    def _further_names(self, facets: Facets, spot: Spot) -> Iterator[str]:
        """Names that may be added where more properties are wanted than there are wanted ones."""
        for part in facets.parts:
            yield from part.get("properties", {})
        for turn in range(MOST_TURNS):
            for part in facets.parts:
                for pattern in part.get("patternProperties", {}):
                    yield from matching(pattern, turn)
            for schema in facets.all("propertyNames"):
                with suppress(CannotMakeError):
                    texts = {"type": "string", "allOf": [schema]}
                    yield self.make(texts, replace(spot, name="name", turn=turn))
            yield f"extra{turn + 1}"

    def _array(self, facets: Facets, spot: Spot) -> list[Json]:
        contained = list(facets.all("contains"))
        needed_elements = facets.least("minContains", 1) if contained else 0
        least = max(facets.least("minItems"), needed_elements)
        made: list[Json] = []
        if least > self._left:
            self._left = -1
            raise CannotMakeError
        for index in range(self._length(facets, least, spot)):
            held_to = [element_part(part, index) for part in facets.parts]
            held_to += contained if index < needed_elements else []
            try:
                made.append(self._element(facets, together(held_to), spot, made))
            except CannotMakeError:
                if index < least:
                    raise
                break
        return made

    def _length(self, facets: Facets, least: int, spot: Spot) -> int:
        """How many elements to make."""
        wanted = ELEMENTS[self._style] if not spot.arrays else min(ELEMENTS[self._style], 2)
        if self._chooser.economises(facets.parts, spot):
            wanted = 0
        elif wanted:
            wanted = max([wanted, *map(len, facets.all("prefixItems"))])
        return min(max(wanted, least), facets.most("maxItems", MOST_ELEMENTS))

    def _element(self, facets: Facets, schema: Subschema, spot: Spot, others: list[Json]) -> Json:
        unique = any(wanted is True for wanted in facets.all("uniqueItems"))
        known = {identity(other) for other in others} if unique else frozenset()
        within = spot.within | {id(part) for part in facets.parts}
        for turn in range(len(others), len(others) + (MOST_TURNS if unique else 1)):
            made = self.make(
                schema,
                replace(
                    spot,
                    turn=spot.turn + turn,
                    depth=spot.depth + 1,
                    arrays=spot.arrays + 1,
                    within=within,
                ),
            )
            if not unique or identity(made) not in known:
                return made
        raise CannotMakeError


def _turned(values: list[Json], turn: int) -> list[Json]:
    first = turn % len(values) if values else 0
    return [*values[first:], *values[:first]]
