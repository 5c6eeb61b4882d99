"""Snapshots are a function of the files, in any order."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.widgets import build_widget, entry, snapshot_of
from widgetd.base.errors import Finding
from widgetd.server.catalog.change import breaking_changes, difference
from widgetd.server.catalog.snapshot import Entry, Selection, Snapshot

BROKEN = Finding(code="W1301", path="Greeting.widget", problem="it is broken", advice="mend it")


def test_two_files_with_one_tool_name_have_one_owner_in_every_order() -> None:
    claimants = [
        build_widget("Card", path="Card (1).widget", text="copy"),
        build_widget("Card", path="b/Card.widget", text="deep"),
        build_widget("Card", path="Card.widget", text="first"),
    ]
    for order in permutations(claimants):
        snapshot = snapshot_of(*order)

        assert [w.definition.path for w in snapshot.widgets.values()] == ["Card.widget"]
        assert [str(fault) for fault in snapshot.faults.values()] == [
            (
                "Card (1).widget#/name: the tool name 'card' belongs to 'Card.widget'; "
                "give this widget another name, or remove one of the two files"
            ),
            (
                "b/Card.widget#/name: the tool name 'card' belongs to 'Card.widget'; "
                "give this widget another name, or remove one of the two files"
            ),
        ]


MADE = [
    None,
    *(entry(build_widget(name, path=path)) for name in "AB" for path in ("a.widget", "b/a.widget")),
    entry(build_widget("A", path="a.widget"), BROKEN),
    Entry(path="b/a.widget", key="k", widget=None, fault=BROKEN),
]


@given(st.lists(st.sampled_from(MADE), max_size=12))
def test_snapshot_equals_the_files_after_any_sequence_of_changes(steps: list[Entry | None]) -> None:
    files: dict[str, Entry] = {}
    followed = Snapshot.empty()
    for step in steps:
        path = step.path if step else next(iter(files), "a.widget")
        files |= {path: step} if step else {}
        if step is None:
            files.pop(path, None)
        followed = followed.with_changes({path: step})

    assert followed == Snapshot.empty().with_changes(files)
    for ordered in (followed.entries, followed.claims, followed.widgets, followed.faults):
        assert list(ordered) == sorted(ordered)


def test_replicas_with_the_same_files_have_the_same_hashes() -> None:
    one = snapshot_of(build_widget("A"), build_widget("B"))
    other = snapshot_of(build_widget("B"), build_widget("A"))

    assert (one.files, one.generation) == (other.files, other.generation)


def test_stale_widget_changes_the_hash_of_the_files_and_not_of_the_served_widgets() -> None:
    good = snapshot_of(build_widget())
    stale = Snapshot.empty().with_changes(
        {
            "Greeting.widget": Entry(
                path="Greeting.widget", key="other", widget=build_widget(), fault=BROKEN
            )
        }
    )

    assert stale.generation == good.generation
    assert stale.files != good.files
    assert stale.stale == ("greeting",)
    assert stale.refusals == ()


def test_never_valid_file_is_refused_and_not_stale() -> None:
    snapshot = Snapshot.empty().with_changes(
        {"Greeting.widget": Entry(path="Greeting.widget", key="k", widget=None, fault=BROKEN)}
    )

    assert (snapshot.stale, snapshot.refusals) == ((), (BROKEN,))


def test_relevant_settings_are_part_of_both_hashes() -> None:
    entries = {"Greeting.widget": entry(build_widget())}
    plain = Snapshot.empty().with_changes(entries)
    other = Snapshot.empty(settings="strict=True").with_changes(entries)

    assert plain.files != other.files
    assert plain.generation != other.generation


@pytest.mark.parametrize(
    ("selection", "served"),
    [
        (Selection(), ["a", "b"]),
        (Selection(include=frozenset({"travel"})), ["a"]),
        (Selection(include=frozenset({"b"})), ["b"]),
        (Selection(exclude=frozenset({"travel"})), ["b"]),
        (Selection(include=frozenset({"travel"}), exclude=frozenset({"a"})), []),
    ],
)
def test_selection_takes_widgets_by_tag_and_by_name(
    selection: Selection, served: list[str]
) -> None:
    widget = [build_widget("A", path="travel/A.widget"), build_widget("B")]
    snapshot = Snapshot.empty(selection=selection).with_changes(
        {w.definition.path: entry(w) for w in widget}
    )

    assert list(snapshot.widgets) == served


def test_difference_names_added_changed_and_removed_widgets() -> None:
    before = snapshot_of(build_widget("Kept"), build_widget("Changed"), build_widget("Removed"))
    after = snapshot_of(
        build_widget("Kept"), build_widget("Changed", text="Bye"), build_widget("Added")
    )

    change = difference(before, after)

    assert (change.added, change.changed, change.removed) == (
        ("added",),
        ("changed",),
        ("removed",),
    )
    assert change.relisted == ()


def test_new_description_is_a_new_entry_in_a_list() -> None:
    before = snapshot_of(build_widget())
    after = snapshot_of(build_widget(sidecar='description = "Greet somebody."'))

    change = difference(before, after)

    assert change.relisted == ("greeting",)


def test_newly_required_field_is_named_as_breaking() -> None:
    schema = {
        "type": "object",
        "properties": {"who": {"type": "string"}, "how": {"type": "string"}},
    }
    before = snapshot_of(build_widget(schema={**schema, "required": ["who"]}))
    after = snapshot_of(build_widget(schema={**schema, "required": ["who", "how"]}))

    breaking = list(breaking_changes(before, after, difference(before, after)))

    assert [finding.path for finding in breaking] == ["Greeting.widget"]
    assert "how" in breaking[0].problem
