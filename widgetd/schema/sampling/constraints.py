"""What the keywords of several schemas demand of one value, and strings and numbers that fit.

Alternatives and conditions must have been chosen before; what is left are plain
keywords, of which the tightest counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm

from widgetd.schema.json_values import TYPES, Json, identity, is_number
from widgetd.schema.keywords import Subschema, list_types
from widgetd.schema.sampling.pattern_strings import pattern_strings
from widgetd.schema.sampling.words import LONG, NASTY, formatted, number, word

LONG_CHARACTERS = 300
MOST_CHARACTERS = 4_000
LONGEST_INTEGER = 2**63
LONGEST_CHARACTERS = 10_000
"""Whoever demands a longer string than this gets none: the schema may demand any."""

# What gives a type away where none is named.
KEYWORDS: Mapping[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "minProperties", "patternProperties"}),
    "array": frozenset({"items", "prefixItems", "contains", "minItems", "uniqueItems"}),
    "number": frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    ),
}


@dataclass(frozen=True, slots=True)
class Constraints:
    """What the keywords of `parts` say together."""

    parts: Sequence[Mapping[str, Json]]

    def all(self, keyword: str) -> Iterator[Json]:
        """Every value that `keyword` has."""
        return (part[keyword] for part in self.parts if keyword in part)

    def bounds(self, keyword: str) -> list[float]:
        """Every number that `keyword` is."""
        return [bound for bound in self.all(keyword) if is_number(bound)]

    def least(self, keyword: str, otherwise: int = 0) -> int:
        """The highest of the lower bounds that `keyword` sets."""
        return int(max(self.bounds(keyword), default=otherwise))

    def most(self, keyword: str, otherwise: int) -> int:
        """The lowest of the upper bounds that `keyword` sets."""
        return int(min(self.bounds(keyword), default=otherwise))

    def types(self) -> tuple[str, ...]:
        """The types that may stand here, in the author's order; `integer` only where it must."""
        named = [names for part in self.parts if (names := list_types(part))]
        if not named:
            return TYPES
        return tuple(
            kind
            for kind in dict.fromkeys(kind for names in named for kind in names)
            if all(kind in names or (kind == "integer" and "number" in names) for names in named)
        )

    def likely_type(self) -> str:
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
        lows, highs = self.bounds("minimum"), self.bounds("maximum")
        above, below = self.bounds("exclusiveMinimum"), self.bounds("exclusiveMaximum")
        for part in self.parts:  # draft 4 says only that the bound itself is out
            for exclusive, keyword, bounds in (
                ("exclusiveMinimum", "minimum", above),
                ("exclusiveMaximum", "maximum", below),
            ):
                if part.get(exclusive) is True and is_number(part.get(keyword)):
                    bounds.append(part[keyword])
        known = [*lows, *highs, *above, *below]
        # Small enough to stay between different bounds.
        step = min([1, *(abs(a - b) / 4 for a in known for b in known if a != b)])
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


def all_of(schemas: Sequence[Subschema]) -> Subschema:
    """One schema that says what all of `schemas` say."""
    if False in schemas:
        return False
    once = list({id(schema): schema for schema in schemas if schema is not True}.values())
    if len(once) > 1:
        return {"allOf": once}
    return once[0] if once else True


def strings(style: str, constraints: Constraints, name: str, ordinal: int) -> Iterator[str]:
    """Strings for the property `name`, fitted to the lengths, and to what patterns allow."""
    least = constraints.least("minLength")
    if least > LONGEST_CHARACTERS:
        return
    most = constraints.most("maxLength", MOST_CHARACTERS)
    if style == "nasty":
        yield _fitted(NASTY, least, most)
    if style == "long":
        yield _fitted(LONG, min(most, max(least, LONG_CHARACTERS)), most)
    for known in constraints.all("format"):
        if text := formatted(str(known), ordinal):
            yield from (text, text + text[-1] * (least - len(text)))
    yield _fitted(word(name, ordinal), least, most)
    for pattern in constraints.all("pattern"):
        for other in (ordinal, ordinal + 1, ordinal + 2):
            yield from pattern_strings(str(pattern), other)
    yield from (letter * max(least, 1) for letter in "aA0")
    yield "a" * least


def _fitted(text: str, least: int, most: int) -> str:
    """`text`, repeated or cut, to between `least` and `most` characters."""
    if not text or most <= 0:
        return ""
    whole = text if len(text) >= least else (text + " ") * (least // (len(text) + 1) + 1)
    return whole[: min(max(len(text), least), most)]


def numbers(constraints: Constraints, name: str, ordinal: int, *, whole: bool) -> Iterator[Json]:
    """Numbers for the property `name`, within the bounds and on the steps."""
    low, high = constraints.interval()
    step = constraints.step(whole=whole)
    for wanted in (number(name, ordinal), low, high, ordinal, 0):
        if wanted is not None:
            yield _placed(wanted, low, high, step)


def _placed(wanted: float, low: float | None, high: float | None, step: Fraction | None) -> Json:
    """The number nearest `wanted` that lies between the bounds and on a step."""
    if low is not None and wanted < low:
        wanted = low
    if high is not None and wanted > high:
        wanted = high
    if step is None:
        return wanted
    exact = Fraction(str(wanted)) / step
    up = ceil(exact) * step
    placed = up if high is None or up <= high else floor(exact) * step
    # A larger integer is one that many readers of JSON cannot hold.
    is_short = placed.denominator == 1 and abs(placed) < LONGEST_INTEGER
    return int(placed) if is_short else float(placed)
