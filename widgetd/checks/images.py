"""Checks of what a widget draws: addresses of images, buttons, colors. Nothing is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import orjson

from widgetd.checks.renders import Outcome
from widgetd.errors import Finding
from widgetd.text_search import compile_pattern
from widgetd.widget.components.tree import iterate_components
from widgetd.widget.definition import Definition
from widgetd.widget.images import find_blocked, find_image_origins
from widgetd.widget.sidecar import SUFFIX

_RESERVED = compile_pattern(r"[/.](?:example(?:\.(?:com|net|org))?|test|invalid)(?::|$)")
"""Origins reserved for examples by RFC 2606."""


def check_image_origins(
    definition: Definition, outcomes: Iterable[Outcome], allowed: Collection[str]
) -> Iterator[Finding]:
    """Yield a warning if hosts do not load the images of arguments (W1410).

    Origins in the author's own samples are named. If those show no images but calls can bring any,
    the warning says that there is a choice to make.
    """
    trees = [(one.sample.authored, one.tree) for one in outcomes if one.tree is not None]
    authored = [tree for is_authored, tree in trees if is_authored]
    admitted = {*definition.image_origins, *allowed}
    sidecar = f"'{definition.path}{SUFFIX}'"
    if refused := find_refused_origins(authored, admitted):
        listed = ", ".join(f'"{origin}"' for origin in refused)
        problem = f"images come from {', '.join(refused)}, and hosts load none from there"
        advice = f"write `image_origins = [{listed}]` into {sidecar}, or send them as data: URIs"
    elif (
        not admitted
        and not any(any(_list_sources(tree)) for tree in authored)
        # An address that the template does not contain comes from a call.
        and any(
            src and not src.startswith("data:") and src not in definition.template
            for _, tree in trees
            for src in _list_sources(tree)
        )
    ):
        problem = (
            "calls say where images come from, and hosts load none unless they know the origin"
        )
        advice = f"list the expected origins as `image_origins` in {sidecar}"
    else:
        return
    yield Finding(code="W1410", at="/template", problem=problem, advice=advice)


def find_refused_origins(
    trees: Iterable[Mapping[str, Any]], admitted: Collection[str]
) -> tuple[str, ...]:
    """Return the origins of images in `trees` that are not `admitted`, without reserved ones."""
    named = {origin for tree in trees for origin in find_image_origins(orjson.dumps(tree))}
    return find_blocked({one for one in named if not _RESERVED.search(one)}, admitted)


def check_relative_images(outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    """Yield a finding with the relative addresses of images in the author's samples (W1416)."""
    found = dict.fromkeys(
        src
        for one in outcomes
        if one.sample.authored and one.tree is not None
        for src in _list_sources(one.tree)
        if src.startswith(("/", "./", "../")) and not src.startswith("//")
    )
    if found:
        listed = ", ".join(f"'{src[:80]}'" for src in list(found)[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        yield Finding(
            code="W1416",
            at="/template",
            problem=f"the address of an image is relative, and hosts draw none: {listed}{more}",
            advice="write whole addresses, as https://…, or send data: URIs",
        )


def check_buttons(outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    """Yield each button that has neither a name nor an icon, or does nothing (W1415)."""
    problems: dict[tuple[str, str], None] = {}
    for one in outcomes:
        if not one.sample.authored or one.tree is None:
            continue
        for part in iterate_components(one.tree):
            if part.get("type") != "Button":
                continue
            label = str(part.get("label") or "")
            if not (label or part.get("iconStart") or part.get("iconEnd")):
                problems["a button has neither a label nor an icon", "write its 'label'"] = None
            if not (part.get("onClickAction") or part.get("submit")):
                named = f"the button '{label[:40]}'" if label else "a button"
                problem = f"{named} does nothing when it is pressed"
                problems[problem, "write its 'onClickAction', or 'submit' in a form"] = None
    for problem, advice in problems:
        yield Finding(code="W1415", at="/template", problem=problem, advice=advice)


def check_contrast(outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    """Yield each color of a text that is hard to read in one theme (W1411).

    A color in hexadecimal is the same in both themes; names of ChatKit differ. A text within a
    box that has a background of its own is left out.
    """
    problems: dict[tuple[str, str, str], None] = {}
    for one in outcomes:
        if one.sample.authored and one.tree is not None:
            for part in _list_on_cards(one.tree):
                color = part.get("color")
                if part.get("type") in _TEXTS and isinstance(color, str) and _HEX.fullmatch(color):
                    for theme, card in _CARDS.items():
                        if (ratio := contrast(color, card)) < _LEAST_CONTRAST:
                            problems[color, theme, f"{ratio:.1f}"] = None
    for color, theme, shown in problems:
        yield Finding(
            code="W1411",
            at="/template",
            problem=f"the color '{color}' of a text has a contrast of {shown} : 1 in {theme}",
            advice="write a name as 'secondary' or 'danger', or {light, dark} with a color each",
        )


_TEXTS = frozenset({"Text", "Title", "Caption", "Icon"})
_CARDS = MappingProxyType({"light": "#ffffff", "dark": "#303030"})
"""The background of a card in each theme."""

_LEAST_CONTRAST = 3.0
"""For large text. Source: WCAG 2.2, success criterion 1.4.3."""

_HEX = compile_pattern(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")


def _list_on_cards(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the components that stand on the background of the card."""
    if isinstance(value, list):
        for each in value:
            yield from _list_on_cards(each)
    elif isinstance(value, Mapping) and not value.get("background"):
        yield value
        yield from _list_on_cards(value.get("children", []))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors in hexadecimal, from 1 to 21.

    Source: WCAG 2.2, contrast ratio and relative luminance.
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    digits = color[1:] if len(color) > 4 else "".join(2 * digit for digit in color[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _list_sources(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield the address of each image in a tree."""
    for part in iterate_components(tree):
        if part.get("type") == "Image" and isinstance(part.get("src"), str):
            yield part["src"]
