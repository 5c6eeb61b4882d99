"""Components are described as the installed ChatKit describes them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.support.vocabulary import read_documentation
from tests.support.widgets import build_widget, snapshot_of
from widgetd.author.guide.component_details import (
    Examples,
    count_components,
    describe_components,
    describe_properties,
    find_icons,
)
from widgetd.author.guide.component_sheet import build_sheet, list_screenshots
from widgetd.core.widget.components import check_tree, load_vocabulary
from widgetd.core.widget.components.tree import iterate_components
from widgetd.core.widget.components.values import list_color_tokens
from widgetd.core.widget.components.vocabulary import OWN_PROPERTIES
from widgetd.core.widget.widget import Widget
from widgetd.server.render.entry import CHARACTERS_OF_A_TOKEN

BUTTON = (
    '{"type":"Card","children":[{"type":"Button","label":"Go",'
    '"onClickAction":{"type":"go","payload":{}}}]}'
)


def one(name: str, *widgets: Any) -> dict[str, Any]:
    [item] = describe_components([name], Examples().follow(snapshot_of(*widgets)))
    return item


def test_every_property_of_every_component_is_described() -> None:
    for component in load_vocabulary().components.values():
        if component.model is None:
            continue  # of table.json
        names = {each["name"] for each in describe_properties(component)}
        fields = component.model.model_fields.keys() | OWN_PROPERTIES.get(component.type, {}).keys()
        assert names == fields - {"type", "key", "id", "children"}


def test_enumerated_values_of_a_property_are_listed() -> None:
    item = one("Button.variant")

    assert item["name"] == "Button.variant"
    assert item["values"] == ["solid", "soft", "outline", "ghost"]


def test_default_drawn_by_the_view_is_described() -> None:
    assert one("Button.style")["default"] == "primary"
    assert one("Row.align")["default"] == "center"
    assert "default" not in one("Text.value")


NEWER = """
import json
from typing import Annotated, Literal, Union, get_args
from chatkit import widgets

class Gauge(widgets.WidgetComponentBase):
    '''Shows how full something is.'''

    type: Literal["Gauge"] = "Gauge"
    level: Literal["low", "high"]

union, *more = get_args(widgets.StrictWidgetComponent)
widgets.StrictWidgetComponent = Annotated[(Union[(*get_args(union), Gauge)], *more)]

from widgetd.author.guide.component_details import Examples, describe_components

