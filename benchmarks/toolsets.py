"""Costs of toolsets for a model, and the quality of the reference's answers.

`python -m benchmarks.toolsets`

A toolset's tools stand in every list that a model reads. A token is taken for four characters of
JSON, as everywhere here. Exits with 1 if a bar was missed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby

from stress.table import Row, format_row, info_row, limit_row
from tests.unit.author.guide.questions import QUESTIONS, find_misses
from widgetd.daemon.wings import ROWS
from widgetd.server.mcp.builtin.table import CORE
from widgetd.server.render.entry import CHARACTERS_OF_A_TOKEN

MOST_TOKENS = {"author": 900, "operate": 350, "pictures": 200}
MOST_OF_ALL = 2_200
"""Of all toolsets together, but for the tools that every server has."""

LEAST_FOUND = 57


def rows() -> Iterator[Row]:
    """Return all rows."""
    total = 0
    ordered = sorted(ROWS, key=lambda row: row.toolset)
    for toolset, tools in groupby(ordered, key=lambda row: row.toolset):
        listed = [tool.entry() for tool in tools if not tool.app_only]
        count = sum(map(len, listed)) // CHARACTERS_OF_A_TOKEN
        total += count if toolset != CORE else 0
        what = f"{toolset}, {len(listed)} tools"
        if most := MOST_TOKENS.get(toolset):
            yield limit_row(what, count, most, "tokens")
        else:
            yield info_row(what, f"{count:,} tokens")
    yield limit_row("all toolsets", total, MOST_OF_ALL, "tokens")
    right = len(QUESTIONS) - len(find_misses())
    what, bar = f"of {len(QUESTIONS)} questions answered in the first three", f"≥ {LEAST_FOUND}"
    yield Row(what=what, measured=str(right), bar=bar, held=right >= LEAST_FOUND)
    plain = len(QUESTIONS) - len(find_misses(plainly=True))
    yield info_row("the same, by the very words alone", str(plain))


def main() -> int:
    """Print the table."""
    missed_bars = 0
    for row in rows():
        print(format_row(row))
        missed_bars += not row.held
    return 1 if missed_bars else 0


if __name__ == "__main__":
    sys.exit(main())
