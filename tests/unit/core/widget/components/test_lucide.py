from __future__ import annotations

import re
import subprocess
import sys
from base64 import b64decode
from importlib.resources import files
from xml.etree import ElementTree as ET

import pytest

from widgetd.core.widget.components.lucide import (
    IMAGE,
    find_icons,
    find_shapes,
    is_icon,
    list_icon_names,
    make_tool_icon,
)
from widgetd.core.widget.components.vocabulary import load_vocabulary
from widgetd.core.widget.limits import LIMITS

DRAWN = {"path", "circle", "rect", "line", "polyline", "polygon", "ellipse"}
"""What the view takes of a shape that was sent along; all else it leaves out."""


def test_icons_of_a_tree_are_sent_with_their_shapes() -> None:
    icon = {"type": "Icon", "name": "lucide:cloud-rain"}
    button = {"type": "Button", "iconEnd": "lucide:home", "iconStart": "plus"}
    tree = {"type": "Card", "status": {"icon": "lucide:cloud-rain"}, "children": [icon, button]}

    icons = find_icons(tree)

    assert list(icons) == ["lucide:cloud-rain", "lucide:home"]
    assert icons["lucide:cloud-rain"][1] == ("path", {"d": "M16 14v6"})
    assert icons["lucide:home"] == find_icons({"name": "lucide:house"})["lucide:house"]


def test_name_unknown_to_lucide_is_omitted() -> None:
    assert find_icons({"type": "Card", "status": "lucide:nobody-knows"}) == {}
    assert not is_icon("../view")
    assert not is_icon("")


def test_no_tree_has_more_icons_sent_along_than_a_widget_uses() -> None:
    every = [{"type": "Icon", "name": f"lucide:{name}"} for name in list_icon_names()]

    assert len(find_icons({"type": "Card", "children": every})) == 64


def test_every_icon_is_found_and_made_of_shapes_that_the_view_draws() -> None:
    for name in list_icon_names():
        shapes = find_icons({"name": f"lucide:{name}"})[f"lucide:{name}"]

        assert shapes
        assert {tag for tag, _ in shapes} <= DRAWN
        assert all(type(value) is str for _, given in shapes for value in given.values())


def test_names_are_sorted_and_have_their_licence() -> None:
    licence = files("widgetd.view") / "lucide-LICENSE.txt"

    assert list(list_icon_names()) == sorted(set(list_icon_names()))
    assert re.match(r"ISC License\n\nCopyright", licence.read_text())


def test_unnamed_icon_is_not_read() -> None:
    program = (
        "import widgetd.server.render.result, widgetd.core.widget.components.lucide as lucide;"
        "lucide.find_icons({'type': 'Card', 'children': []});"
        "print(lucide._open_table.cache_info().currsize)"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)

    assert ran.stdout == b"0\n"


def read_icon(source: str) -> ET.Element:
    image = make_tool_icon(source)
    assert image.startswith(IMAGE)
    return ET.fromstring(b64decode(image.removeprefix(IMAGE)))


@pytest.mark.parametrize(
    "source",
    [
        '{"type": "Input", "name": "who"}, {"type": "Icon", "name": "calendar"}, "name": "mail"',
        '<Input name="who" /><Button iconStart="calendar" iconEnd="mail" />',
        "<Icon name={'calendar'} />",
    ],
)
def test_first_icon_name_is_drawn(source: str) -> None:
    paths = [path.attrib["d"] for path in read_icon(source)]

    assert paths == [attributes["d"] for _, attributes in find_shapes("calendar")]


def test_icons_of_lucide_are_drawn_in_strokes() -> None:
    assert read_icon('"icon": "lucide:car"').attrib["fill"] == "none"


def test_oversized_icon_gives_way_to_the_next() -> None:
    assert (
        make_tool_icon('"name": "globe", "icon": "info"') == make_tool_icon('"icon": "info"') != ""
    )


def test_icon_fits_a_tool_list_and_is_omitted_if_absent() -> None:
    images = [make_tool_icon(f'"icon": "{name}"') for name in load_vocabulary().icons]

    assert max(map(len, images)) <= LIMITS.tool_icon_chars
    assert sum(map(bool, images)) > len(images) / 2
    assert make_tool_icon('"name": "nobody", "icon": "lucide:nothing"') == ""


def test_every_icon_of_chatkit_has_shapes() -> None:
    assert [name for name in load_vocabulary().icons if not find_shapes(name)] == []
