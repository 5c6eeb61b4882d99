"""A tool's icon: the first that its widget names, small, and self-contained."""

from __future__ import annotations

from base64 import b64decode
from xml.etree import ElementTree as ET

import pytest

from widgetd.core.widget.components.lucide import IMAGE, find_shapes, make_tool_icon
from widgetd.core.widget.components.vocabulary import load_vocabulary
from widgetd.core.widget.limits import LIMITS


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
