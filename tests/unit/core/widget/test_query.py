"""Expressions over an upstream's answer cost no more than their budget."""

from __future__ import annotations

import pytest

from widgetd.base.errors import CallError
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.query import compile_query

GIVEN = {"long": "x" * 60_000, "many": [""] * 40_000}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("join(long, many)", f"it takes more than {LIMITS.query_values:,} steps"),
        ("ceil(`1e400`)", "it fails here"),
        ("floor(to_number('inf'))", "it fails here"),
        ("[" + "long," * 100 + "long]", f"it finds more than {LIMITS.query_values:,} values"),
    ],
    ids=["join", "ceil", "floor", "one text often"],
)
def test_query_above_the_budget_is_reported(text: str, problem: str) -> None:
    with pytest.raises(CallError) as caught:
        compile_query(text).find(GIVEN)

    assert caught.value.message.endswith(f"cannot be used: {problem}")


def test_affordable_join_is_made() -> None:
    assert compile_query("join(', ', [@, @])").find("a") == "a, a"
