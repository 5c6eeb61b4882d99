"""What is said of components is what the installed ChatKit says of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.making import snapshot_of, widget
from widgetd.guide.component_details import components_in, details, properties_of
from widgetd.widget.components import vocabulary

BUTTON = (
    '{"type":"Card","children":[{"type":"Button","label":"Go",'
    '"onClickAction":{"type":"go","payload":{}}}]}'
)


def one(name: str, *widgets: Any) -> dict[str, Any]:
    [item] = details([name], snapshot_of(*widgets))
    return item


def test_every_property_of_every_component_is_told() -> None:
    for component in vocabulary().components.values():
        if component.model is None:
            continue
        told = {each["name"] for each in properties_of(component)}
        assert told == set(component.model.model_fields) - {"type", "key", "id", "children"}


def test_the_closed_choices_of_a_property_are_told() -> None:
    item = one("Button.variant")

    assert item["name"] == "Button.variant"
    assert item["values"] == ["solid", "soft", "outline", "ghost"]


def test_what_an_object_holds_is_told() -> None:
    assert one("Button.onClickAction")["fields"]["handler"] == 'one of "client", "server"'
    assert "dataKey" in one("Chart.series")["fields"]


def test_a_component_is_shown_as_a_served_widget_uses_it() -> None:
    item = one("Button", widget("Go On", template=BUTTON))

    assert item["usedBy"] == ["go_on"]
    assert item["example"]["label"] == "Go"


def test_all_components_are_told_in_a_line_each_where_none_is_named() -> None:
    items = list(details([], snapshot_of()))

    assert {item["name"] for item in items} == {*vocabulary().components, "icons"}
    assert all(item["use"] for item in items)


@pytest.mark.parametrize(
    ("name", "near"),
    [("Buton", "Button"), ("Button.varient", "Button.variant"), ("Qwxyz", None)],
)
def test_what_is_unknown_is_told_with_the_nearest_and_spoils_nothing_else(
    name: str, near: str | None
) -> None:
    first, second = details([name, "Text"], snapshot_of())

    assert (first["status"], first["code"]) == ("not_found", "W3002")
    assert first["suggestions"] == ([near] if near else [])
    assert second["status"] == "ok"


def test_the_components_of_a_template_are_found_in_its_text() -> None:
    assert components_in(widget(template=BUTTON)) == {"Card", "Button"}
