"""Mappings that differ in little are told apart, and made from one another."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
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


@given(MAPPINGS, CHANGES, CHANGES)
def test_what_lies_between_two_mappings_is_found_whether_or_not_they_follow_each_other(
    mapping: Mapping[str, str], first: Mapping[str, str | None], second: Mapping[str, str | None]
) -> None:
    one = patched({"z": "one"}, mapping)
    two = patched(one, first)
    three = patched(two, second)

    for before, after in [(one, two), (two, three), (one, three), (three, one)]:
        assert differing(before, after) == differing(dict(before), dict(after))
        assert missing(before, after) == missing(dict(before), dict(after))


def test_nobody_changes_a_mapping_that_others_read() -> None:
    mapping = patched({}, {"a": "one"})

    for change in ("clear", "pop", "popitem", "setdefault", "update", "__setitem__", "__delitem__"):
        with pytest.raises(TypeError, match="this mapping is read-only"):
            getattr(mapping, change)("a")


@given(MAPPINGS, MAPPINGS)
def test_what_differs_and_what_is_missing_is_the_whole_difference(
    before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    changes: dict[str, str | None] = dict.fromkeys(missing(before, after))
    changes |= {key: after[key] for key in differing(before, after)}

    assert dict(patched(before, changes)) == dict(after)
