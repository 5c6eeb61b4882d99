"""A list is built once per generation, and its pages survive a swap."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.widgets import build_widget, bundled_widgets, snapshot_of
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import Audience, SnapshotViews
from widgetd.server.catalog.change import difference
from widgetd.server.catalog.snapshot import Selection, Snapshot
from widgetd.server.mcp.builtin.table import BuiltinTools
from widgetd.server.mcp.limits import LIMITS as MCP_LIMITS
from widgetd.server.mcp.listing import Expose, ToolListings
from widgetd.server.render.entry import tokens_of_entry, tool_entry

WITH_ICON = '{"type": "Card", "children": [{"type": "Icon", "name": "calendar"}]}'


def listings(
    page_size: int = 0, expose: Expose = "tools", list_tokens: int = MCP_LIMITS.list_tokens
) -> ToolListings:
    return ToolListings(
        tool_entry, BuiltinTools(()), expose=expose, list_tokens=list_tokens, page_size=page_size
    )


def tool_names(page: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in page["tools"]]


def make_snapshot(*letters: str) -> Snapshot:
    return snapshot_of(*(build_widget(letter) for letter in letters))


def test_pages_continue_after_a_removed_name() -> None:
    several = listings(page_size=2)
    first = several.of(make_snapshot("a", "b", "c", "d")).page()
    second = several.of(make_snapshot("a", "c", "d", "e")).page(first["nextCursor"])
    third = several.of(make_snapshot("a", "c", "d", "e")).page(second["nextCursor"])

    assert (tool_names(first), tool_names(second), tool_names(third)) == (
        ["a", "b"],
        ["c", "d"],
        ["e"],
    )
    assert "nextCursor" not in third


def test_list_of_a_snapshot_is_built_once() -> None:
    snapshot, several = make_snapshot("a", "b"), listings()

    assert several.of(snapshot) is several.of(snapshot)
    assert several.of(snapshot).encode() is several.of(snapshot).encode()


def test_unknown_cursor_is_answered_and_not_cached() -> None:
    listing = listings(page_size=2).of(make_snapshot("a", "b", "c", "d"))

    assert tool_names(listing.page("a")) == ["b", "c"]
    assert listing.encode("a") is not listing.encode("a")


def test_authors_schema_is_listed_verbatim_without_generous_lengths() -> None:
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "who": {"$ref": "#/$defs/name"},
            "more": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "any": True,
        },
        "required": ["who"],
        "$defs": {"name": {"type": "string", "minLength": 2, "maxLength": 59}},
        "x-of-the-author": [1, 2.5, {"a": None}],
    }
    lengths = {"minLength": 1, "maxLength": 60}
    written = {**schema, "$defs": {"name": schema["$defs"]["name"], "of": lengths}}
    schema["$defs"]["of"] = {}
    listing = listings().of(snapshot_of(build_widget(schema=written)))

    assert listing.page()["tools"][0]["inputSchema"] == schema


def test_tool_has_the_first_icon_of_its_widget() -> None:
    plain, iconic = (
        listings().of(snapshot_of(one))
        for one in (build_widget(), build_widget(template=WITH_ICON))
    )

    assert "icons" not in plain.page()["tools"][0]
    (icon,) = iconic.page()["tools"][0]["icons"]
    assert icon["src"].startswith("data:image/svg+xml;base64,")
    assert len(icon["src"]) <= 1024


def test_default_draft_is_not_listed() -> None:
    schema = {"type": "object", "properties": {"$schema": {"type": "string"}}}
    listed_schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}

    assert listings().of(snapshot_of(build_widget(schema=listed_schema))).page()["tools"][0][
        "inputSchema"
    ] == {**schema}


def test_widget_is_listed_as_a_read_only_tool() -> None:
    listing = listings().of(snapshot_of(build_widget(sidecar='title = "A greeting"')))

    entry = listing.page()["tools"][0]

    assert entry["title"] == "A greeting"
    assert entry["annotations"] == {
        "readOnlyHint": True,
        "idempotentHint": True,
        "destructiveHint": False,
        "openWorldHint": False,
    }
    assert "outputSchema" not in entry


def test_search_mode_lists_only_pinned_widgets() -> None:
    snapshot = snapshot_of(build_widget("a"), build_widget("b", sidecar='tags = ["pinned"]'))

    assert tool_names(listings(expose="search").of(snapshot).page()) == ["b"]


def test_auto_mode_depends_on_the_tokens_of_the_list() -> None:
    one = tokens_of_entry(tool_entry(build_widget("w0")))
    few, many = (listings(expose="auto", list_tokens=9 * one) for _ in range(2))
    nine, ten = (
        snapshot_of(*(build_widget(f"w{at}") for at in range(number))) for number in (9, 10)
    )

    assert len(tool_names(few.of(nine).page())) == 9
    assert len(tool_names(few.of(ten).page())) == 10
    assert tool_names(many.of(ten).page()) == []


def test_auto_lists_the_bundled_widgets() -> None:
    bundled_ones = snapshot_of(*bundled_widgets())

    assert len(tool_names(listings(expose="auto").of(bundled_ones).page())) == 27


@pytest.mark.parametrize(
    ("expose", "before", "after", "otherwise"),
    [
        ("tools", build_widget(), build_widget(text="Bye"), False),
        ("tools", build_widget(), build_widget(sidecar='description = "Greet."'), True),
        ("tools", build_widget(), build_widget(template=WITH_ICON), True),
        ("search", build_widget(), build_widget(sidecar='description = "Greet."'), False),
        ("search", build_widget(), build_widget(sidecar='tags = ["pinned"]'), True),
        ("search", build_widget(sidecar='tags = ["pinned"]'), build_widget(), True),
        ("search", build_widget("A"), build_widget("B"), True),
    ],
)
def test_clients_fetch_the_list_again_only_when_it_reads_otherwise(
    expose: Expose, before: Widget, after: Widget, *, otherwise: bool
) -> None:
    was, now = snapshot_of(before), snapshot_of(after)

    assert listings(expose=expose).has_changed(was, now, difference(was, now)) is otherwise


def test_auto_decides_the_same_for_any_first_client() -> None:
    listing = listings(expose="auto", list_tokens=200)
    crowd = snapshot_of(*(build_widget(f"w{number}") for number in range(9)))
    some = Audience(selection=Selection(include=frozenset({"w1", "w2"})))

    assert tool_names(listing.of(SnapshotViews().of(crowd, some)).page()) == []
    assert tool_names(listing.of(crowd).page()) == []
