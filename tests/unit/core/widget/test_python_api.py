"""Widgets in Python code: found by name, called with keywords, known by their annotations."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, get_type_hints

import orjson
import pytest

import widgetd
from tests.support.widgets import widget_file
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.components import load_chatkit_widgets


def test_without_a_folder_the_bundled_widgets_are_meant() -> None:
    tools = [widget.tool for widget in widgetd.discover_widgets()]

    assert tools == [widget.tool for widget in widgetd.discover_widgets(bundled_folder())]
    assert "flight_tracker" in tools
    found = widgetd.get_widget("Flight Tracker")
    assert found is not None
    assert found.tool == "flight_tracker"


def test_programs_of_the_peer_run_after_a_changed_import(tmp_path: Path) -> None:
    [widget] = [
        widget
        for widget in widgetd.discover_widgets(widgets_dir=bundled_folder())
        if widget.name == "Flight Tracker"
    ]
    by_name = widgetd.get_widget_by_name("Flight Tracker", widgets_dir=bundled_folder())
    assert by_name is not None
    flight = by_name.build(number="PA 845", airline={"name": "Pan American", "logo": "/panam.png"})
    drawn = widgetd.json_schema_to_chatkit_widget(widget.preview, widget.name)
    content = orjson.loads(widget.file_path.read_bytes())

    for root in (flight, drawn):
        assert isinstance(root, load_chatkit_widgets().WidgetComponentBase)
    assert "/panam.png" in flight.model_dump_json()
    assert widget.json_schema == content["jsonSchema"]
    assert widget.preview == widget.output_json_preview == content["outputJsonPreview"]
    assert widget.encoded == widget.encoded_widget == content["encodedWidget"]
    (tmp_path / "Broken.widget").write_text("{")
    for failing in (
        partial(widgetd.load_widget, tmp_path / "Broken.widget"),
        partial(widgetd.discover_widgets, widgets_dir=tmp_path / "absent"),
        partial(widgetd.json_schema_to_chatkit_widget, {"type": "Nothing"}, "broken"),
    ):
        with pytest.raises(ValueError, match=r"."):
            failing()
    with pytest.raises(widgetd.CallError) as caught:
        by_name.build()
    assert not isinstance(caught.value, ValueError)


def test_get_widget_compiles_the_widget_it_finds_and_no_other() -> None:
    compiled = Counter[str]()

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code is widgetd.Widget.compile.__code__:
            compiled[frame.f_locals["self"].tool] += 1

    sys.setprofile(count)
    try:
        widget = widgetd.get_widget("flight_tracker")
    finally:
        sys.setprofile(None)

    assert widget is not None
    assert {"template", "schema", "summary"} <= vars(widget).keys()
    assert compiled == {"flight_tracker": 1}


def test_get_widget_names_the_fault_of_the_file_it_finds(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file("Greeting", template="{{ who"))
    (tmp_path / "Parting.widget").write_text(widget_file("Parting"))

    with pytest.raises(widgetd.WidgetError) as caught:
        widgetd.get_widget("greeting", tmp_path)

    assert str(caught.value).startswith("Greeting.widget#/template: ")
    assert widgetd.get_widget("parting", tmp_path) is not None
    assert widgetd.get_widget("nothing", tmp_path) is None


def test_get_widget_finds_the_copy_of_an_uncompilable_file(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file("Greeting", template="{{ who"))
    (tmp_path / "Greeting (1).widget").write_text(widget_file("Greeting"))

    widget = widgetd.get_widget("greeting", tmp_path)

    assert widget is not None
    assert widget.definition.path == "Greeting (1).widget"


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("Fligth Tracker.widget", "did you mean 'Flight Tracker.widget'?"),
        ("Flight Tracker", "did you mean 'Flight Tracker.widget'?"),
        ("zzz.txt", "'{folder}' has 27 widgets"),
        ("nowhere/Chart.widget", "there is no folder '{folder}/nowhere' either"),
    ],
)
def test_load_widget_of_an_absent_path_names_the_nearest_file(path: str, advice: str) -> None:
    folder = bundled_folder()
    problem = f"there is no such file; {advice.format(folder=folder)}"

    with pytest.raises(FileNotFoundError) as caught:
        widgetd.load_widget(folder / path)

    assert str(caught.value) == f"[Errno 2] {problem}: '{folder / path}'"


def test_example_is_a_mapping_of_arguments_and_empty_where_none_are_known(tmp_path: Path) -> None:
    who = {"allOf": [{"pattern": "^a$"}, {"pattern": "^b$"}], "type": "string"}
    impossible = {"type": "object", "properties": {"who": who}, "required": ["who"]}
    (tmp_path / "Greeting.widget").write_text(widget_file("Greeting", schema=impossible))

    assert widgetd.load_widget(tmp_path / "Greeting.widget").example == {}
    for widget in widgetd.discover_widgets():
        assert widget.render(**widget.example)


def test_annotations_have_the_types_of_arguments_and_result() -> None:
    chart = widgetd.get_widget("chart")
    assert chart is not None
    arguments = set(inspect.signature(chart.render).parameters)

    assert set(chart.render.__annotations__) == arguments | {"return"}
    assert get_type_hints(chart.render)["return"] == dict[str, Any]
    assert get_type_hints(chart.build)["return"] is load_chatkit_widgets().DynamicWidgetRoot
    assert chart.definition.format_version == "1.0"
