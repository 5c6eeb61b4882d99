"""The package's English gets no worse: these limits are lowered by each commit that can."""

from __future__ import annotations

from functools import cache

from benchmarks.language import Language
from benchmarks.language import measure as measure_package


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
