"""The shapes of icons: Lucide's, which ChatKit's names do not cover, and those that these name.

The first icon that a widget names is its tool's, too, as an image that stands by itself. It is
sent with every list, so it is small or not there.

They stand in files that are looked into, never loaded: what a widget uses is a handful of two
thousand. Whoever sends a tree along sends Lucide's shapes beside it; the view has the others.

Source: npm's lucide-static, for which `make icons` writes the file; @openai/apps-sdk-ui, of which
`make view` does.
"""

from __future__ import annotations

import mmap
from base64 import b64encode
from collections.abc import Mapping
from functools import cache, lru_cache
from html import escape
from importlib.resources import as_file, files
from typing import Any

import orjson

from widgetd.limits import AT_WORK
from widgetd.text_search import compile_pattern

PREFIX = "lucide:"
"""Before the name of an icon in a tree."""

Shape = tuple[str, Mapping[str, str]]
"""An SVG element on a 24 by 24 grid, as `("path", {"d": "M16 14v6"})`."""

_MOST = 64
"""Of one tree; a page of icons is no widget."""

_NAMED = compile_pattern(rb'"lucide:([a-z0-9-]{1,64})"')

LONGEST_ICON = 1024
"""Characters of the data URI of a tool's icon."""

IMAGE = "data:image/svg+xml;base64,"

# In a template, as "name": "calendar", or in JSX, as iconStart="calendar" or icon={"calendar"}.
_ICON = compile_pattern(
    r"""\b(?:name|icon|iconStart|iconEnd)["']?\s*+[:=]\s*+(?:\{\s*+)?["']([a-z0-9:-]{1,64})["']"""
)


def icons_in(tree: Mapping[str, Any] | bytes) -> dict[str, tuple[Shape, ...]]:
    """The shapes of the icons that `tree` names: `{"lucide:cloud-rain": (("path", {...}), ...)}`.

    A name that Lucide does not have is left out.

    Args:
        tree: The widget root, or its JSON.
    """
    text = tree if isinstance(tree, bytes) else orjson.dumps(tree, default=dict)
    if PREFIX.encode() not in text:
        return {}
    named = list(dict.fromkeys(_NAMED.findall(text)))[:_MOST]
    found = {PREFIX + name.decode(): _shapes(name) for name in named}
    return {name: shapes for name, shapes in found.items() if shapes}


def shapes_of(name: str) -> tuple[Shape, ...]:
    """The shapes of an icon as a tree names it, `calendar` or `lucide:car`; none of an unknown."""
    if name.startswith(PREFIX):
        return _shapes(name.removeprefix(PREFIX).encode())
    return _shapes(name.encode(), "icons.txt")


def is_icon(name: str) -> bool:
    """Whether Lucide has an icon of that name, as `cloud-rain`."""
    return bool(_shapes(name.encode()))


@cache
def names() -> tuple[str, ...]:
    """Every icon's name, those of former releases too."""
    return tuple(line.partition(b"\t")[0].decode() for line in _table("lucide.txt")[:].splitlines())


@lru_cache(maxsize=AT_WORK)
def tool_icon(source: str) -> str:
    """The data URI of the first icon named in a template, or in JSX, that is small enough.

    Returns:
        `data:image/svg+xml;base64,…`; empty where there is none.
    """
    images = map(_image, dict.fromkeys(_ICON.findall(source)))
    return next((image for image in images if image and len(image) <= LONGEST_ICON), "")


def _image(name: str) -> str:
    shapes = shapes_of(name)
    if not shapes:
        return ""
    # A grey that is seen on light and on dark: an image knows nothing of the page around it.
    drawn = 'fill="#888"'
    if name.startswith(PREFIX):
        drawn = 'fill="none" stroke="#888" stroke-width="2" stroke-linecap="round"'
    inside = "".join(map(_element, shapes))
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" {drawn}>{inside}</svg>'
    return IMAGE + b64encode(svg.encode()).decode()


def _element(shape: Shape) -> str:
    tag, attributes = shape
    said = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{said}/>"


@lru_cache(maxsize=256)
def _shapes(name: bytes, file: str = "lucide.txt") -> tuple[Shape, ...]:
    """The shapes of the icon of that name; none where there is no such icon."""
    table = _table(file)
    low, high = 0, len(table)
    while low < high:
        middle = (low + high) // 2
        start, end = table.rfind(b"\n", 0, middle) + 1, table.find(b"\n", middle)
        found, _, drawn = table[start:end].partition(b"\t")
        if found == name:
            if drawn.startswith(b"="):
                return _shapes(drawn[1:], file)
            shapes = orjson.loads(drawn)
            return tuple(("path", {"d": one}) if isinstance(one, str) else one for one in shapes)
        if found < name:
            low = end + 1
        else:
            high = start
    return ()


@cache
def _table(file: str) -> mmap.mmap:
    """A line for each icon in the order of their names: name, tab, shapes, or `=` and another name.

    A path is its `d` alone.
    """
    with as_file(files("widgetd.view") / file) as path, path.open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
