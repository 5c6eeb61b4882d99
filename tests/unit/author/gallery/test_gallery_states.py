"""States show values that a schema admits, and no others."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from tests.support.widgets import build_widget
from widgetd.core.widget.states import list_states, show_state

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 20},
        "kind": {"enum": ["small", "large"]},
        "rows": {"type": "array", "items": {"type": "string"}, "maxItems": 9},
    },
    "required": ["title", "kind", "rows"],
    "additionalProperties": False,
}
TEMPLATE = '{"type":"Card","children":[{"type":"Text","value":{{ title | tojson }}}]}'
SIDECAR = """
[[examples]]
name = "two rows"
arguments = { title = "Boats at the pier", kind = "large", rows = ["Skiff", "Canoe"] }
"""


@pytest.fixture
def widget() -> Any:
    return build_widget(schema=SCHEMA, template=TEMPLATE, sidecar=SIDECAR)


def test_authors_examples_are_listed_among_the_states(widget: Any) -> None:
    assert [(state.key, state.label) for state in list_states(widget)] == [
        ("sample", "Sample"),
        ("example-1", "two rows"),
        ("empty", "Empty lists"),
        ("one", "One of each"),
        ("many", "Many of each"),
        ("long", "Long text"),
        ("rtl", "Right to left"),
        ("emoji", "Emoji"),
    ]


def test_every_state_is_valid_for_the_schema(widget: Any) -> None:
    for state in list_states(widget):
        assert widget.schema.admits(show_state(widget, state.key).arguments), state.key


@pytest.mark.parametrize(("key", "rows"), [("empty", 0), ("one", 1)])
def test_lists_are_as_long_as_the_state_requires(widget: Any, key: str, rows: int) -> None:
    assert len(show_state(widget, key).arguments["rows"]) == rows


def test_text_from_right_to_left_replaces_words_and_no_constants(widget: Any) -> None:
    arguments = show_state(widget, "rtl").arguments

    assert unicodedata.bidirectional(arguments["title"][0]) == "AL"
    assert all(unicodedata.bidirectional(row[0]) == "AL" for row in arguments["rows"])
    assert arguments["kind"] == "large"


def test_text_is_no_longer_than_the_schema_allows(widget: Any) -> None:
    assert len(show_state(widget, "emoji").arguments["title"]) <= 20


def test_unknown_state_shows_the_sample(widget: Any) -> None:
    assert show_state(widget, "nonsense").arguments == show_state(widget, "sample").arguments
