"""Refuse the patterns of a schema that cannot be matched, or compiled, quickly.

Which engine matches is the caller's knowledge; here stand the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from widgetd.errors import WidgetError
from widgetd.schema.document import Document
from widgetd.schema.references import fault
from widgetd.schema.subschemas import pointer

Weight = Literal["small", "large", "backtracking", "refused"]

MOST = 200
# Large ones take up to 50 ms each to compile.
MOST_LARGE = 4


def refuse_patterns(document: Document, weigh: Callable[[str], Weight]) -> None:
    """Hold every pattern in `document` to what the engine can promise.

    Raises:
        WidgetError: A pattern is unusable (W1205), or there are too many (W1203).
    """
    large = 0
    for count, (at, pattern) in enumerate(_patterns(document), start=1):
        if count > MOST:
            raise fault("W1203", at, f"there are more than {MOST} patterns", "use formats")
        weight = weigh(pattern)
        if weight == "large":
            large += 1
        elif weight != "small":
            raise _unusable(at, pattern, weight)
        if large > MOST_LARGE:
            problem = f"more than {MOST_LARGE} patterns are large once written out"
            raise fault("W1203", at, problem, "use maxLength for long repetitions")


def _patterns(document: Document) -> Iterator[tuple[str, str]]:
    for schema in document.subschemas():
        at = document.at(schema)
        if isinstance(pattern := schema.get("pattern"), str):
            yield at + pointer("pattern"), pattern
        if isinstance(named := schema.get("patternProperties"), dict):
            for pattern in named:
                yield at + pointer("patternProperties", pattern), pattern


def _unusable(at: str, pattern: str, weight: Weight) -> WidgetError:
    shown = pattern if len(pattern) <= 80 else pattern[:79] + "…"
    if weight == "backtracking":
        problem = f"the pattern '{shown}' needs look-around or a back reference"
        advice = "write it without, so that it can be matched in linear time"
    else:
        problem = f"the pattern '{shown}' is no regular expression, or too large a one"
        advice = "write one that can be matched in linear time"
    return fault("W1205", at, problem, advice)
