"""The package's English gets no worse: these limits are lowered by each commit that can."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from benchmarks.language import ROOT, Language, Prose, wing_of
from benchmarks.language import measure as measure_package

PROSE = {
    "base": Prose(31, 12, 14),
    "core": Prose(6, 2, 1),
    "server": Prose(6, 3, 1),
    "upstreams": Prose(4, 3, 1),
    "author": Prose(4, 2, 1),
    "chat": Prose(5, 1, 0),
    "shell": Prose(13, 5, 5),
}
"""Most relative pronouns, one/ones and semicolons per 1,000 words; the aim is 15, 4 and 4."""

PRONOUNS = {"base": 2, "shell": 15}
"""Most variables, parameters and attributes named *one*, *found* and the like; the aim is 0."""


@cache
def measure() -> Language:
    """Measure the package once, and not while tests are collected."""
    return measure_package()


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    assert measure().openings == (), "\n".join(measure().openings)


def test_docstrings_name_the_caller_the_client_or_the_user() -> None:
    assert measure().indefinite == (), "\n".join(measure().indefinite)


def test_functions_are_named_by_verbs() -> None:
    assert measure().participles == (), "\n".join(measure().participles)


def test_class_name_exists_once() -> None:
    assert measure().repeated == ()


@pytest.mark.parametrize("wing", PROSE)
def test_prose_of_a_wing_gets_no_heavier(wing: str) -> None:
    prose = measure().prose[wing]

    assert all(count <= most for count, most in zip(prose, PROSE[wing], strict=True)), prose


def test_values_are_named_after_their_things() -> None:
    names = measure().pronouns
    counts = Counter(wing_of(ROOT / place.partition(":")[0]) for place in names)

    assert {wing: n for wing, n in counts.items() if n > PRONOUNS.get(wing, 0)} == {}, "\n".join(
        names
    )
