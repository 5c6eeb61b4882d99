"""A long text costs time in proportion to its length, not to its square."""

from __future__ import annotations

from tests.support.limits import run_attacks


def test_no_long_text_exceeds_its_processor_time() -> None:
    assert len(run_attacks("tests.unit.hostile_texts")) > 8
