"""Whatever the bundled widgets offer can be done, and is described in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from widgetd.catalog.loader import discover_widgets
from widgetd.schema.validator import compile_schema
from widgetd.settings import bundled
from widgetd.widget.actions import has_actions, tree_actions, widget_actions
from widgetd.widget.widget import Widget

WIDGETS = discover_widgets(bundled())


def trees(widget: Widget) -> Iterator[Mapping[str, Any]]:
    for example in widget.definition.sidecar.examples:
        yield widget.call(example.arguments).tree


@pytest.mark.parametrize("widget", WIDGETS, ids=[widget.tool for widget in WIDGETS])
def test_the_smallest_payload_of_each_offered_action_is_accepted(widget: Widget) -> None:
    known = {action.type: compile_schema(action.schema) for action in widget_actions(widget)}
    for tree in trees(widget):
        for name, offered in tree_actions(tree).items():
            payload = compile_schema({"type": "object", **offered.schema}).smallest

            assert payload is not None
            assert known[name].admits(offered.accept(payload))


@pytest.mark.parametrize("widget", WIDGETS, ids=[widget.tool for widget in WIDGETS])
def test_every_action_has_a_description(widget: Widget) -> None:
    assert all(action.description for action in widget_actions(widget))


@pytest.mark.parametrize("widget", WIDGETS, ids=[widget.tool for widget in WIDGETS])
def test_whether_a_tree_offers_anything_is_told_without_saying_what(widget: Widget) -> None:
    for tree in trees(widget):
        assert (
            has_actions(tree) is has_actions(tree, orjson.dumps(tree)) is bool(tree_actions(tree))
        )
