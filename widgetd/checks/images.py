"""Checks of what a widget draws: addresses of images, buttons, colors. Nothing is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import orjson

from widgetd.checks.renders import Outcome, locate
from widgetd.errors import Finding
from widgetd.text_search import compile_pattern
from widgetd.widget.components.tree import iterate_components, walk_components
from widgetd.widget.components.values import read_literal_color
from widgetd.widget.definition import Definition
from widgetd.widget.images import find_blocked, find_image_origins
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import Widget

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


def check_relative_images(widget: Widget, outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    """Yield a finding with the relative addresses of images in the author's samples (W1416)."""
    found: dict[str, _Place] = {}
    for one, at, part in _list_authored(outcomes):
        src = part.get("src") if part.get("type") == "Image" else None
        if isinstance(src, str) and src.startswith(("/", "./", "../")) and src[:2] != "//":
            found.setdefault(src, (one, at))
    if found:
        listed = ", ".join(f"'{src[:80]}'" for src in list(found)[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        problem = f"the address of an image is relative, and hosts draw none: {listed}{more}"
        advice = "write whole addresses, as https://…, or send data: URIs"
        yield from _build_findings("W1416", widget, {(problem, advice): next(iter(found.values()))})


def check_buttons(widget: Widget, outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    """Yield each button that has neither a name nor an icon, or does nothing (W1415)."""
    problems: _Problems = {}
    for one, at, part in _list_authored(outcomes):
        if part.get("type") != "Button":
            continue
        label = str(part.get("label") or "")
        if not (label or part.get("iconStart") or part.get("iconEnd")):
            unnamed = "a button has neither a label nor an icon", "write its 'label'"
            problems.setdefault(unnamed, (one, at))
        if not (part.get("onClickAction") or part.get("submit")):
            named = f"the button '{label[:40]}'" if label else "a button"
            problem = f"{named} does nothing when it is pressed"
            advice = "write its 'onClickAction', or 'submit' in a form"
            problems.setdefault((problem, advice), (one, at))
    yield from _build_findings("W1415", widget, problems)


def check_contrast(widget: Widget, outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    """Yield each color of a text that is hard to read in one theme (W1411).

    A literal color and a hue alone are the same in both themes; ChatKit's names differ. A text
    within a box with a background of its own is left out.
    """
    problems: _Problems = {}
    boxed: set[int] = set()
    for one, at, part in _list_authored(outcomes):
        if part.get("background") or id(part) in boxed:
            children = part.get("children")
            inside = children if isinstance(children, list) else [children]
            boxed.update(map(id, inside))
        elif part.get("type") in _TEXTS:
            color = part.get("color")
            for theme, card in _CARDS.items():
                text = color.get(theme) if isinstance(color, Mapping) else color
                literal = read_literal_color(text) if isinstance(text, str) else None
                if literal and (ratio := contrast(literal, card)) < _LEAST_CONTRAST:
                    problem = f"the color '{text}' of a text has a contrast of {ratio:.1f} : 1"
                    problems.setdefault((f"{problem} in {theme}", _READABLE), (one, at))
    yield from _build_findings("W1411", widget, problems)


_READABLE = "write a name as 'secondary' or 'danger', or {light, dark} with a color each"
_TEXTS = frozenset({"Text", "Title", "Caption", "Label", "Icon"})
_CARDS = MappingProxyType({"light": "#ffffff", "dark": "#303030"})
"""The background of a card in each theme."""

_LEAST_CONTRAST = 3.0
"""For large text. Source: WCAG 2.2, success criterion 1.4.3."""

_Place: TypeAlias = tuple[Outcome, str]
"""An outcome, and the pointer of a component in its tree."""

_Problems: TypeAlias = dict[tuple[str, str], _Place]
"""Problems with their advice, and where each was found first."""


def _list_authored(
    outcomes: Iterable[Outcome],
) -> Iterator[tuple[Outcome, str, Mapping[str, Any]]]:
    """Yield each component of the author's samples, outer before inner, and its place."""
    for one in outcomes:
        if one.sample.authored and one.tree is not None:
            for at, part in walk_components(one.tree):
                yield one, at, part


def _build_findings(code: str, widget: Widget, problems: _Problems) -> Iterator[Finding]:
    for (problem, advice), (one, at) in problems.items():
        line, column = locate(widget, one, at)
        yield Finding(
            code=code, at=one.at, line=line, column=column, problem=problem, advice=advice
        )


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors as `#rrggbb`, from 1 to 21.

    Source: WCAG 2.2, contrast ratio and relative luminance.
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _list_sources(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield the address of each image in a tree."""
    for part in iterate_components(tree):
        if part.get("type") == "Image" and isinstance(part.get("src"), str):
            yield part["src"]
