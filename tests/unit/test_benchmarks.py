"""The verdicts of the tables of ratios."""

from __future__ import annotations

import pytest

from benchmarks.ratios import Ratio
from benchmarks.table import Bar, at_least, at_most


@pytest.mark.parametrize(
    ("bar", "value", "low", "high", "verdict"),
    [
        (at_most(0.45), 0.40, 0.39, 0.41, "held"),
        (at_most(0.45), 0.44, 0.40, 0.48, "held"),
        (at_most(0.45), 0.477, 0.44, 0.51, "unclear"),
        (at_most(0.45), 0.477, 0.46, 0.51, "missed"),
        (at_least(2), 2.1, 1.9, 2.3, "held"),
        (at_least(2), 1.9, 1.7, 2.1, "unclear"),
        (at_least(2), 1.9, 1.8, 1.99, "missed"),
    ],
)
def test_bar_is_held_by_its_value_and_missed_by_its_interval(
    bar: Bar, value: float, low: float, high: float, verdict: str
) -> None:
    assert bar.judge(Ratio(value=value, low=low, high=high)) == verdict
