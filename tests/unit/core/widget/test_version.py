"""Versions are in the order that Semantic Versioning gives them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from widgetd.core.widget.sidecar import parse_precedence

ORDERED = [
    "0.9",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.9",
    "1.10",
]


@pytest.mark.parametrize(("older", "newer"), list(pairwise(ORDERED)))
def test_versions_are_ordered(older: str, newer: str) -> None:
    before, after = parse_precedence(older), parse_precedence(newer)

    assert before is not None
    assert after is not None
    assert before < after


def test_build_metadata_and_trailing_zeros_are_ignored() -> None:
    assert parse_precedence("1.5") == parse_precedence("1.5.0") == parse_precedence("1.5.0+build.7")


@pytest.mark.parametrize("text", ["", "new", "1.", "v1", "1..2", "1.0\n", "1.0-", "²", "9" * 10])
def test_invalid_version_has_no_order(text: str) -> None:
    assert parse_precedence(text) is None
