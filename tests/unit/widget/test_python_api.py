"""Widgets in Python code: found by name, called with keywords, known by their annotations."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, get_type_hints

import widgetd
from tests.serving import widget_file
from widgetd.files.folder import bundled_folder
from widgetd.widget.components import load_chatkit_widgets


def test_without_a_folder_the_bundled_widgets_are_meant() -> None:
    tools = [widget.tool for widget in widgetd.discover_widgets()]

    assert tools == [widget.tool for widget in widgetd.discover_widgets(bundled_folder())]
    assert "flight_tracker" in tools
    found = widgetd.get_widget("Flight Tracker")
    assert found is not None
    assert found.tool == "flight_tracker"


def test_a_widget_that_is_found_is_compiled_and_no_other_need_be(tmp_path: Path) -> None:
    for name in ("Greeting", "Parting"):
        (tmp_path / f"{name}.widget").write_text(widget_file(name))

    found = widgetd.get_widget("greeting", tmp_path)

    assert found is not None
    assert {"template", "schema", "summary"} <= vars(found).keys()


def test_what_a_call_takes_and_gives_stands_in_its_annotations() -> None:
    chart = widgetd.get_widget("chart")
    assert chart is not None
    arguments = set(inspect.signature(chart.render).parameters)

    assert set(chart.render.__annotations__) == arguments | {"return"}
    assert get_type_hints(chart.render)["return"] == dict[str, Any]
    assert get_type_hints(chart.build)["return"] is load_chatkit_widgets().DynamicWidgetRoot
    assert chart.definition.format_version == "1.0"
