"""Sheets of a component in each value of its choices: sizes, variants, colors and the like.

A sheet is a tree of components, made from the vocabulary: a new component or value of
ChatKit is drawn without a line here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from widgetd.author.guide.component_details import describe_properties
from widgetd.core.widget.components import load_vocabulary
from widgetd.core.widget.components.values import HUES, list_color_tokens
from widgetd.core.widget.components.vocabulary import Component

if TYPE_CHECKING:
    from widgetd.author.browser.chromium import Theme
    from widgetd.author.browser.picture import Screenshot

WIDTH_PX = 400
"""Width of the room that a sheet is drawn in."""

_LANDSCAPE = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 60 40'>"
    "<rect width='60' height='40' fill='%238ac5ff'/>"
    "<circle cx='46' cy='11' r='6' fill='%23ffc300'/>"
    "<path d='M0 40 20 14 34 30 44 22 60 40z' fill='%23008635'/></svg>"
)

_CONTENT: Mapping[str, Any] = {
    "name": "calendar",
    "fieldName": "calendar",
    "src": _LANDSCAPE,
    "options": [{"value": "a", "label": "First"}, {"value": "b", "label": "Second"}],
    "data": [
        {"day": day, "bar": bar, "line": line, "area": area}
        for day, bar, line, area in (("Mo", 4, 2, 1), ("Tu", 6, 5, 3), ("We", 3, 6, 2))
    ],
    "series": [
        {"type": kind, "dataKey": kind, "label": kind.capitalize()}
        for kind in ("area", "bar", "line")
    ],
    "xAxis": "day",
    "minHeight": 64,
}
"""What a specimen shows, by property; `value`, `label` and `placeholder` are its type."""

_LABELS = frozenset({"value", "label", "placeholder", "alt"})
_CONTENT_BY_TYPE: Mapping[str, Mapping[str, Any]] = {
    "Chart": {"height": 120},
    "Image": {"width": 60, "height": 40},
    "Markdown": {"value": "**Markdown** with `code`\n\n- and a list"},
}
_NARROW = frozenset({"Badge", "Button", "Icon", "Image"})
"""Components that are as wide as their content."""

_COMPANIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"iconSize": {"iconStart": "calendar"}}
)
"""Further properties with which a property becomes visible."""

_INVISIBLE = frozenset({"autoFocus", "autoSelect", "allowAutofillExtensions"})
"""Switches that change nothing that a picture could show."""


@cache
def list_choices(component: Component) -> Mapping[str, tuple[Any, ...]]:
    choices: dict[str, tuple[Any, ...]] = {}
    for row in describe_properties(component):
        name, tokens = row["name"], list_color_tokens(row.get("text", ""))
        if tokens:
            choices[name] = (*tokens, *HUES)
        elif "values" in row:
            choices[name] = tuple(row["values"])
        elif row["expected"] == "true or false" and name not in _INVISIBLE:
            choices[name] = (not row.get("default", False),)
        elif component.type == "Icon" and name == "name":
            choices[name] = load_vocabulary().icons
    return MappingProxyType(choices)


@cache
def build_sheet(type_: str) -> Mapping[str, Any]:
    component = load_vocabulary().components[type_]
    plain = _build_specimen(component)
    rows: dict[str, list[tuple[Any, str]]] = {}
    for name, values in list_choices(component).items():
        for value in values:
            specimen = _wrap_in_parents({**plain, **_COMPANIONS.get(name, {}), name: value})
            is_switch = isinstance(value, bool)
            label = f"{name}: {str(value).lower()}" if is_switch else value
            rows.setdefault("true or false" if is_switch else name, []).append((specimen, label))
    can_nest = _wrap_in_parents(plain)["type"] in (load_vocabulary().components["Card"].holds or ())
    lay_out = partial(_lay_out, narrow=type_ in _NARROW) if can_nest else _stack
    parts: list[Any] = [_wrap_in_parents(plain)]
    for name, specimens in rows.items():
        heading = {"type": "Caption", "value": name, "weight": "semibold", "color": "primary"}
        parts += [heading, *lay_out(specimens)]
    if not can_nest:
        return {"type": "Basic", "children": parts}
    column = {"type": "Col", "gap": 3, "children": parts}
    return {"type": "Card", "size": "full", "children": [column]}


def list_screenshots(names: Iterable[str]) -> list[Screenshot]:
    """Return the pictures of components' sheets, light and dark.

    A name is of a component or of its property, as `Button.variant`. Others have no picture.
    """
    from widgetd.author.browser.picture import Screenshot  # noqa: PLC0415 - few callers draw

    components = load_vocabulary().components
    types = dict.fromkeys(name if name in components else name.rpartition(".")[0] for name in names)
    themes: tuple[Theme, ...] = ("light", "dark")
    return [
        Screenshot(
            tree=build_sheet(type_),
            title=f"{type_}, {theme}",
            theme=theme,
            width=WIDTH_PX,
            scale=1,
        )
        for type_ in types
        if type_ in components
        for theme in themes
    ]


def _lay_out(specimens: list[tuple[Any, str]], *, narrow: bool) -> list[dict[str, Any]]:
    shape = {"align": "start", "minWidth": 72} if narrow else {"width": 164}
    cells = [
        {"type": "Col", "gap": 1, **shape, "children": [specimen, *_build_caption(label)]}
        for specimen, label in specimens
    ]
    return [{"type": "Row", "wrap": "wrap", "align": "end", "gap": 3, "children": cells}]


def _stack(specimens: list[tuple[Any, str]]) -> list[dict[str, Any]]:
    return [part for specimen, label in specimens for part in (*_build_caption(label), specimen)]


def _build_caption(label: str) -> list[dict[str, Any]]:
    return [{"type": "Caption", "value": label, "size": "sm"}]


def _build_specimen(component: Component) -> dict[str, Any]:
    names = component.schema["properties"].keys()
    content: dict[str, Any] = dict.fromkeys(names & _LABELS, component.type)
    content |= {name: value for name, value in _CONTENT.items() if name in names}
    if component.type in _CONTENT_BY_TYPE:
        content |= _CONTENT_BY_TYPE[component.type]
    if component.holds != frozenset():
        content["children"] = list(_build_children(component))
        if "background" in names and "gap" in names:
            content |= {"background": "surface-secondary", "padding": 2}
    return {"type": component.type, **content}


def _build_children(component: Component) -> Iterator[dict[str, Any]]:
    components = load_vocabulary().components
    if component.holds is not None and len(component.holds) == 1:
        [only] = component.holds
        yield from (_build_specimen(components[only]),) * 2
    elif "gap" in component.schema["properties"]:
        for size in ("sm", "md", "lg"):
            yield {"type": "Badge", "label": size, "size": size}
    else:
        yield {"type": "Text", "value": component.type}


def _wrap_in_parents(specimen: dict[str, Any]) -> dict[str, Any]:
    only_this = frozenset({str(specimen["type"])})
    for parent in load_vocabulary().components.values():
        if parent.holds == only_this:
            return _wrap_in_parents({"type": parent.type, "children": [specimen]})
    return specimen
