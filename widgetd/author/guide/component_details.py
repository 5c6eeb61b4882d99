"""Descriptions of components: purpose, properties, children, and their users.

They come from the vocabulary of the installed `chatkit.widgets`, with its documentation. The view
supplies the default values.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any, Self

import orjson

from widgetd.author.guide.limits import LIMITS
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.files.persistent_map import list_differing, list_missing
from widgetd.base.limits import Limits
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.schema.document import SchemaDocument, read_document
from widgetd.core.schema.limits import LIMITS as SCHEMA_LIMITS
from widgetd.core.schema.phrase import describe
from widgetd.core.widget.components import load_vocabulary
from widgetd.core.widget.components.traits import ICON_PROPERTIES
from widgetd.core.widget.components.values import HUES, SHADES, list_color_tokens
from widgetd.core.widget.components.vocabulary import Component
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.render.result import not_found

ICONS = "icons"
COLORS = "colors"
SIZES = "sizes"

VALUES: Mapping[str, str] = {
    ICONS: "Names for Icon and the icons of buttons.",
    COLORS: "Names of colors for texts, backgrounds, borders and charts, and the palette.",
    SIZES: "Names of sizes and radii, and what a number is.",
}
"""Lists of values that several components take, and what they are for."""

_TYPE = compile_pattern(r'"type"\s*:\s*"([A-Z][A-Za-z.]*)"')
_ELEMENT = compile_pattern(r"<([A-Z][A-Za-z.]*)")
_HIDDEN = frozenset({"type", "key", "id"})
"""Properties that every component has."""


def describe_components(names: Sequence[str], examples: Examples) -> Iterator[dict[str, Any]]:
    """Yield `{"name", "status", ...}` for each name, without names, all components briefly.

    A name is as `Button`, `Button.variant`, `colors`, `sizes` or `icons`.
    """
    if not names:
        for component in load_vocabulary().components.values():
            yield {"name": component.type, "status": "ok", "use": component.use}
        for name, use in VALUES.items():
            yield {"name": name, "status": "ok", "use": use}
    described: dict[str, str] = {}
    for name in names:
        yield _describe(name, examples, described)


@dataclass(eq=False)
class Examples:
    """An index of the served widgets by component. Safe in any thread.

    Following a snapshot costs as much as its difference from the last.
    """

    _widgets: Mapping[str, Widget] = field(default_factory=dict)
    _users: dict[str, list[str]] = field(default_factory=dict)
    _examples: dict[str, tuple[tuple[Widget, ...], Any]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def follow(self, snapshot: Snapshot) -> Self:
        with self._lock:
            before, after = self._widgets, snapshot.widgets
            for tool in (*list_missing(before, after), *list_differing(before, after)):
                for type_ in count_components(before[tool]) if tool in before else ():
                    self._users[type_].remove(tool)
                for type_ in count_components(after[tool]) if tool in after else ():
                    insort(self._users.setdefault(type_, []), tool)
            self._widgets = after
        return self

    def users(self, type_: str) -> tuple[Widget, ...]:
        with self._lock:
            return tuple(self._widgets[tool] for tool in self._users.get(type_, ())[: LIMITS.users])

    def example(self, type_: str) -> Any:
        users = self.users(type_)
        cached = self._examples.get(type_)
        if cached is None or cached[0] != users:
            nodes = (
                _shorten(node, LIMITS.example_depth)
                for widget in users
                for node in _nodes(widget)
                if node.get("type") == type_
            )
            cached = self._examples[type_] = users, next(nodes, None)
        return cached[1]


def _describe(name: str, examples: Examples, described: dict[str, str]) -> dict[str, Any]:
    """Describe a name.

    Components share many properties, such as sizes, borders and colors. Each is described once, in
    its first component, which `described` has by the description.
    """
    components = load_vocabulary().components
    if name in (COLORS, SIZES):
        listed = list_colors() if name == COLORS else list_sizes()
        return {"name": name, "status": "ok", "use": VALUES[name], **listed}
    if name == ICONS:
        values, more = list(load_vocabulary().icons), "or lucide: and a name of that set"
        return {"name": name, "status": "ok", "values": values, "holds": more}
    # `Table.Row` is a component, `Button.variant` a property.
    type_, _, wanted = (name, "", "") if name in components else name.rpartition(".")
    component = components.get(type_)
    if component is None:
        return _unknown(name, (*components, *VALUES))
    properties = describe_properties(component)
    if wanted:
        matching = [row for row in properties if row["name"] == wanted]
        if not matching:
            return _unknown(name, [f"{type_}.{row['name']}" for row in properties])
        return {**matching[0], "name": name, "status": "ok"}
    fresh: dict[str, Any] = {}
    same: dict[str, list[str]] = {}
    for prop in properties:
        key, row = prop["name"], _shorten_row(prop)
        first = described.setdefault(orjson.dumps([key, row]).decode(), type_)
        if first == type_:
            fresh[key] = row if isinstance(row, str) else _refer(row, f"{type_}.{key}", described)
        else:
            same.setdefault(first, []).append(key)
    # In a word for anything, or for a Card's children.
    holds: str | list[str] = "anything"
    if component.holds is not None:
        holds = sorted(component.holds) if len(component.holds) < 2 else "components but roots"
    example = examples.example(type_)
    if example is None:  # no widget of the folder uses it
        example = _read_table("widgetd.author.guide", "examples.json").get(type_)
    children = component.documentation.get("children")
    return {
        "name": type_,
        "status": "ok",
        "use": component.use,
        "holds": holds,
        **({"children": children} if children else {}),
        "properties": fresh,
        **({"sameAs": same} if same else {}),
        "usedBy": [widget.tool for widget in examples.users(type_)],
        "example": example,
    }


def _shorten_row(row: Mapping[str, Any]) -> str | dict[str, Any]:
    """Return a property without its redundant parts.

    Returns:
        `"a string, required: Its documentation."` if that is all, else `{"text", "values"?,
        "fields"?, "kinds"?}`. Fields of all kinds are in `fields`.
    """
    fields = {name: _shorten_row(inner) for name, inner in row.get("fields", {}).items()}
    kinds = {
        kind: {name: _shorten_row(inner_row) for name, inner_row in inner.items()}
        for kind, inner in row.get("kinds", {}).items()
    }
    if kinds:
        first, *others = kinds.values()
        fields = {
            name: value
            for name, value in first.items()
            if all(other.get(name) == value for other in others)
        }
        kinds = {
            kind: {name: inner_row for name, inner_row in inner.items() if name not in fields}
            for kind, inner in kinds.items()
        }
    parts = (("values", row.get("values")), ("fields", fields), ("kinds", kinds))
    short: dict[str, Any] = {key: value for key, value in parts if value}
    # ChatKit's text names the types itself where CSS is among them.
    is_typed = "values" in row or "CSS string" in row.get("text", "")
    heads = [] if is_typed else [row["expected"]]
    heads += ["required"] if row.get("required") else []
    heads += [f"default {orjson.dumps(row['default']).decode()}"] if "default" in row else []
    text = ": ".join(part for part in (", ".join(heads), row.get("text", "")) if part)
    return {"text": text, **short} if short else text


def _refer(row: dict[str, Any], name: str, described: dict[str, str]) -> dict[str, Any]:
    for part in ("fields", "kinds"):
        if part in row:
            first = described.setdefault(orjson.dumps(row[part]).decode(), name)
            if first != name:
                del row[part]
                row[f"{part}As"] = first
    return row


@cache
def _read_table(package: str, name: str) -> Mapping[str, Any]:
    return dict(orjson.loads((files(package) / name).read_bytes()))


@cache
def list_colors() -> Mapping[str, Any]:
    """Return the colors of components.

    Returns:
        `{"tokens": [{"values", "of"}], "hues", "shades", "others"}`. `of` names the properties
        of the tokens.
    """
    return {
        "tokens": _list_tokens(lambda part: list_color_tokens(part.get("description", ""))),
        "hues": list(HUES),
        "shades": list(SHADES),
        "others": "A hue and a shade as blue-500, a hue alone is its shade 400; alpha-5 to "
        "alpha-90; any color of CSS; or {light, dark} with one of these each.",
    }


@cache
def list_sizes() -> Mapping[str, Any]:
    """Return the named sizes: `{"tokens": [{"values", "of"}], "others"}`, as `list_colors`."""
    return {
        "tokens": _list_tokens(
            lambda part: tuple(part["enum"]) if {"sm", "lg"} <= {*part.get("enum", ())} else ()
        ),
        "others": "Where a property is a number: steps of 4 pixels in gap, padding, margin and "
        "spacing, else pixels. A text is a length of CSS, as 12px, 50% or 1.5rem.",
    }


def _list_tokens(
    select: Callable[[Mapping[str, Any]], tuple[str, ...]],
) -> list[dict[str, list[str]]]:
    users: dict[tuple[str, ...], set[str]] = {}
    for component in load_vocabulary().components.values():
        parts = {component.type: component.schema, **component.schema.get("$defs", {})}
        for owner, part in parts.items():
            for name, inner in part.get("properties", {}).items():
                if tokens := select(inner):
                    users.setdefault(tokens, set()).add(f"{owner}.{name}")
    return [{"values": list(values), "of": sorted(of)} for values, of in users.items()]


def _unknown(name: str, names: Iterable[str]) -> dict[str, Any]:
    return {**not_found(name, names), "code": "W3002"}


@cache
def describe_properties(component: Component) -> tuple[Mapping[str, Any], ...]:
    """Return a row for each property of a component.

    Returns:
        `{"name", "expected", "required", "text"?, "values"?, "fields"?, "kinds"?, "default"?}`.
        `fields` and the values of `kinds` are `{name: {"expected", "text"?, "values"?}}`. `kinds`
        has the alternatives of a value with several kinds of objects.
    """
    document = read_document(deepcopy(dict(component.schema)), Limits())
    required = component.schema.get("required", ())
    # The view's defaults. ChatKit documents none.
    drawn = _read_table("widgetd.view", "defaults.json").get(component.type, {})
    items = []
    for name, part in document.root["properties"].items():
        if name in _HIDDEN:
            continue
        item = {"name": name, **_describe_value(document, part), "required": name in required}
        objects = [form for form in _value_schemas(document, part) if "properties" in form]
        kinds = [
            {field: _describe_value(document, inner) for field, inner in form["properties"].items()}
            for form in objects
        ]
        if len(kinds) == 1:
            item["fields"] = kinds[0]
        elif kinds:
            item["kinds"] = dict(zip(_name_kinds(objects), kinds, strict=True))
        if "default" in part or name in drawn:
            item["default"] = part.get("default", drawn.get(name))
        items.append(item)
    return tuple(items)


def _describe_value(document: SchemaDocument, part: Mapping[str, Any]) -> dict[str, Any]:
    """Return `{"expected", "text"?, "values"?}`. The text is the documentation of ChatKit."""
    described: dict[str, Any] = {"expected": describe(document, part)}
    if "description" in part:
        described["text"] = part["description"]
    values = [value for form in _value_schemas(document, part) for value in form.get("enum", ())]
    if set(values) >= set(load_vocabulary().icons):
        described["expected"] = f"the name of an icon (ask for '{ICONS}')"
    elif values:
        described["values"] = values
        if set(values) == set(part.get("enum", ())) and len(values) > SCHEMA_LIMITS.choices:
            described["expected"] = "one of the values"
    return described


def _name_kinds(objects: Sequence[Mapping[str, Any]]) -> list[str]:
    names = []
    for schema in objects:
        own = schema["properties"]
        others = {name for other in objects if other is not schema for name in other["properties"]}
        type_ = own.get("type", {}).get("const")
        names.append(type_ or f"with {next(name for name in own if name not in others)}")
    return names


def _value_schemas(document: SchemaDocument, part: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(part, Mapping):
        yield part
        choices = *part.get("anyOf", ()), *part.get("oneOf", ())
        for inner in (*document.targets(part), *choices, part.get("items")):
            yield from _value_schemas(document, inner)


def count_components(widget: Widget) -> Counter[str]:
    definition, components = widget.definition, load_vocabulary().components
    tokens = (
        read_tokens(_ELEMENT, definition.view)
        if widget.source == "view"
        else read_tokens(_TYPE, definition.template)
    )
    return Counter(type_ for type_ in sorted(token[1] for token in tokens) if type_ in components)


def find_icons(widget: Widget) -> list[str]:
    icons = load_vocabulary().icons
    names = {
        value
        for node in _nodes(widget)
        for key, value in node.items()
        if key in ICON_PROPERTIES and isinstance(value, str)
    }
    return sorted(
        icon for icon in names if icon in icons or icon.startswith(("lucide:", "vendor:"))
    )


def _nodes(widget: Widget) -> Iterator[Mapping[str, Any]]:
    try:
        pending: list[Any] = [widget.tree(widget.example)]
    except (CallError, WidgetError):
        return
    for node in pending:
        if isinstance(node, Mapping):
            yield node
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def _shorten(node: Any, depth: int) -> Any:
    if isinstance(node, Mapping):
        return {key: _shorten(value, depth - (key == "children")) for key, value in node.items()}
    if isinstance(node, list):
        return (
            [_shorten(part, depth) for part in node[: LIMITS.example_children]] if depth > 0 else []
        )
    is_long = isinstance(node, str) and len(node) > LIMITS.example_chars
    return f"{node[: LIMITS.example_chars]}…" if is_long else node
