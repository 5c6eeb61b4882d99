"""Persistent mappings: small differences are found and applied without a copy."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd.base.files.persistent_map import (
    FEW,
    MOST_APART,
    key_set,
    list_below,
    list_differing,
    list_missing,
    patch,
)

MAPPINGS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["one", "two", "three"]))
CHANGES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["one", "two", None]))


@pytest.fixture(params=[0, FEW], autouse=True, scope="module")
def few(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let mappings share their common parts, or rebuild them at every change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("widgetd.base.files.persistent_map.FEW", request.param)
        yield


@given(MAPPINGS, CHANGES)
def test_patched_mapping_has_the_changes_in_the_order_of_keys(
    mapping: Mapping[str, str], changes: Mapping[str, str | None]
) -> None:
    before = patch({}, mapping)

    after = patch(before, changes)

    wanted = {key: value for key, value in {**mapping, **changes}.items() if value is not None}
    assert list(after.items()) == sorted(wanted.items())
    assert dict(before) == mapping


@given(MAPPINGS, CHANGES, CHANGES)
def test_difference_of_any_two_mappings_is_found(
    mapping: Mapping[str, str], first: Mapping[str, str | None], second: Mapping[str, str | None]
) -> None:
    one = patch({"z": "one"}, mapping)
    two = patch(one, first)
    three = patch(two, second)

    for before, after in [(one, two), (two, three), (one, three), (three, one)]:
        assert list_differing(before, after) == list_differing(dict(before), dict(after))
        assert list_missing(before, after) == list_missing(dict(before), dict(after))


def test_mapping_does_not_change_with_its_successors() -> None:
    one = patch({}, {f"{number:04}": "one" for number in range(2 * MOST_APART)})
    mapping = one
    for number in range(MOST_APART + 10):
        mapping = patch(mapping, {f"{number:04}": "two"})

    assert set(one.values()) == {"one"}
    assert [key for key, value in mapping.items() if value == "two"] == sorted(one)[
        : MOST_APART + 10
    ]
    assert list(mapping) == list(one)


class Entry:
    """Can be seen to be gone."""


def test_old_mapping_is_released_after_a_bounded_number_of_changes() -> None:
    mapping = patch({}, {f"{number:04}": Entry() for number in range(2 * MOST_APART)})
    value = weakref.ref(mapping["0000"])
    for number in range(MOST_APART + 1):
        mapping = patch(mapping, {f"{number:04}": Entry()})

    assert value() is None


def test_mappings_with_other_values_are_known_to_have_the_same_keys() -> None:
    one = patch({}, {"a": "one", "b": "one"})

    assert key_set(patch(one, {"a": "two"})) is key_set(one)
    assert key_set(patch(one, {"c": "one"})) is not key_set(one)
    assert key_set(patch(one, {"a": None})) is not key_set(one)
    assert key_set({"a": "one"}) is not key_set({"a": "one"})


@given(st.sets(st.text("ab/", max_size=6)), st.text("ab/", max_size=3))
def test_keys_with_a_prefix_are_found_in_order(keys: set[str], prefix: str) -> None:
    wanted = sorted(key for key in keys if key.startswith(prefix))

    assert list_below(patch({}, dict.fromkeys(keys, "one")), prefix) == wanted
    assert list_below(dict.fromkeys(sorted(keys), "one"), prefix) == wanted


def test_shared_mapping_does_not_change() -> None:
    mapping: Any = patch({}, {"a": "one"})

    with pytest.raises(TypeError, match="does not support item assignment"):
        mapping["a"] = "two"
    with pytest.raises(TypeError, match="does not support item deletion"):
        del mapping["a"]
    assert not {"clear", "pop", "popitem", "setdefault", "update"} & set(dir(mapping))


@given(MAPPINGS, MAPPINGS)
def test_difference_is_changed_and_missing_keys(
    before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    changes: dict[str, str | None] = dict.fromkeys(list_missing(before, after))
    changes |= {key: after[key] for key in list_differing(before, after)}

    assert dict(patch(before, changes)) == dict(after)
