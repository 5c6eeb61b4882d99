"""One table: what was tried, what was seen, what it must come to, and whether it did."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.table import Row as Ratios
from benchmarks.table import shown

_WIDTHS = (58, 40, 14, 6)
_HEADS = ("what", "measured", "bar", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one trial came to.

    Attributes:
        what: What was tried.
        measured: What was seen.
        bar: What it must come to; empty where it is only told.
        held: Whether it did.
    """

    what: str
    measured: str
    bar: str = ""
    held: bool = True

    @property
    def verdict(self) -> str:
        """Whether the bar was held; empty where there is none."""
        if not self.bar:
            return ""
        return "held" if self.held else "missed"


def told(what: str, measured: str) -> Row:
    """A row without a bar."""
    return Row(what=what, measured=measured)


def none_of(what: str, seen: int, among: str = "") -> Row:
    """The row of something that must not have happened.

    Args:
        what: What.
        seen: How often it did.
        among: In how many cases it could have.
    """
    measured = f"{seen:,} of {among}" if among else f"{seen:,}"
    return Row(what=what, measured=measured, bar="0", held=seen == 0)


def at_most(what: str, value: float, limit: float, unit: str, remark: str = "") -> Row:
    """The row of a number that must not exceed a limit.

    Args:
        what: What was measured.
        value: What it came to.
        limit: What it may come to.
        unit: Of both.
        remark: What else to say of the value.
    """
    measured = f"{shown(value)} {unit}".rstrip()
    return Row(
        what=what,
        measured=f"{measured} ({remark})" if remark else measured,
        bar=f"≤ {shown(limit)} {unit}".rstrip(),
        held=value <= limit,
    )


def of_ratio(row: Ratios) -> Row:
    """The row of a ratio of two arms; missed where its whole interval lies beyond the bar."""
    ratio = row.ratio
    interval = "" if ratio is None else f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
    ours, theirs = (times.partition(" (")[0] for times in (row.ours, row.theirs))
    return Row(
        what=row.what,
        measured=f"{interval}, {ours} : {theirs}",
        bar=str(row.bar),
        held=row.verdict == "held",
    )


def heading() -> str:
    """What stands above the rows."""
    return f"{_line(_HEADS)}\n{'-' * (sum(_WIDTHS) + 2 * (len(_WIDTHS) - 1))}"


def written(row: Row) -> str:
    """One row."""
    return _line((row.what, row.measured, row.bar, row.verdict))


def _line(cells: tuple[str, ...]) -> str:
    columns = (f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))
    return "  ".join(columns).rstrip()
