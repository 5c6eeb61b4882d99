"""What a component is for, what it may say and hold, and where it is used.

Read from the vocabulary of the installed `chatkit.widgets`, so that nothing here knows a
component by name; what is drawn where a property is left out comes from the view.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from inspect import getdoc
from threading import Lock
from typing import Any, Self

import orjson

from widgetd.catalog.crash_journal import CrashJournal
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CallError, WidgetError
from widgetd.files.persistent_map import list_differing, list_missing
from widgetd.limits import Limits
from widgetd.render.result import not_found
from widgetd.schema.document import SchemaDocument, read_document
from widgetd.schema.phrase import describe
from widgetd.text_search import compile_pattern
from widgetd.widget.components import vocabulary
from widgetd.widget.components.vocabulary import Component
from widgetd.widget.widget import Widget

ICONS = "icons"

MOST_USERS = 5
MOST_CHILDREN = 2
DEEPEST_EXAMPLE = 3

_TYPE = compile_pattern(r'"type"\s*:\s*"([A-Z][A-Za-z.]*)"')
_ELEMENT = compile_pattern(r"<([A-Z][A-Za-z.]*)")
_ICON_KEYS = frozenset({"name", "icon", "iconStart", "iconEnd"})
_HIDDEN = frozenset({"type", "key", "id"})
"""What every component may say, and nobody needs to be told."""


def details(names: Iterable[str], examples: Examples) -> Iterator[dict[str, Any]]:
    """One item for each name, `{"name", "status", ...}`; all components in a line each for none.

    A name is `Button`, `Button.variant` or `icons`.
    """
    asked = list(names)
    if not asked:
        for component in vocabulary().components.values():
            yield {"name": component.type, "status": "ok", "use": use_of(component)}
        yield {"name": ICONS, "status": "ok", "use": "Names for Icon and the icons of buttons."}
    for name in asked:
        yield _item(name, examples)


@dataclass(eq=False)
class Examples:
    """Which served widgets use a component, and how.

    It remembers what it found, and follows one snapshot after the other at the price of what
    changed. Any thread may ask.
    """

    journal: CrashJournal = field(default_factory=CrashJournal)
    _widgets: Mapping[str, Widget] = field(default_factory=dict)
    _users: dict[str, list[str]] = field(default_factory=dict)
    _shown: dict[str, tuple[tuple[Widget, ...], Any]] = field(default_factory=dict)
    _one_at_a_time: Lock = field(default_factory=Lock)

    def following(self, snapshot: Snapshot) -> Self:
        """Itself, brought up to date with `snapshot`."""
        with self._one_at_a_time:
            before, after = self._widgets, snapshot.widgets
            for tool in (*list_missing(before, after), *list_differing(before, after)):
                for type_ in components_in(before[tool]) if tool in before else ():
                    self._users[type_].remove(tool)
                for type_ in components_in(after[tool]) if tool in after else ():
                    insort(self._users.setdefault(type_, []), tool)
            self._widgets = after
        return self

    def users(self, type_: str) -> tuple[Widget, ...]:
        """The first few widgets that use the component, in the order of their names."""
        with self._one_at_a_time:
            return tuple(self._widgets[tool] for tool in self._users.get(type_, ())[:MOST_USERS])

    def of(self, type_: str) -> Any:
        """How one of them uses it, cut to what shows it; None where none does."""
        users = self.users(type_)
        known = self._shown.get(type_)
        if known is None or known[0] != users:
            drawn = (
                _cut(node, DEEPEST_EXAMPLE)
                for widget in users
                for node in _nodes(widget, self.journal)
                if node.get("type") == type_
            )
            known = self._shown[type_] = users, next(drawn, None)
        return known[1]


def _item(name: str, examples: Examples) -> dict[str, Any]:
    components = vocabulary().components
    if name == ICONS:
        more = "or lucide: and a name of that set"
        return {"name": name, "status": "ok", "values": list(vocabulary().icons), "holds": more}
    # `Table.Row` is a component, `Button.variant` a property of one.
    type_, _, wanted = (name, "", "") if name in components else name.rpartition(".")
    component = components.get(type_)
    if component is None:
        return _unknown(name, (*components, ICONS))
    properties = properties_of(component)
    if wanted:
        found = [each for each in properties if each["name"] == wanted]
        if not found:
            return _unknown(name, [f"{type_}.{each['name']}" for each in properties])
        return {**found[0], "name": name, "status": "ok"}
    example = examples.of(type_)
    return {
        "name": type_,
        "status": "ok",
        "use": use_of(component),
        "holds": "anything" if component.holds is None else sorted(component.holds),
        "properties": list(properties),
        "usedBy": [widget.tool for widget in examples.users(type_)],
        **({} if example is None else {"example": example}),
    }


def _unknown(name: str, known: Iterable[str]) -> dict[str, Any]:
    return {**not_found(name, known), "code": "W3002"}


@cache
def use_of(component: Component) -> str:
    """What a component is for, as ChatKit's own class says it."""
    said = getdoc(component.model) if component.model is not None else None
    if said is None:
        return "Studio and ChatKit's web component know it; its Python package does not."
    return said.partition("\n\n")[0].replace("``", "`").replace("\n", " ")


