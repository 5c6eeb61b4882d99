from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.vocabulary import COPY, read_vocabulary
from widgetd.core.schema.validator import compile_schema
from widgetd.core.widget.components import check_tree, load_vocabulary
from widgetd.core.widget.components.traits import ICON_PROPERTIES, TRAITS, ComponentTraits
from widgetd.core.widget.components.vocabulary import OWN_PROPERTIES, TYPESCRIPT_ONLY


def check_messages(*children: dict[str, Any], **root: Any) -> list[str]:
    tree = {"type": "Card", "children": list(children), **root}
    return [f"{finding.code} {finding}" for finding in check_tree(tree)]


@pytest.mark.parametrize(
    ("child", "warning"),
    [
        (
            {"type": "Titel", "value": "x"},
            "W1401 #/children/0: 'Titel' is no component; did you mean 'Title'?",
        ),
        (
            {"type": "Hologram"},
            "W1401 #/children/0: 'Hologram' is no component; clients may ignore it",
        ),
        (
            {"type": "Text", "value": "x", "truncated": True},
            (
                "W1402 #/children/0/truncated: 'Text' has no property 'truncated'; "
                "did you mean 'truncate'?"
            ),
        ),
        (
            {"type": "Text", "value": "x", "family": "serif"},
            "W1402 #/children/0/family: 'Text' has no property 'family'; clients may ignore it",
        ),
        (
            {"type": "Button", "variant": "tertiary"},
            (
                "W1403 #/children/0/variant: 'variant' of 'Button' cannot be 'tertiary'; "
                "use 'solid', 'soft', 'outline' or 'ghost'"
            ),
        ),
        (
            {
                "type": "Chart",
                "data": [],
                "xAxis": "m",
                "series": [{"type": "area", "label": None, "dataKey": "y", "curveType": "monoton"}],
            },
            (
                "W1403 #/children/0/series/0/curveType: 'curveType' of 'series' of 'Chart' "
                "cannot be 'monoton'; did you mean 'monotone'?"
            ),
        ),
        (
            {"type": "Icon", "name": "map"},
            (
                "W1404 #/children/0/name: 'name' of 'Icon' cannot be 'map', which is no icon; "
                "did you mean 'maps'?"
            ),
        ),
        (
            {"type": "Icon", "name": "cloud-rain"},
            (
                "W1404 #/children/0/name: 'name' of 'Icon' cannot be 'cloud-rain', "
                "which is no icon; did you mean 'lucide:cloud-rain'?"
            ),
        ),
        (
            {"type": "Button", "iconStart": "lucide:cloud-rian"},
            (
                "W1404 #/children/0/iconStart: 'iconStart' of 'Button' cannot be "
                "'lucide:cloud-rian', which is no icon; did you mean 'lucide:cloud-rain'?"
            ),
        ),
        (
            {"type": "ListView", "status": {"text": "x", "icon": "lucide:zzzzzz"}},
            (
                "W1404 #/children/0/status/icon: 'icon' of 'status' of 'ListView' cannot be "
                "'lucide:zzzzzz', which is no icon; use an icon of ChatKit, or 'lucide:…'"
            ),
        ),
        (
            {"type": "Button", "iconStart": "currency-dollar"},
            (
                "W1404 #/children/0/iconStart: 'iconStart' of 'Button' cannot be "
                "'currency-dollar', which is no icon; use an icon of ChatKit, or 'lucide:…'"
            ),
        ),
        (
            {"type": "Text", "value": 5},
            "W1405 #/children/0/value: 'value' of 'Text' cannot be an integer; use a string",
        ),
        (
            {"type": "Box", "padding": [1]},
            (
                "W1405 #/children/0/padding: 'padding' of 'Box' cannot be an array; "
                "use a number, a string or an object"
            ),
        ),
        (
            {"type": "Card"},
            "W1406 #/children/0: 'Card' cannot stand in 'Card'; use a 'Col', a 'Row' or a 'Box'",
        ),
        (
            {"type": "Text", "value": "x", "children": [{"type": "Spacer"}]},
            (
                "W1406 #/children/0/children/0: 'Spacer' cannot stand in 'Text'; "
                "put it beside the 'Text'"
            ),
        ),
        ({"type": "Icon"}, "W1407 #/children/0: 'Icon' lacks 'name'; write it"),
        (
            {"type": "Section"},
            "W1401 #/children/0: 'Section' is no component; clients may ignore it",
        ),
        (
            {"type": "Icon", "name": "thunder-bolt"},
            (
                "W1404 #/children/0/name: 'name' of 'Icon' cannot be 'thunder-bolt', which is no "
                "icon; did you mean 'bolt'?"
            ),
        ),
        ({"value": "x"}, "W1407 #/children/0: a component lacks its 'type'; write it"),
        (
            {"type": "Button", "onClickAction": {"type": "go", "handler": "browser"}},
            (
                "W1403 #/children/0/onClickAction/handler: 'handler' of 'onClickAction' of "
                "'Button' cannot be 'browser'; use 'client' or 'server'"
            ),
        ),
    ],
)
def test_unknown_property_is_reported_once_with_the_known_ones(
    child: dict[str, Any], warning: str
) -> None:
    assert check_messages(child) == [warning]


