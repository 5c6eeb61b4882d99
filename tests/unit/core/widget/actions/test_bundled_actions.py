"""Whatever the bundled widgets offer can be done, and is described in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from tests.support.widgets import bundled_widgets
from widgetd.core.schema.validator import compile_schema
from widgetd.core.widget.action_checks import find_unmet
from widgetd.core.widget.actions import find_tree_actions, find_widget_actions, has_actions
from widgetd.core.widget.widget import Widget

WIDGETS = bundled_widgets()


def trees(widget: Widget) -> Iterator[Mapping[str, Any]]:
    for example in widget.definition.sidecar.examples:
        yield widget.call(example.arguments).tree


@pytest.mark.parametrize("widget", WIDGETS, ids=[widget.tool for widget in WIDGETS])
def test_smallest_payload_of_each_offered_action_is_accepted(widget: Widget) -> None:
    known = {action.type: compile_schema(action.schema) for action in find_widget_actions(widget)}
    for tree in trees(widget):
        for name, offered in find_tree_actions(tree).items():
            payload = compile_schema({"type": "object", **offered.schema}).smallest

            assert payload is not None
            assert known[name].admits(offered.accept(payload))


@pytest.mark.parametrize("widget", WIDGETS, ids=[widget.tool for widget in WIDGETS])
def test_every_action_has_a_description(widget: Widget) -> None:
    assert all(action.description for action in find_widget_actions(widget))


@pytest.mark.parametrize("widget", WIDGETS, ids=[widget.tool for widget in WIDGETS])
def test_has_actions_agrees_with_find_actions(widget: Widget) -> None:
    for tree in trees(widget):
        assert (
            has_actions(tree)
            is has_actions(tree, orjson.dumps(tree))
            is bool(find_tree_actions(tree))
        )


@pytest.mark.parametrize(
    ("ticked", "says"),
    [
        ((), ["Tick more of them."]),
        (("tea",), []),
        (("tea", "cake"), []),
        (("tea", "cake", "jam"), ["Tick fewer of them."]),
    ],
)
def test_choice_form_has_its_minimum_and_maximum(ticked: tuple[str, ...], says: list[str]) -> None:
    [form] = [widget for widget in WIDGETS if widget.tool == "choice_form"]
    choices = [{"id": name, "label": name} for name in ("tea", "cake", "jam")]
    arguments = {"question": "What?", "multiple": True, "min": 1, "max": 2, "choices": choices}
    offered = find_tree_actions(form.call(arguments).tree)["choice.submit"]
    fixed = offered.triggers[0].payload

    payload = offered.accept(
        {**fixed, "choice": {one["id"]: one["id"] in ticked for one in choices}}
    )

    assert [one.says for one in find_unmet(form.checks, "choice.submit", payload)] == says