[item] = describe_components(["Gauge"], Examples())
print(json.dumps(item))
"""


def test_component_of_a_newer_chatkit_is_described() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", NEWER],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    item = json.loads(done.stdout)

    assert (item["status"], item["use"]) == ("ok", "Shows how full something is.")
    assert item["properties"] == {"level": {"text": "required", "values": ["low", "high"]}}


def test_fields_of_an_object_are_described() -> None:
    handler = one("Button.onClickAction")["fields"]["handler"]
    assert handler == {"expected": 'one of "client", "server"', "values": ["client", "server"]}
    assert one("Card.padding")["fields"]["x"]["text"].startswith("Horizontal spacing;")


def test_every_documented_property_is_answered_with_its_docstring() -> None:
    documented = read_documentation()
    for component in load_vocabulary().components.values():
        for each in describe_properties(component):
            for base in getattr(component.model, "__mro__", ()):
                text = documented.get(base.__name__, {}).get(each["name"])
                assert text is None or each["text"]
            assert each["text"]
    answer = json.dumps([one(type_) for type_ in load_vocabulary().components])

    # No property of a component is a MinMax.
    texts = {text for of, by in documented.items() if of != "MinMax" for text in by.values()}
    assert len(texts) > 100
    assert [text for text in texts if json.dumps(text)[1:-1] not in answer] == []


def test_every_alternative_of_a_union_is_described() -> None:
    unions = 0
    for component in load_vocabulary().components.values():
        definitions = component.schema.get("$defs", {})
        for each in describe_properties(component):
            part = component.schema["properties"][each["name"]]
            named = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(part)))
            objects = [name for name in named if "properties" in definitions[name]]
            if len(objects) > 1:
                unions += 1
                fields = {frozenset(kind) for kind in each["kinds"].values()}
                assert fields == {frozenset(definitions[name]["properties"]) for name in objects}
    assert unions

    assert one("Chart.series")["kinds"].keys() == {"bar", "area", "line"}
    assert one("Box.border")["kinds"].keys() == {"with size", "with top"}


def test_all_values_of_a_property_are_listed() -> None:
    curve = one("Chart.series")["kinds"]["line"]["curveType"]
    assert (curve["expected"], len(curve["values"])) == ("one of the values", 15)


def test_shared_properties_are_described_once_in_an_answer() -> None:
    row, col = describe_components(["Row", "Col"], Examples())

    assert {"width", "maxSize", "flex", "border"} <= row["properties"].keys()
    assert set(col["sameAs"]["Row"]) >= {"width", "maxSize", "flex", "border"}
    assert not col["properties"].keys() & set(col["sameAs"]["Row"])
    common = ["Card", "Col", "Row", "Title", "Text", "Caption", "Badge", "Button", "Input", "Form"]
    answer = [*describe_components([*common, "Select", "Chart"], Examples())]
    assert len(json.dumps(answer, separators=(",", ":"))) < 4_900 * CHARACTERS_OF_A_TOKEN
    assert one("Col.width")["text"] == "Explicit width; px or CSS string."


def test_answer_for_all_components_loses_no_docstring_and_no_alternative() -> None:
    items = [*describe_components([*load_vocabulary().components], Examples())]
    text = json.dumps(items)

    for component in load_vocabulary().components.values():
        for each in describe_properties(component):
            assert json.dumps(each["text"])[1:-1] in text
    series = next(item for item in items if item["name"] == "Chart")["properties"]["series"]
    for kind, fields in one("Chart.series")["kinds"].items():
        assert series["kinds"][kind].keys() | series["fields"].keys() == fields.keys()


def test_every_component_has_a_valid_example() -> None:
    for item in map(one, load_vocabulary().components):
        assert item["example"]["type"] == item["name"]
        assert list(check_tree(item["example"])) == []


def test_colors_are_listed_in_one_place() -> None:
    colors = one("colors")

    [texts] = [each["values"] for each in colors["tokens"] if "Text.color" in each["of"]]
    assert "tertiary" in texts
    documented = re.findall("`([a-z-]+)`", one("Text.color")["text"].partition("Primitive")[0])
    assert texts == documented
    for hue in colors["hues"]:
        for shade in ("100", "500", "1000"):
            assert list(check_tree({"type": "Card", "background": f"{hue}-{shade}"})) == []


def test_sizes_are_listed_in_one_place() -> None:
    sizes = one("sizes")

    [badge] = [each["values"] for each in sizes["tokens"] if "Badge.size" in each["of"]]
    assert badge == ["sm", "md", "lg"]
    listed = {name for each in sizes["tokens"] for name in each["of"]}
    assert {"Button.size", "Box.radius", "Input.gutterSize", "Table.Cell.colSize"} <= listed


def test_cells_of_a_table_have_properties() -> None:
    assert {"align", "colSize", "colSpan", "format"} <= one("Table.Cell")["properties"].keys()
    assert list(one("Table.Row")["properties"]) == ["header"]


def test_example_comes_from_a_served_widget() -> None:
    item = one("Button", build_widget("Go On", template=BUTTON))

    assert item["usedBy"] == ["go_on"]
    assert item["example"]["label"] == "Go"


def test_users_follow_the_snapshot_and_only_changes_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = (build_widget(name, template=BUTTON) for name in ("A", "B"))
    names: list[str] = []

    def tree(widget: Widget, arguments: Mapping[str, Any]) -> dict[str, Any]:
        names.append(widget.key)
        return widget.call(arguments).tree

    monkeypatch.setattr(Widget, "tree", tree)
    examples = Examples()
    users = []
    for served in ((first,), (first,), (first, second), (second,), ()):
        [item] = describe_components(["Button"], examples.follow(snapshot_of(*served)))
        users.append(item["usedBy"])

    assert users == [["a"], ["a"], ["a", "b"], ["b"], []]
    assert names == [first.key, first.key, second.key]


def test_without_names_all_components_are_described_briefly() -> None:
    items = list(describe_components([], Examples()))

    assert {item["name"] for item in items} == {
        *load_vocabulary().components,
        "icons",
        "colors",
        "sizes",
    }
    assert all(item["use"] for item in items)


@pytest.mark.parametrize(
    ("name", "near"), [("Buton", "Button"), ("Button.varient", "Button.variant"), ("Qwxyz", None)]
)
def test_unknown_name_has_suggestions_and_affects_no_other(name: str, near: str | None) -> None:
    first, second = describe_components([name, "Text"], Examples())

    assert (first["status"], first["code"]) == ("not_found", "W3002")
    assert first["suggestions"] == ([near] if near else [])
    assert second["status"] == "ok"


def test_icons_of_the_example_are_found_by_name() -> None:
    row = '{"type":"Row","children":[{"type":"Icon","name":"calendar"}]}'
    button = '{"type":"Button","label":"calendar","iconStart":"lucide:rocket"}'
    widget = build_widget(template=f'{{"type":"Card","children":[{row},{button}]}}')

    assert find_icons(widget) == ["calendar", "lucide:rocket"]
    assert count_components(widget) == {"Card": 1, "Row": 1, "Icon": 1, "Button": 1}


def test_components_of_a_template_are_found_in_its_text() -> None:
    assert count_components(build_widget(template=BUTTON)).keys() == {"Card", "Button"}


COMPONENTS = load_vocabulary().components


def words(part: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words that a property may be, or the tokens of a color."""
    for one in (part, *part.get("anyOf", ())):
        yield from one.get("enum", ())
    yield from list_color_tokens(part.get("description", ""))


@pytest.mark.parametrize("type_", COMPONENTS)
def test_sheet_has_every_value_of_every_choice_of_a_component(type_: str) -> None:
    values = {
        (name, value)
        for part in iterate_components(build_sheet(type_))
        if part["type"] == type_
        for name, value in part.items()
        if isinstance(value, str)
    }

    properties = COMPONENTS[type_].schema["properties"]
    wanted = {(name, value) for name, part in properties.items() for value in words(part)}
    icons = {(name, icon) for name in ("iconStart", "iconEnd") for icon in load_vocabulary().icons}
    assert wanted - values <= icons
    assert list(check_tree(build_sheet(type_))) == []


def test_chart_on_its_sheet_has_each_kind_of_series() -> None:
    chart = next(part for part in iterate_components(build_sheet("Chart")) if "series" in part)

    assert {one["type"] for one in chart["series"]} == {"bar", "line", "area"}


def test_components_and_properties_have_pictures_in_both_themes() -> None:
    shots = list_screenshots(["Button", "Button.variant", "Table.Cell", "colors", "Buton"])

    assert [shot.title for shot in shots] == [
        *("Button, light", "Button, dark"),
        *("Table.Cell, light", "Table.Cell, dark"),
    ]
