"""Costs of toolsets for a model, and the quality of the reference's answers.

`python -m benchmarks.toolsets`

A toolset's tools stand in every list that a model reads. A token is taken for four characters of
JSON, as everywhere here. Exits with 1 if a bar was missed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from tests.unit.author.guide.questions import QUESTIONS, find_misses
from widgetd.daemon.wings import ROWS
from widgetd.server.mcp.builtin.table import CORE
from widgetd.server.render.entry import CHARACTERS_OF_A_TOKEN

MOST_TOKENS = {"author": 900, "operate": 350, "pictures": 200}
MOST_OF_ALL = 2_200
"""Of all toolsets together, but for the tools that every server has."""

LEAST_FOUND = 57


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of the table.

    Attributes:
        what: What was counted.
        count: How much it came to.
        bar: The limit; empty if the row is only reported.
        held: Whether it does.
    """

    what: str
    count: int
    bar: str = ""
    held: bool = True


def lines() -> Iterator[Line]:
    """Return all rows."""
    total = 0
    ordered = sorted(ROWS, key=lambda row: row.toolset)
    for toolset, rows in groupby(ordered, key=lambda row: row.toolset):
        listed = [row.entry() for row in rows if not row.app_only]
        count = sum(map(len, listed)) // CHARACTERS_OF_A_TOKEN
        total += count if toolset != CORE else 0
        what = f"tokens of {toolset}, {len(listed)} tools"
        most = MOST_TOKENS.get(toolset)
        if most is None:
            yield Line(what=what, count=count)
        else:
            yield Line(what=what, count=count, bar=f"≤ {most:,}", held=count <= most)
    yield Line(
        what="tokens of all toolsets",
        count=total,
        bar=f"≤ {MOST_OF_ALL:,}",
        held=total <= MOST_OF_ALL,
    )
    right = len(QUESTIONS) - len(find_misses())
    what = f"of {len(QUESTIONS)} questions answered in the first three"
    yield Line(what=what, count=right, bar=f"≥ {LEAST_FOUND}", held=right >= LEAST_FOUND)
    plain = len(QUESTIONS) - len(find_misses(plainly=True))
    yield Line(what="the same, by the very words alone", count=plain)


def main() -> int:
    """Print the table."""
    missed_bars = 0
    for line in lines():
        verdict = ("held" if line.held else "MISSED") if line.bar else ""
        print(f"{line.what:<50}{line.count:>8,}  {line.bar:<10}{verdict}")
        missed_bars += not line.held
    return 1 if missed_bars else 0


if __name__ == "__main__":
    sys.exit(main())
