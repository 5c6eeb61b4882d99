"""Differences between two versions, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.support.widgets import build_widget, snapshot_of
from widgetd.author.uploads.history import History, diff_versions
from widgetd.base.files.persistent_map import patch

REQUIRED = {
    "type": "object",
    "properties": {"who": {"type": "string"}, "to": {"type": "string"}},
    "required": ["who", "to"],
}


def test_history_lists_only_changed_parts() -> None:
    difference = diff_versions(build_widget(text="Hello"), build_widget(text="Bye"))

    assert [name for name, _ in difference.parts] == ["What it draws", "Template"]
    changes = dict(difference.parts)["What it draws"]
    assert [line.strip() for line in changes if "Hello" in line or "Bye" in line] != []
    assert difference.breaking == ()


def test_history_names_breaking_changes() -> None:
    difference = diff_versions(build_widget(), build_widget(schema=REQUIRED))

    assert [finding.code for finding in difference.breaking] == ["W1502"]
    assert "Schema" in dict(difference.parts)


def test_equal_versions_do_not_differ() -> None:
    assert diff_versions(build_widget(), build_widget()).parts == ()


def test_previous_version_is_remembered_until_the_widget_is_removed() -> None:
    history, first, second = History(), build_widget(text="A"), build_widget(text="B")
    history.record(snapshot_of(first), snapshot_of(second))
    known = history.before(second, lambda _: True)
    history.record(snapshot_of(second), snapshot_of())

    assert known is first
    assert history.before(second, lambda _: True) is None


def test_version_before_is_hidden_from_readers_who_did_not_see_it() -> None:
    history, first, second = History(), build_widget(text="A"), build_widget(text="B")
    history.record(snapshot_of(first), snapshot_of(second))

    assert history.before(second, lambda one: one is second) is None


def test_swap_among_thousands_compares_only_changed_widgets() -> None:
    one: Any = _Version("one")
    other: Any = _Version("other")
    versions: dict[str, Any] = {str(number): _Version("kept") for number in range(5_000)}
    before = replace(snapshot_of(), widgets=patch(patch({}, versions), {"t": one}))
    after = replace(before, widgets=patch(before.widgets, {"t": other}))
    history = History()

    history.record(before, after)

    assert sum(version.looked_at for version in versions.values()) == 0
    assert history.before(other, lambda _: True) is one


@dataclass
class _Version:
    """A widget that counts the reads of a history."""

    text: str
    tool: str = "t"
    looked_at: int = 0

    @property
    def key(self) -> str:
        self.looked_at += 1
        return self.text
