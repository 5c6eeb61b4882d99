"""Traits of components beyond ChatKit's classes: layout, field, icon.

A component without a row shows something, takes no input and names no icon. A test compares the
table with the installed vocabulary. Importing it does not import `chatkit.widgets`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FieldTrait = Literal["input", "text", "editable", "checkbox", "radio", "select", "date"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentTraits:
    """The traits of a type of component.

    Attributes:
        layout: Whether it only makes room for others, or between them.
        field: Its kind of input, None without input.
        icons: Properties with the name of an icon, in the component or inside its properties.
    """

    layout: bool = False
    field: FieldTrait | None = None
    icons: tuple[str, ...] = ()


_LAYOUT = ComponentTraits(layout=True)
# A status has an icon.
_ROOT = ComponentTraits(layout=True, icons=("icon",))
_NONE = ComponentTraits()

TRAITS: Mapping[str, ComponentTraits] = {
    "Basic": _LAYOUT,
    "Box": _LAYOUT,
    "Button": ComponentTraits(icons=("iconStart", "iconEnd")),
    "Card": _ROOT,
    "Checkbox": ComponentTraits(field="checkbox"),
    "Col": _LAYOUT,
    "DatePicker": ComponentTraits(field="date"),
    "Divider": _LAYOUT,
    "Form": _LAYOUT,
    "Icon": ComponentTraits(icons=("name",)),
    "Input": ComponentTraits(field="input"),
    "ListView": _ROOT,
    "ListViewItem": _LAYOUT,
    "RadioGroup": ComponentTraits(field="radio"),
    "Row": _LAYOUT,
    "Select": ComponentTraits(field="select"),
    "Spacer": _LAYOUT,
    "Table": _LAYOUT,
    "Table.Cell": _LAYOUT,
    "Table.Row": _LAYOUT,
    "Text": ComponentTraits(field="editable"),
    "Textarea": ComponentTraits(field="text"),
    "Transition": _LAYOUT,
}

ICON_PROPERTIES = tuple(sorted({name for traits in TRAITS.values() for name in traits.icons}))


def get_traits(component: Mapping[str, object]) -> ComponentTraits:
    return TRAITS.get(str(component.get("type")), _NONE)
