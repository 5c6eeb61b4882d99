"""The package's English gets no worse: these limits are lowered by each commit that can."""

from __future__ import annotations

from benchmarks.language import measure

LANGUAGE = measure()


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    assert LANGUAGE.openings_percent <= 0.1, "\n".join(LANGUAGE.openings)


def test_docstrings_name_the_caller_the_client_or_the_user() -> None:
    assert LANGUAGE.indefinite_percent <= 0.1, "\n".join(LANGUAGE.indefinite)


def test_functions_are_named_by_verbs() -> None:
    assert len(LANGUAGE.participles) <= 4, "\n".join(LANGUAGE.participles)


def test_a_class_name_exists_once() -> None:
    assert LANGUAGE.repeated == ()
