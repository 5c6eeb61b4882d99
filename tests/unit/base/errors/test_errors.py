"""Suggestions for a wrong name, among few and among many."""

from __future__ import annotations

import pytest

from widgetd.base.text_search import nearest

FEW = ("flight_tracker", "weather_current", "weather_forecast")
MANY = tuple(f"widget_{number:04}" for number in range(5000)) + FEW


@pytest.mark.parametrize("known", [FEW, MANY])
@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("flight_traker", "flight_tracker"),
        ("wether_current", "weather_current"),
        ("flihgt_tracker", "flight_tracker"),
        ("leather_forecast", "weather_forecast"),
        ("zzz", None),
    ],
)
def test_misspelling_is_recognised(
    known: tuple[str, ...], name: str, suggestion: str | None
) -> None:
    assert nearest(name, known) == suggestion
