"""One table of ratios, written row by row as they are measured.

A bar is held if the measured value is within it. Beyond it, the verdict is `unclear` while the
interval contains the bar, as on a noisy machine, and `missed` otherwise.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.ratios import Pairs, Ratio, Statistic, median, percentile, ratio

_WIDTHS = (50, 8, 8, 16, 8, 26, 26, 6)
_HEADS = ("", "bar", "ratio", "interval", "verdict", "this p50 (p10-p90)", "against", "pairs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The limit of a ratio.

    Attributes:
        limit: The ratio.
        upward: Whether it must reach the limit; else it must not exceed it.
    """

    limit: float
    upward: bool

    def __str__(self) -> str:
        return f"{'≥' if self.upward else '≤'} {self.limit:.3g}"

    def judge(self, ratio: Ratio) -> str:
        """Return `held`, `unclear` or `missed`."""
        if ratio.value >= self.limit if self.upward else ratio.value <= self.limit:
            return "held"
        return "unclear" if ratio.low <= self.limit <= ratio.high else "missed"


def at_most(limit: float) -> Bar:
    """Build the bar of a ratio that must not exceed `limit`."""
    return Bar(limit=limit, upward=False)


def at_least(limit: float) -> Bar:
    """Build the bar of a ratio that must reach `limit`."""
    return Bar(limit=limit, upward=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The result of one measurement.

    Attributes:
        what: What was measured, against what.
        bar: The limit; None if the row is only reported.
        ratio: What it came to; None where it could not be measured.
        ours: The times of this arm, for people.
        theirs: Those of the other.
        pairs: How many pairs there were.
        remark: What else to know.
    """

    what: str
    bar: Bar | None = None
    ratio: Ratio | None = None
    ours: str = ""
    theirs: str = ""
    pairs: int = 0
    remark: str = ""

    @property
    def verdict(self) -> str:
        """The outcome against the bar."""
        if self.ratio is None:
            return "none"
        return "" if self.bar is None else self.bar.judge(self.ratio)


def compare_arms(
    what: str, bar: Bar, pairs: Pairs, *, statistic: Statistic = median, remark: str = ""
) -> Row:
    """Build the row of `pairs`, ours over theirs."""
    return Row(
        what=what,
        bar=bar,
        ratio=ratio(pairs, statistic),
        ours=spread(pairs.ours),
        theirs=spread(pairs.theirs),
        pairs=len(pairs),
        remark=remark,
    )


def spread(seconds: Iterable[float]) -> str:
    """Format the median of some times and the range of the middle 80 %."""
    ms = [second * 1000 for second in seconds]
    low, middle, high = (format_number(percentile(ms, rank)) for rank in (10, 50, 90))
    return f"{middle} ms ({low}-{high})"


def format_number(number: float) -> str:
    """Format a number with three digits, or as an integer from 1,000."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def heading() -> str:
    """Return the head of the table."""
    return f"{_line(_HEADS)}\n{'-' * (sum(_WIDTHS) + 2 * len(_WIDTHS))}"


def format_row(row: Row) -> str:
    """Format one row with its remark below it."""
    value, interval = "", ""
    if row.ratio is not None:
        value = f"{row.ratio.value:.3g}"
        interval = f"{row.ratio.low:.3g} to {row.ratio.high:.3g}"
    bar = "" if row.bar is None else str(row.bar)
    pairs = str(row.pairs or "")
    cells = (row.what, bar, value, interval, row.verdict, row.ours, row.theirs, pairs)
    remark = textwrap.indent(textwrap.fill(row.remark, sum(_WIDTHS)), "    ")
    return f"{_line(cells)}\n{remark}" if remark else _line(cells)


def _line(cells: Iterable[str]) -> str:
    columns = (f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))
    return "  ".join(columns).rstrip()
