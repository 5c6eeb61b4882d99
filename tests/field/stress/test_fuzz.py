"""Files spoilt at random are judged: a short `make fuzz`, without its clock."""

from __future__ import annotations

from stress.fuzz import measure


def test_fuzzer_finds_nothing_in_a_moment() -> None:
    assert [row.what for row in measure(seconds=3, seed=0) if not row.held] == []