def test_row_of_text_is_invalid_in_a_list() -> None:
    tree = {"type": "ListView", "children": [{"type": "Row"}]}

    assert [str(finding) for finding in check_tree(tree)] == [
        "#/children/0: 'Row' cannot stand in 'ListView'; put it into a 'ListViewItem' there"
    ]


@pytest.mark.parametrize(
    "child",
    [
        {"type": "Icon", "name": "lucide:rocket"},
        {"type": "Icon", "name": "lucide:home"},
        {"type": "Text", "value": "lucide:no-icon-at-all"},
        {"type": "Icon", "name": "vendor:acme", "size": "2xl"},
        {"type": "Col", "gap": 1.5, "padding": {"x": 2, "top": "4px"}, "key": "a", "id": "b"},
        {
            "type": "Text",
            "value": "x",
            "editable": False,
            "color": {"light": "red-500", "dark": "#fff"},
        },
        {"type": "Table", "key": "t", "children": [{"type": "Table.Row"}]},
        {"type": "Button", "onClickAction": {"type": "go", "payload": {"any": [1, None]}}},
        {"type": "DatePicker", "name": "d", "min": "2026-01-01"},
        {"type": "Transition", "children": {"type": "Text", "value": "x"}},
        {"type": "Row", "border": {"size": 1, "style": "dashed"}},
        {"type": "Row", "border": {"top": {"size": 1}}},
        {"type": "ListView", "children": [{"type": "ListViewItem", "children": []}]},
        {"type": "Col", "children": [{"type": "ListView", "children": []}]},
    ],
)
def test_known_components_and_properties_have_no_warning(child: dict[str, Any]) -> None:
    assert check_messages(child) == []


@pytest.mark.parametrize(
    ("properties", "warning"),
    [
        (
            {"color": "dangr"},
            "color: 'color' of 'Text' cannot be 'dangr', which is no color; did you mean 'danger'?",
        ),
        (
            {"color": "bleu-500"},
            (
                "color: 'color' of 'Text' cannot be 'bleu-500', which is no color; "
                "did you mean 'blue-500'?"
            ),
        ),
        (
            {"color": {"light": "gren", "dark": "white"}},
            (
                "color/light: 'color' of 'Text' cannot be 'gren', which is no color; "
                "did you mean 'green'?"
            ),
        ),
        (
            {"color": "muted"},
            (
                "color: 'color' of 'Text' cannot be 'muted', which is no color; use 'prose', "
                "'primary', 'emphasis', 'secondary', 'tertiary', 'success', 'warning', 'danger', "
                "a shade as 'blue-500' or a color of CSS"
            ),
        ),
        (
            {"width": "wide"},
            (
                "width: 'width' of 'Text' cannot be 'wide', which is no length; use a number, or a "
                "length of CSS as '12px'"
            ),
        ),
    ],
)
def test_unknown_color_or_length_is_reported(properties: dict[str, Any], warning: str) -> None:
    assert check_messages({"type": "Text", "value": "x", **properties}) == [
        f"W1403 #/children/0/{warning}"
    ]


