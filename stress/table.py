"""The table of a trial: what was measured, the bar, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.table import Row as Ratios
from benchmarks.table import format_number

_WIDTHS = (58, 40, 14, 6)
_HEADS = ("what", "measured", "bar", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measurement.

    Attributes:
        what: The trial.
        measured: The outcome.
        bar: The bound of the outcome; empty for information.
        held: The outcome is within the bound.
    """

    what: str
    measured: str
    bar: str = ""
    held: bool = True

    @property
    def verdict(self) -> str:
        """Return `held` or `missed`; empty without a bar."""
        if not self.bar:
            return ""
        return "held" if self.held else "missed"


def info_row(what: str, measured: str) -> Row:
    """Return a row without a bar."""
    return Row(what=what, measured=measured)


def zero_row(what: str, count: int, among: str = "") -> Row:
    """Return the row of a number that must be 0.

    Args:
        what: The events.
        count: Their number.
        among: The number of cases in which they could happen.
    """
    measured = f"{count:,} of {among}" if among else f"{count:,}"
    return Row(what=what, measured=measured, bar="0", held=count == 0)


def limit_row(what: str, value: float, limit: float, unit: str, remark: str = "") -> Row:
    """Return the row of a number that must not exceed a limit.

    Args:
        what: The quantity.
        value: Its value.
        limit: Its limit.
        unit: Of both.
        remark: Added to the value.
    """
    measured = f"{format_number(value)} {unit}".rstrip()
    return Row(
        what=what,
        measured=f"{measured} ({remark})" if remark else measured,
        bar=f"≤ {format_number(limit)} {unit}".rstrip(),
        held=value <= limit,
    )


def ratio_row(row: Ratios) -> Row:
    """Return the row of a ratio; missed if its whole interval lies beyond the bar."""
    ratio = row.ratio
    interval = "" if ratio is None else f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
    ours, theirs = (times.partition(" (")[0] for times in (row.ours, row.theirs))
    return Row(
        what=row.what,
        measured=f"{interval}, {ours} : {theirs}",
        bar=str(row.bar),
        held=row.verdict == "held",
    )


def format_heading() -> str:
    """Return the heading."""
    return f"{_line(_HEADS)}\n{'-' * (sum(_WIDTHS) + 2 * (len(_WIDTHS) - 1))}"


def format_row(row: Row) -> str:
    """Return a row as a line."""
    return _line((row.what, row.measured, row.bar, row.verdict))


def _line(cells: tuple[str, ...]) -> str:
    columns = (f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))
    return "  ".join(columns).rstrip()
