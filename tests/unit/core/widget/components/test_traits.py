"""The table of traits agrees with the installed vocabulary."""

from __future__ import annotations

import json

from widgetd.core.widget.components import load_vocabulary
from widgetd.core.widget.components.traits import ICON_PROPERTIES, TRAITS, ComponentTraits

COMPONENTS = load_vocabulary().components
AN_ICON = json.dumps(load_vocabulary().icons[0])


def traits(name: str) -> ComponentTraits:
    return TRAITS.get(name, ComponentTraits())


def test_every_row_is_a_component() -> None:
    assert set(TRAITS) <= set(COMPONENTS)


def test_components_with_children_are_layout() -> None:
    for name, component in COMPONENTS.items():
        if component.model is not None and "children" in component.model.model_fields:
            assert traits(name).layout, name


def test_components_reporting_changes_of_a_value_are_fields() -> None:
    for name, component in COMPONENTS.items():
        properties = (component.schema or {}).get("properties", {})
        if "onChangeAction" in properties:
            assert traits(name).field, name


def test_icon_properties_are_in_the_table() -> None:
    for name, component in COMPONENTS.items():
        schema = component.schema or {}
        for part in (schema, *schema.get("$defs", {}).values()):
            for property_name, property_schema in part.get("properties", {}).items():
                if AN_ICON in json.dumps(property_schema):
                    assert property_name in traits(name).icons, (name, property_name)
    assert ICON_PROPERTIES == ("icon", "iconEnd", "iconStart", "name")
