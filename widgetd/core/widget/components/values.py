"""Texts of properties without a list of choices: colours, and lengths of CSS.

ChatKit's schema says only *a string* of them. Its documentation names the tokens. Any other text
is ignored in drawing, so its author sees black bars and no message.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import orjson

from widgetd.base.text_search import compile_pattern, nearest, read_tokens

HUES = ("gray", "red", "orange", "yellow", "green", "blue", "purple", "pink")

_STEPS = (25, 50, 75, *range(100, 1000, 100), 950, 1000)
_GRAY_STEPS = (0, 25, 50, 75, *range(100, 950, 50), 925, 950, 975, 1000)
_ALPHA_STEPS = (25, 50, 75, 100, 200, 300)

SHADES = tuple(map(str, _STEPS)) + tuple(f"a{step}" for step in _ALPHA_STEPS)
"""Shades of each hue but gray, which has more; those with an `a` are translucent."""

PALETTE = tuple(f"{hue}-{shade}" for hue in HUES[1:] for shade in SHADES) + tuple(
    f"gray-{step}" for step in _GRAY_STEPS
)
"""Primitive tokens: a hue and a shade."""
_PALETTE = frozenset(PALETTE)

CSS_COLORS: Mapping[str, str] = orjson.loads(
    (files("widgetd.core.widget.components") / "css_colors.json").read_bytes()
)
"""Named colours of CSS as `#rrggbb`. Source: CSS Color Module Level 4, section 6.1."""

_KEYWORDS = frozenset(
    "transparent currentcolor inherit initial unset revert none".split()  # noqa: SIM905 - a table
)

_TOKENS = compile_pattern(r"[Tt]okens: ((?:`[a-z-]+` ?)+)")
_TRANSLUCENT = compile_pattern(
    r"(?:(?:gray|red|orange|yellow|green|blue|purple|pink)-a|alpha-)\d{1,3}"
)
_HEX = compile_pattern(r"#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})")
_RGB = compile_pattern(r"rgba?\(\s*(\d{1,3})[,\s]\s*(\d{1,3})[,\s]\s*(\d{1,3})\s*\)")
_HUE = compile_pattern(r"--(red|orange|yellow|green|blue|purple|pink)-400:(#[0-9a-f]{6});")
_LENGTH = compile_pattern(r"[+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})(?:%|[A-Za-z]{1,5})?")
_NAMED_SIZES = """
auto none inherit initial unset normal min-content max-content fit-content stretch
"""
_SIZES = frozenset(_NAMED_SIZES.split())
_NAMES_OF_UNITS = """
% px em rem ch ex lh rlh vw vh vmin vmax vi vb svw svh dvw dvh lvw lvh cqw cqh cqi cqb cm mm in
pt pc q fr
"""
_UNITS = frozenset(_NAMES_OF_UNITS.split())


@cache
def list_color_tokens(documentation: str) -> tuple[str, ...]:
    """Return the tokens in ChatKit's documentation of a property. Empty: no colour."""
    if "rimitive color token" not in documentation:
        return ()
    tokens = _TOKENS.search(documentation)
    return () if tokens is None else tuple(tokens[1].replace("`", "").split())


def is_length(documentation: str) -> bool:
    return "CSS string" in documentation and not list_color_tokens(documentation)


def admits_color(value: str, tokens: tuple[str, ...]) -> bool:
    """Return whether ChatKit or CSS knows a colour or a background."""
    color = value.strip()
    return (
        not color
        or color in tokens
        or color in _PALETTE
        or color.lower() in CSS_COLORS
        or color.lower() in _KEYWORDS
        # Functions are left to CSS: gradients, pictures, rgb().
        or "(" in color
        or _HEX.fullmatch(color) is not None
        or _TRANSLUCENT.fullmatch(color) is not None
    )


@cache
def read_literal_color(value: str) -> str | None:
    """Return a colour with the same value in both themes, as `#rrggbb`.

    A hue alone is that of the palette, as everywhere in widgetd, and not that of CSS.

    Returns:
        None for tokens with a shade, chosen by an author for their look, for names that differ by
        theme, and for translucent colours.
    """
    color = value.strip().lower()
    if color in HUES:
        return _read_hues().get(color)
    if color in CSS_COLORS:
        return CSS_COLORS[color]
    if parts := _RGB.fullmatch(color):
        return "#" + "".join(f"{min(int(part), 255):02x}" for part in parts.groups())
    if _HEX.fullmatch(color) is None:
        return None
    digits = color[1:] if len(color) > 5 else "".join(2 * digit for digit in color[1:])
    return f"#{digits[:6]}" if digits[6:] in ("", "ff") else None


# The hues with the same look in both themes: all but gray.
@cache
def _read_hues() -> Mapping[str, str]:
    page = (files("widgetd.view") / "view.html").read_text(encoding="utf-8")
    return {hue[1]: hue[2] for hue in read_tokens(_HUE, page)}


def admits_length(value: str) -> bool:
    """Return whether CSS knows a length, a ratio, or several of them."""
    parts = value.replace("/", " ").split()
    return "(" in value or all(map(_is_one_length, parts))


def _is_one_length(part: str) -> bool:
    unit = part.lstrip("+-.0123456789").lower()
    return part.lower() in _SIZES or (
        _LENGTH.fullmatch(part) is not None and (not unit or unit in _UNITS)
    )


def find_near_color(value: str, tokens: tuple[str, ...]) -> str | None:
    """Return the likeliest name, from the palette if there is a digit in it."""
    if any(character.isdigit() for character in value):
        hue, _, shade = value.rpartition("-")
        near = nearest(hue, HUES) if hue else None
        if near is not None and f"{near}-{shade}" in _PALETTE:
            return f"{near}-{shade}"
        return nearest(value, PALETTE)
    return nearest(value, tokens) or nearest(value, HUES) or nearest(value, sorted(CSS_COLORS))