@pytest.mark.parametrize(
    "background",
    [
        *("surface-tertiary", "gray-925", "red-a75", "alpha-10", "rebeccapurple", "#FFF", "none"),
        *("rgba(0, 0, 0, 0.5)", "linear-gradient(135deg, #fff 0%, #000 100%)"),
    ],
)
def test_colors_of_chatkit_and_of_css_are_accepted(background: str) -> None:
    assert check_messages({"type": "Box", "background": background}) == []


@pytest.mark.parametrize("width", ["12px", "100%", "1.5rem", "auto", "calc(100% - 4px)", "7"])
def test_lengths_of_css_are_accepted(width: str) -> None:
    box = {"type": "Box", "width": width, "padding": f"4px {width}", "aspectRatio": "16 / 9"}
    assert check_messages(box) == []


def test_basic_root_may_contain_anything_and_null_is_ignored() -> None:
    tree = {"type": "Basic", "children": [{"type": "Card", "size": None, "children": None}]}

    assert list(check_tree(tree)) == []


def test_findings_come_in_the_order_of_the_tree() -> None:
    child = {"type": "Col", "children": [{"type": "A"}, {"type": "B"}]}

    assert [line.split(":")[0] for line in check_messages(child, {"type": "C"}, colour=1)] == [
        "W1402 #/colour",
        "W1401 #/children/0/children/0",
        "W1401 #/children/0/children/1",
        "W1401 #/children/1",
    ]


def test_vocabulary_is_that_of_the_installed_chatkit() -> None:
    words = load_vocabulary()

    assert {"Card", "ListView", "Basic", "Chart", "Transition", "Table.Cell"} <= set(
        words.components
    )
    assert "sparkle" in words.icons
    assert words.components["ListView"].holds == frozenset({"ListViewItem"})
    assert words.components["Text"].holds == frozenset()
    assert words.components["Basic"].holds is None


def test_copy_of_the_vocabulary_is_that_of_the_installed_package() -> None:
    copy, installed = json.loads(COPY.read_bytes()), read_vocabulary()

    changed = sorted(
        f"{part} {name}"
        for part in ("documentation", "components")
        for name in copy[part].keys() | installed[part].keys()
        if copy[part].get(name) != installed[part].get(name)
    )
    assert changed == [], "chatkit changed; run `python -m tests.support.vocabulary`"
    assert copy["icons"] == installed["icons"]


def test_every_component_of_chatkit_has_a_json_schema() -> None:
    for name, component in load_vocabulary().components.items():
        if name in TYPESCRIPT_ONLY:
            continue
        assert component.model is not None
        fields = {
            name: field
            for name, field in component.model.model_fields.items()
            if name != "children"
        }
        own = OWN_PROPERTIES.get(name, {})
        assert component.schema["properties"].keys() == fields.keys() | own.keys()
        assert set(component.schema.get("required", ())) == {
            name for name, field in fields.items() if field.is_required()
        }


@pytest.mark.parametrize(
    ("properties", "fits"),
    [
        ({"type": "Button", "label": "Go", "iconStart": "lucide:send"}, True),
        ({"type": "Button", "label": "Go", "iconStart": "map"}, False),
        ({"type": "Button", "onClickAction": {"type": "go", "payload": [1]}}, True),
        ({"type": "Button", "onClickAction": {"kind": "go"}}, False),
        ({"type": "Box", "gap": 1.5, "padding": {"x": 2}}, True),
        ({"type": "Box", "padding": {"left": 2, "z": 1}}, False),
    ],
)
def test_component_schema_admits_exactly_what_a_check_accepts(
    properties: dict[str, Any], *, fits: bool
) -> None:
    schema = load_vocabulary().components[properties["type"]].schema

    assert schema is not None
    assert compile_schema(schema).admits(properties) is fits
    assert (check_messages(properties) == []) is fits


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
