"""Mocked calls are valid, and the same bytes for the same seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from tests.support.corpus import corpus_files, needs_corpus
from tests.support.widgets import bundled_widgets
from widgetd.base.errors import WidgetError
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load_widget
from widgetd.server.render.mock import MockState, mocks
from widgetd.server.render.response import Shown, response

WIDGETS = bundled_widgets()


@pytest.mark.parametrize("widget", WIDGETS, ids=lambda widget: widget.tool)
@pytest.mark.parametrize("state", ["sample", "empty", "one", "many", "long"])
def test_every_bundled_widget_is_mocked_in_every_state(widget: Widget, state: MockState) -> None:
    mocked = mocks(widget, state=state, seed=7, count=2)

    for call in mocked:
        assert widget.schema.admits(call["arguments"])
        result = call["result"]
        tree = result["_meta"].get("widgetd/widget", result["structuredContent"])
        assert tree["type"] in {"Card", "ListView", "Basic"}
        assert call["result"]["_meta"]["widgetd/render"]["ms"] == 0.0
    again = mocks(widget, state=state, seed=7, count=2)
    assert json.dumps(mocked) == json.dumps(again)


@needs_corpus
@pytest.mark.parametrize("path", corpus_files(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_real_widget_is_mocked_in_every_state(path: Path) -> None:
    try:
        widget = load_widget(path)
    except WidgetError:
        pytest.skip("this file is refused, which other tests hold to its sentence")
    for state in get_args(MockState):
        (call,) = mocks(widget, state=state, seed=7)

        assert widget.schema.admits(call["arguments"])
        assert isinstance(response(call["result"]), Shown)


def test_another_seed_is_another_call() -> None:
    widget = WIDGETS[0]
    first, second = mocks(widget, seed=1, count=2)

    ids = [call["result"]["_meta"]["widgetd/render"]["id"] for call in (first, second)]
    assert ids[0] != ids[1]


@pytest.mark.parametrize("widget", WIDGETS, ids=lambda widget: widget.tool)
def test_in_profile_split_the_tree_is_out_of_the_models_sight(widget: Widget) -> None:
    (call,) = mocks(widget, profile="split")

    assert "children" not in call["result"]["structuredContent"]
    assert call["result"]["_meta"]["widgetd/widget"]["type"] in {"Card", "ListView", "Basic"}
