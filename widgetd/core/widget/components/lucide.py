"""Look up the shapes of icons: Lucide's, and those of ChatKit's own names.

The first icon of a widget also becomes its tool's icon, as a self-contained image. Every list of
tools carries it, so it is small or absent.

The shapes are in files, searched and never loaded, because a widget uses a handful of two
thousand. A tree is sent with the shapes of its Lucide icons. The view has ChatKit's.

Source: npm's lucide-static, by `view/lucide.py`, and @openai/apps-sdk-ui, by `make view`.
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

from widgetd.base.limits import AT_WORK
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.widget.components.traits import ICON_PROPERTIES
from widgetd.core.widget.limits import LIMITS

PREFIX = "lucide:"
"""The prefix of a Lucide icon's name in a tree."""

Shape = tuple[str, Mapping[str, str]]
"""An SVG element on a 24 by 24 grid, as `("path", {"d": "M16 14v6"})`."""


_NAMED = compile_pattern(rb'"lucide:([a-z0-9-]{1,64})"')


IMAGE = "data:image/svg+xml;base64,"

# In a template, as "name": "calendar", or in JSX, as iconStart="calendar" or icon={"calendar"}.
_ICON = compile_pattern(
    rf"""\b(?:{"|".join(ICON_PROPERTIES)})["']?\s*+[:=]\s*+"""
    r"""(?:\{\s*+)?["']([a-z0-9:-]{1,64})["']"""
)


def find_icons(tree: Mapping[str, Any] | bytes) -> dict[str, tuple[Shape, ...]]:
    """Return the icons in `tree`: `{"lucide:cloud-rain": (("path", {...}), ...)}`.

    Unknown names are left out.
    """
    text = tree if isinstance(tree, bytes) else orjson.dumps(tree, default=dict)
    if PREFIX.encode() not in text:
        return {}
    named = list(dict.fromkeys(icon[1] for icon in read_tokens(_NAMED, text)))[: LIMITS.tree_icons]
    icons = {PREFIX + name.decode(): _look_up_shapes(name) for name in named}
    return {name: shapes for name, shapes in icons.items() if shapes}


def find_shapes(name: str) -> tuple[Shape, ...]:
    """Return the shapes of an icon by its name in a tree, `calendar` or `lucide:car`."""
    if name.startswith(PREFIX):
        return _look_up_shapes(name.removeprefix(PREFIX).encode())
    return _look_up_shapes(name.encode(), "icons.txt")


def is_icon(name: str) -> bool:
    return bool(_look_up_shapes(name.encode()))


@cache
def list_icon_names() -> tuple[str, ...]:
    """Return every icon's name, including those of former releases."""
    return tuple(
        line.partition(b"\t")[0].decode() for line in _open_table("lucide.txt")[:].splitlines()
    )


@lru_cache(maxsize=AT_WORK)
def make_tool_icon(source: str) -> str:
    """Make the data URI of the first small icon in a template or JSX.

    Returns:
        `data:image/svg+xml;base64,…`, empty if there is none.
    """
    images = map(_draw_image, dict.fromkeys(icon[1] for icon in read_tokens(_ICON, source)))
    return next((image for image in images if image and len(image) <= LIMITS.tool_icon_chars), "")


def _draw_image(name: str) -> str:
    shapes = find_shapes(name)
    if not shapes:
        return ""
    # A grey visible on light and dark, because an image cannot know the page around it.
    line = 'fill="none" stroke="#888" stroke-width="2" stroke-linecap="round"'
    drawn = line if name.startswith(PREFIX) else 'fill="#888"'
    inside = "".join(map(_draw_element, shapes))
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" {drawn}>{inside}</svg>'
    return IMAGE + b64encode(svg.encode()).decode()


def _draw_element(shape: Shape) -> str:
    tag, attributes = shape
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}/>"


@lru_cache(maxsize=256)
def _look_up_shapes(name: bytes, file: str = "lucide.txt") -> tuple[Shape, ...]:
    table = _open_table(file)
    low, high = 0, len(table)
    while low < high:
        middle = (low + high) // 2
        start, end = table.rfind(b"\n", 0, middle) + 1, table.find(b"\n", middle)
        entry, _, drawn = table[start:end].partition(b"\t")
        if entry == name:
            if drawn.startswith(b"="):
                return _look_up_shapes(drawn[1:], file)
            shapes = orjson.loads(drawn)
            return tuple(("path", {"d": s}) if isinstance(s, str) else s for s in shapes)
        if entry < name:
            low = end + 1
        else:
            high = start
    return ()


@cache
def _open_table(file: str) -> mmap.mmap:
    """Map a file with a line per icon, sorted by name: name, tab, shapes, or `=` and another name.

    A path is only its `d`.
    """
    with as_file(files("widgetd.view") / file) as path, path.open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
