"""The icon of a widget's tool: the first that the widget names, as an image that stands by itself.

Hosts show it beside the tool's name. It is sent with every list, so it is small or not there.
"""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape

from widgetd.widget.components.lucide import Shape, shapes_of

LONGEST = 1024
"""Characters of the data URI."""

PREFIX = "data:image/svg+xml;base64,"

# In a template, as "name": "calendar", or in JSX, as iconStart="calendar" or icon={"calendar"}.
_NAMED = re.compile(
    r"""\b(?:name|icon|iconStart|iconEnd)["']?\s*[:=]\s*\{?\s*["']([a-z0-9:-]{1,64})["']"""
)


def tool_icon(source: str) -> str:
    """The data URI of the first icon named in a template, or in JSX, that is small enough.

    Returns:
        `data:image/svg+xml;base64,…`; empty where there is none.
    """
    images = map(_image, dict.fromkeys(_NAMED.findall(source)))
    return next((image for image in images if image and len(image) <= LONGEST), "")


def _image(name: str) -> str:
    shapes = shapes_of(name)
    if not shapes:
        return ""
    # A grey that is seen on light and on dark: an image knows nothing of the page around it.
    drawn = 'fill="#888"'
    if name.startswith("lucide:"):
        drawn = 'fill="none" stroke="#888" stroke-width="2" stroke-linecap="round"'
    inside = "".join(map(_element, shapes))
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" {drawn}>{inside}</svg>'
    return PREFIX + b64encode(svg.encode()).decode()


def _element(shape: Shape) -> str:
    tag, attributes = shape
    said = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{said}/>"