@cache
def properties_of(component: Component) -> tuple[Mapping[str, Any], ...]:
    """`{"name", "expected", "values"?, "required", "default"?}` for each property, in order."""
    schema = component.schema
    if schema is None:
        return ()
    document = read_document(deepcopy(dict(schema)), Limits())
    required = schema.get("required", ())
    found = []
    for name, part in document.root["properties"].items():
        if name in _HIDDEN:
            continue
        item = {"name": name, "expected": describe(document, part), "required": name in required}
        values = [value for one in _reached(document, part) for value in one.get("enum", ())]
        if set(values) >= set(vocabulary().icons):
            item["expected"] = f"the name of an icon (ask for '{ICONS}')"
        elif values:
            item["values"] = values
        fields = {
            field: describe(document, inner)
            for one in _reached(document, part)
            for field, inner in one.get("properties", {}).items()
        }
        if fields:
            item["fields"] = fields
        drawn = _drawn().get(component.type, {})
        if "default" in part or name in drawn:
            item["default"] = part.get("default", drawn.get(name))
        found.append(item)
    return tuple(found)


@cache
def _drawn() -> Mapping[str, Mapping[str, Any]]:
    """What the view draws where a property is left out, by component; ChatKit's own is unsaid."""
    return dict(orjson.loads((files("widgetd.view") / "defaults.json").read_bytes()))


def _reached(document: SchemaDocument, part: Any) -> Iterator[Mapping[str, Any]]:
    """The schemas that say what a value may be, or an element of it."""
    if isinstance(part, Mapping):
        yield part
        choices = *part.get("anyOf", ()), *part.get("oneOf", ())
        for inner in (*document.targets(part), *choices, part.get("items")):
            yield from _reached(document, inner)


def components_in(widget: Widget) -> Counter[str]:
    """The types of components that a template or its JSX writes, and how often it does."""
    definition, known = widget.definition, vocabulary().components
    found = (
        _ELEMENT.findall(definition.view)
        if widget.source == "view"
        else _TYPE.findall(definition.template)
    )
    return Counter(type_ for type_ in sorted(found) if type_ in known)


def icons_in(widget: Widget, journal: CrashJournal) -> list[str]:
    """The names of the icons that the example shows."""
    named = vocabulary().icons
    found = {
        value
        for node in _nodes(widget, journal)
        for key, value in node.items()
        if key in _ICON_KEYS and isinstance(value, str)
    }
    return sorted(one for one in found if one in named or one.startswith(("lucide:", "vendor:")))


def _nodes(widget: Widget, journal: CrashJournal) -> Iterator[Mapping[str, Any]]:
    """The objects of what the example draws, the outer before the inner."""
    try:
        with journal.rendering(widget.key):
            pending: list[Any] = [widget.tree(widget.example or {})]
    except (CallError, WidgetError):
        return
    for node in pending:
        if isinstance(node, Mapping):
            yield node
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def _cut(node: Any, depth: int) -> Any:
    if isinstance(node, Mapping):
        return {key: _cut(value, depth - (key == "children")) for key, value in node.items()}
    if isinstance(node, list):
        return [_cut(one, depth) for one in node[:MOST_CHILDREN]] if depth > 0 else []
    return f"{node[:80]}…" if isinstance(node, str) and len(node) > 80 else node
