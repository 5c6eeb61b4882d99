"""Sheets draw every component in every value of its choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from widgetd.author.guide.component_sheet import build_sheet, list_screenshots
from widgetd.core.widget.components import check_tree, load_vocabulary
from widgetd.core.widget.components.tree import iterate_components
from widgetd.core.widget.components.values import list_color_tokens

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
