"""Offer strings and numbers that a set of facets probably admits, the most plausible first."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from widgetd.schema.json_values import Json
from widgetd.schema.sampling.facets import Facets
from widgetd.schema.sampling.matching import matching
from widgetd.schema.sampling.words import LONG, NASTY, formatted, number, word

LONG_CHARACTERS = 300
MOST_CHARACTERS = 4_000
LONGEST_INTEGER = 2**63
LONGEST_CHARACTERS = 10_000
"""Whoever demands a longer string than this gets none: the schema may demand any."""


def strings(style: str, facets: Facets, name: str, turn: int) -> Iterator[str]:
    """Strings for the property `name`, fitted to the lengths, and to what patterns allow."""
    least = facets.least("minLength")
    if least > LONGEST_CHARACTERS:
        return
    most = facets.most("maxLength", MOST_CHARACTERS)
    if style == "nasty":
        yield _fitted(NASTY, least, most)
    if style == "long":
        yield _fitted(LONG, min(most, max(least, LONG_CHARACTERS)), most)
    for known in facets.all("format"):
        if text := formatted(str(known), turn):
            yield from (text, _lengthened(text, least))
    yield _fitted(word(name, turn), least, most)
    for pattern in facets.all("pattern"):
        for other in (turn, turn + 1, turn + 2):
            yield from matching(str(pattern), other)
    yield from (letter * max(least, 1) for letter in "aA0")
    yield "a" * least


def _fitted(text: str, least: int, most: int) -> str:
    """`text`, repeated or cut, to between `least` and `most` characters."""
    if not text or most <= 0:
        return ""
    whole = text if len(text) >= least else (text + " ") * (least // (len(text) + 1) + 1)
    return whole[: min(max(len(text), least), most)]


def _lengthened(text: str, least: int) -> str:
    """`text` with its last letter repeated until it has `least` characters."""
    return text + text[-1] * (least - len(text))


def numbers(facets: Facets, name: str, turn: int, *, whole: bool) -> Iterator[Json]:
    """Numbers for the property `name`, within the bounds and on the steps."""
    low, high = facets.interval()
    step = facets.step(whole=whole)
    for wanted in (number(name, turn), low, high, turn, 0):
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
