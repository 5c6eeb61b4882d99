"""Combine the keywords of several schemas for a value, and make fitting strings and numbers.

Alternatives and conditions must be chosen before. Of the other keywords, the tightest counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm

from widgetd.core.schema.json_values import TYPES, Json, equality_key, is_number
from widgetd.core.schema.keywords import Subschema, guess_type, list_types
from widgetd.core.schema.limits import LIMITS
from widgetd.core.schema.sampling.pattern_strings import make_pattern_strings
from widgetd.core.schema.sampling.words import (
    LONG,
    NASTY,
    choose_number,
    choose_word,
    make_formatted,
)

LONGEST_INTEGER = 2**63


@dataclass(frozen=True, slots=True)
class Constraints:
    """The combined keywords of `parts`."""

    parts: Sequence[Mapping[str, Json]]

    def all(self, keyword: str) -> Iterator[Json]:
        return (part[keyword] for part in self.parts if keyword in part)

    def bounds(self, keyword: str) -> list[float]:
        return [bound for bound in self.all(keyword) if is_number(bound)]

    def least(self, keyword: str, otherwise: int = 0) -> int:
        """Return the highest lower bound of `keyword`."""
        return int(max(self.bounds(keyword), default=otherwise))

    def most(self, keyword: str, otherwise: int) -> int:
        """Return the lowest upper bound of `keyword`."""
        return int(min(self.bounds(keyword), default=otherwise))

    def types(self) -> tuple[str, ...]:
        """Return the admitted types, in the author's order, `integer` only if it must be."""
        named = [names for part in self.parts if (names := list_types(part))]
        if not named:
            return TYPES
        return tuple(
            kind
            for kind in dict.fromkeys(kind for names in named for kind in names)
            if all(kind in names or (kind == "integer" and "number" in names) for names in named)
        )

    def likely_type(self) -> str:
        return guess_type({keyword for part in self.parts for keyword in part}) or "string"

    def choices(self) -> list[Json] | None:
        """Return the choices of `enum` and `const` together, or None without either."""
        offers = [*self.all("enum"), *([only] for only in self.all("const"))]
        if not offers:
            return None
        offered = [{equality_key(choice) for choice in offer} for offer in offers[1:]]
        return [
            choice for choice in offers[0] if all(equality_key(choice) in keys for keys in offered)
        ]

    def examples(self) -> Iterator[Json]:
        for examples in self.all("examples"):
            yield from examples if isinstance(examples, list) else ()
        yield from self.all("default")

    def interval(self) -> tuple[float | None, float | None]:
        """Return the inclusive bounds of a number. Exclusive bounds are moved inwards by a step."""
        lows, highs = self.bounds("minimum"), self.bounds("maximum")
        above, below = self.bounds("exclusiveMinimum"), self.bounds("exclusiveMaximum")
        for part in self.parts:  # draft 4 marks the bound itself as exclusive
            for exclusive, keyword, bounds in (
                ("exclusiveMinimum", "minimum", above),
                ("exclusiveMaximum", "maximum", below),
            ):
                if part.get(exclusive) is True and is_number(part.get(keyword)):
                    bounds.append(part[keyword])
        limits = [*lows, *highs, *above, *below]
        # Small enough to stay between any two bounds.
        step = min([1, *(abs(a - b) / 4 for a in limits for b in limits if a != b)])
        low = max([*lows, *(bound + step for bound in above)], default=None)
        high = min([*highs, *(bound - step for bound in below)], default=None)
        return low, high

    def step(self, *, whole: bool) -> Fraction | None:
        steps = [Fraction(str(step)) for step in self.all("multipleOf")]
        if whole:
            steps.append(Fraction(1))
        if not steps:
            return None
        bottom = lcm(*(step.denominator for step in steps))
        return Fraction(lcm(*(int(step * bottom) for step in steps)), bottom)


def combine(schemas: Sequence[Subschema]) -> Subschema:
    if False in schemas:
        return False
    once = list({id(schema): schema for schema in schemas if schema is not True}.values())
    if len(once) > 1:
        return {"allOf": once}
    return once[0] if once else True


def make_strings(style: str, constraints: Constraints, name: str, ordinal: int) -> Iterator[str]:
    """Yield strings for the property `name`, fitted to the lengths, and to patterns if possible."""
    least = constraints.least("minLength")
    if least > LIMITS.required_text_chars:
        return
    most = constraints.most("maxLength", LIMITS.text_chars)
    if style == "nasty":
        yield _fit(NASTY, least, most)
    if style == "long":
        yield _fit(LONG, min(most, max(least, LIMITS.long_text_chars)), most)
    for format_name in constraints.all("format"):
        if text := make_formatted(str(format_name), ordinal):
            yield from (text, text + text[-1] * (least - len(text)))
    yield _fit(choose_word(name, ordinal), least, most)
    for pattern in constraints.all("pattern"):
        for other in (ordinal, ordinal + 1, ordinal + 2):
            yield from make_pattern_strings(str(pattern), other)
    yield from (letter * max(least, 1) for letter in "aA0")
    yield "a" * least


def _fit(text: str, least: int, most: int) -> str:
    if not text or most <= 0:
        return ""
    whole = text if len(text) >= least else (text + " ") * (least // (len(text) + 1) + 1)
    return whole[: min(max(len(text), least), most)]


def make_numbers(
    constraints: Constraints, name: str, ordinal: int, *, whole: bool
) -> Iterator[Json]:
    """Yield numbers for the property `name`, within the bounds and on the steps."""
    low, high = constraints.interval()
    step = constraints.step(whole=whole)
    for wanted in (choose_number(name, ordinal), low, high, ordinal, 0):
        if wanted is not None:
            yield _place_number(wanted, low, high, step)


def _place_number(
    wanted: float, low: float | None, high: float | None, step: Fraction | None
) -> Json:
    if low is not None and wanted < low:
        wanted = low
    if high is not None and wanted > high:
        wanted = high
    if step is None:
        return wanted
    exact = Fraction(str(wanted)) / step
    up = ceil(exact) * step
    placed = up if high is None or up <= high else floor(exact) * step
    # Many readers of JSON cannot hold a larger integer.
    is_short = placed.denominator == 1 and abs(placed) < LONGEST_INTEGER
    return int(placed) if is_short else float(placed)
