"""Checks of images, buttons, colors, spaces and sentences in rendered trees. Nothing is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import orjson

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.checks.absent import fill_in, join_steps, schema_pointer
from widgetd.core.checks.limits import LIMITS
from widgetd.core.checks.renders import Outcome, locate, move_to_source
from widgetd.core.schema.json_values import pointer, resolve_pointer, steps
from widgetd.core.widget.components.tree import iterate_components, walk_components
from widgetd.core.widget.components.values import read_literal_color
from widgetd.core.widget.images import find_blocked, find_image_origins
from widgetd.core.widget.samples import GENERATED
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.theme import LEAST_CONTRAST, MODES, Theme, contrast, find_readable
from widgetd.core.widget.widget import Widget

_RESERVED = compile_pattern(r"[/.](?:example(?:\.(?:com|net|org))?|test|invalid)(?::|$)")
"""Origins reserved for examples by RFC 2606."""


def check_image_origins(
    widget: Widget, outcomes: Sequence[Outcome], allowed: Collection[str]
) -> Iterator[Finding]:
    """Yield a warning if hosts do not load the images of arguments (W1410).

    The warning names the origins in the author's samples. If only calls can bring images, it asks
    the operator to choose.
    """
    definition = widget.definition
    place: tuple[int | None, int | None] = (None, None)
    authored = [outcome for outcome in outcomes if outcome.sample.authored and outcome.tree]
    admitted = {*definition.image_origins, *allowed}
    sidecar = f"'{definition.path}{SUFFIX}'"
    trees = [outcome.tree or {} for outcome in authored]
    if refused := find_refused_origins(trees, admitted):
        listed = ", ".join(f'"{origin}"' for origin in refused)
        problem = f"images come from {', '.join(refused)}, and hosts load none from there"
        advice = f"write `image_origins = [{listed}]` into {sidecar}, or send them as data: URIs"
        places = (
            locate(widget, outcome, at)
            for outcome in authored
            for at, part in walk_components(outcome.tree or {})
            if str(part.get("src", "")).startswith(refused)
        )
        place = next(filter(any, places), place)
    elif (
        not admitted
        and not any(any(_list_sources(tree)) for tree in trees)
        # An address that the source does not contain comes from a call.
        and any(
            src and not src.startswith("data:") and src not in definition.template + definition.view
            for outcome in outcomes
            for src in _list_sources(outcome.tree or {})
        )
    ):
        problem = (
            "calls say where images come from, and hosts load none unless they know the origin"
        )
        advice = f"list the expected origins as `image_origins` in {sidecar}"
    else:
        return
    line, column = place
    yield Finding(
        code="W1410", at=widget.drawing_at, line=line, column=column, problem=problem, advice=advice
    )


def find_refused_origins(
    trees: Iterable[Mapping[str, Any]], admitted: Collection[str]
) -> tuple[str, ...]:
    """List origins of images in `trees` outside of `admitted`, without reserved domains."""
    named = {origin for tree in trees for origin in find_image_origins(orjson.dumps(tree))}
    return find_blocked({name for name in named if not _RESERVED.search(name)}, admitted)


def check_parts(widget: Widget, outcomes: Iterable[Outcome], theme: Theme) -> Iterator[Finding]:
    """Yield problems of single components in the author's samples (W1330, W1411 to W1416).

    Each problem is reported once, at its first component.
    """
    reported: set[str] = set()
    for outcome in outcomes:
        for at, part, on_card in _walk(outcome.tree or {}) if outcome.sample.authored else ():
            colors = _check_color(part, theme) if on_card else ()
            for code, problem, advice in chain(*(check(part) for check in _CHECKS), colors):
                if problem not in reported:
                    reported.add(problem)
                    finding = Finding(code=code, at=at, problem=problem, advice=advice)
                    yield move_to_source(widget, outcome, finding)


Problem = tuple[str, str, str]
"""Code, problem and advice."""


def _check_image(part: Mapping[str, Any]) -> Iterator[Problem]:
    src = str(part.get("src") or "") if part.get("type") == "Image" else ""
    if src.startswith(("/", "./", "../")) and not src.startswith("//"):
        problem = f"the address of an image is relative, and hosts draw none: '{src[:80]}'"
        yield "W1416", problem, "write whole addresses, as https://…, or send data: URIs"


def _check_button(part: Mapping[str, Any]) -> Iterator[Problem]:
    if part.get("type") != "Button":
        return
    label = str(part.get("label") or "")
    if not (label or part.get("iconStart") or part.get("iconEnd")):
        yield "W1415", "a button has neither a label nor an icon", "write its 'label'"
    if not (part.get("onClickAction") or part.get("submit")):
        named = f"the button '{label[:40]}'" if label else "a button"
        advice = "write its 'onClickAction', or 'submit' in a form"
        yield "W1415", f"{named} does nothing when it is pressed", advice


def _check_color(part: Mapping[str, Any], theme: Theme) -> Iterator[Problem]:
    # A literal color and a hue alone are the same in both themes. ChatKit's names differ.
    color = part.get("color") if (type_ := part.get("type")) in _TEXTS else None
    is_large = type_ == "Icon" or (type_ == "Title" and part.get("size") in _LARGE)
    least = LEAST_CONTRAST["large" if is_large else "text"]
    for mode in MODES:
        text = color.get(mode) if isinstance(color, Mapping) else color
        card = theme.background(mode)
        literal = read_literal_color(text) if isinstance(text, str) else None
        if literal and (ratio := contrast(literal, card)) < least:
            on = f"{ratio:.1f} : 1 in {mode} on the background {card}"
            problem = f"the color '{text}' of a text has a contrast of {on}"
            nearest = find_readable(literal, card, least)
            yield "W1411", problem, f"write {nearest} for {mode}, or a name as 'secondary'"


def _check_spaces(part: Mapping[str, Any]) -> Iterator[Problem]:
    for name in _SPACES:
        space = part.get(name)
        for units in space.values() if isinstance(space, Mapping) else [space]:
            if isinstance(units, int | float) and units >= _MOST_UNITS:
                size = f"{units:g} units, which are {units * _UNIT_PX:g} px"
                problem = f"'{name}' of '{part.get('type')}' is {size}"
                yield "W1330", problem, f"write {units / _UNIT_PX:g} for {units:g} px"


_CHECKS = (_check_image, _check_button, _check_spaces)
_SPACES = ("gap", "padding", "margin")
_UNIT_PX = 4
# Spaces of 16 units (64 px) and more are usually meant as pixels.
_MOST_UNITS = 16

_TEXTS = frozenset({"Text", "Title", "Caption", "Label", "Icon"})
# Titles of 24 px and more.
_LARGE = frozenset({"lg", "xl", "2xl", "3xl", "4xl", "5xl"})


def check_sentences(widget: Widget, outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """Yield optional arguments whose absence leaves a gap in the author's sentence (W1331).

    Renders the sample with only the required fields, adding one field at a time.
    """
    drawn = [outcome for outcome in outcomes if outcome.tree is not None]
    least = next(
        (outcome for outcome in drawn if outcome.sample.name == GENERATED["required"]), None
    )
    if least is None or widget.definition.schema is None:
        return
    bare, source = least.sample.arguments, widget.definition.template + widget.definition.view
    trials = (sentence for outcome in drawn for sentence in fill_in(bare, outcome.sample.arguments))
    seen: set[tuple[str, ...]] = set()
    for path, trial in islice(trials, LIMITS.absent_renders):
        value = resolve_pointer(trial, "".join("/0" if e == "[]" else pointer(e) for e in path))
        if path in seen or not isinstance(value, (str, int, float)) or isinstance(value, bool):
            continue
        try:
            tree = widget.tree(trial)
        except (CallError, WidgetError):
            continue
        for at, words in _list_texts(tree):
            gap = resolve_pointer(least.tree, at)
            if path in seen or gap == words or gap != words.replace(str(value), "", 1):
                continue
            if any(word[0] in source for word in read_tokens(_WORD, str(gap))):
                seen.add(path)
                yield Finding(
                    code="W1331",
                    at=schema_pointer(path),
                    problem=f"a text is '{str(gap)[:60]}' where '{join_steps(path)}' is absent",
                    advice="require it, give it a default, or show the text only where it is there",
                )


_WORD = compile_pattern(r"[^\W\d_]{2,}")


def _list_texts(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    for step, inner in steps(value):
        yield from _list_texts(inner, at + pointer(step))


def _walk(tree: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Yield each component with its pointer, and whether it stands on the card's background."""
    on_card: dict[str, bool] = {}
    for at, part in walk_components(tree):
        around = on_card.get(at.rpartition("/children")[0], True)
        on_card[at] = around and not part.get("background")
        yield at, part, on_card[at]


def _list_sources(tree: Mapping[str, Any]) -> Iterator[str]:
    for part in iterate_components(tree):
        if part.get("type") == "Image" and isinstance(part.get("src"), str):
            yield part["src"]
