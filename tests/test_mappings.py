"""Mappings that differ in little are told apart, and made from one another."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from widgetd.mappings import differing, missing, patched

MAPPINGS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["one", "two", "three"]))
CHANGES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["one", "two", None]))


@given(MAPPINGS, CHANGES)
def test_a_patched_mapping_has_the_changes_in_the_order_of_keys(
    mapping: Mapping[str, str], changes: Mapping[str, str | None]
) -> None:
    before = patched({}, mapping)

    after = patched(before, changes)

    wanted = {key: value for key, value in {**mapping, **changes}.items() if value is not None}
    assert list(after.items()) == sorted(wanted.items())
    assert dict(before) == mapping


@given(MAPPINGS, MAPPINGS)
def test_what_differs_and_what_is_missing_is_the_whole_difference(
    before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    changes: dict[str, str | None] = dict.fromkeys(missing(before, after))
    changes |= {key: after[key] for key in differing(before, after)}

    assert dict(patched(before, changes)) == dict(after)
