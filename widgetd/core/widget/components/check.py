"""Check a tree against the vocabulary.

The findings are warnings, never faults: Studio is ahead of every list of components, and a client
shows what it knows. Each names the nearest known word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import orjson

from widgetd.base.errors import Finding
from widgetd.base.text_search import LinearPattern, nearest
from widgetd.core.schema.json_values import JSON_TYPES, kind, pointer
from widgetd.core.schema.phrase import join_alternatives
from widgetd.core.widget.components.lucide import PREFIX, is_icon, list_icon_names
from widgetd.core.widget.components.tree import walk_components
from widgetd.core.widget.components.values import (
    admits_color,
    admits_length,
    find_near_color,
    is_length,
    list_color_tokens,
)
from widgetd.core.widget.components.vocabulary import Component, Vocabulary, load_vocabulary
from widgetd.core.widget.limits import LIMITS

# Each of a widget's trees repeats the same words.
_nearest = lru_cache(maxsize=2048)(nearest)


_EXPECTED: Mapping[str, str] = {
    "boolean": "true or false",
    "number": "a number",
    "string": "a string",
    "word": "one of a few words",
    "array": "a list",
    "object": "an object",
}


def check_tree(tree: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield a warning for everything in `tree` unknown to ChatKit's Python package.

    Returns:
        Warnings W1401 to W1407, each `at` the JSON pointer into the tree, outer before inner.
    """
    words = load_vocabulary()
    components: dict[str, Component | None] = {}
    for at, node in walk_components(tree):
        component = components[at] = words.components.get(str(node.get("type")))
        parent = components.get(at.rpartition("/children")[0]) if at else None
        for finding in _check_node(node, component, parent, words):
            yield replace(finding, at=at + finding.at)


def _check_node(
    node: Mapping[str, Any],
    component: Component | None,
    parent: Component | None,
    words: Vocabulary,
) -> Iterator[Finding]:
    if component is None:
        name = node.get("type")
        if not isinstance(name, str):
            yield _build_finding("W1407", "a component lacks its 'type'", "write it")
            return
        near = _nearest(name, tuple(words.components), _LIKENESS)
        advice = f"did you mean '{near}'?" if near else "clients may ignore it"
        yield _build_finding("W1401", f"'{name[:40]}' is no component", advice)
        return
    if parent is not None and parent.holds is not None and component.type not in parent.holds:
        if not parent.holds:
            advice = f"put it beside the '{parent.type}'"
        elif len(parent.holds) == 1:
            advice = f"put it into a '{next(iter(parent.holds))}' there"
        else:
            advice = "use a 'Col', a 'Row' or a 'Box'"
        yield _build_finding("W1406", f"'{component.type}' cannot stand in '{parent.type}'", advice)
    own = {name: value for name, value in node.items() if name != "children"}
    yield from _get_checker(component.type).find_faults(own, f"'{component.type}'")


@cache
def _get_checker(component: str) -> _PropertyChecker:
    words = load_vocabulary()
    return _PropertyChecker(words.components[component].schema, words)


class _PropertyChecker:
    def __init__(self, schema: Mapping[str, Any], words: Vocabulary) -> None:
        self._schema = schema
        self._words = words
        self._known: dict[int, list[Mapping[str, Any]]] = {}
        self._faults: dict[bytes, tuple[Finding, ...]] = {}

    def find_faults(self, value: Mapping[str, Any], owner: str) -> tuple[Finding, ...]:
        # Most components of a widget are the same whatever its arguments are.
        written = orjson.dumps(value)
        findings = self._faults.get(written)
        if findings is None:
            [root] = self._resolve(self._schema)
            findings = tuple(self._check_object(value, root, owner, ""))
            if len(self._faults) >= LIMITS.cached_findings:
                self._faults.clear()
            self._faults[written] = findings
        return findings

    def _resolve(self, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        branches = self._known.get(id(schema))
        if branches is None:
            inner = schema.get("anyOf") or schema.get("oneOf") or ()
            if "$ref" in schema:
                inner = [self._schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]]
            branches = [branch for part in inner for branch in self._resolve(part)] or [schema]
            self._known[id(schema)] = branches
        return branches

    def _check_object(
        self, value: Mapping[str, Any], schema: Mapping[str, Any], owner: str, at: str
    ) -> Iterator[Finding]:
        properties: Mapping[str, Any] = schema.get("properties", {})
        others = schema.get("additionalProperties")
        lacking = sorted(
            set(schema.get("required", ())) - value.keys() - _LEFT_OUT.get(owner, set())
        )
        for name in lacking:
            yield _build_finding("W1407", f"{owner} lacks '{name}'", "write it", at)
        for name, inner in value.items():
            inside = at + pointer(name)
            if name in properties:
                yield from self._check_value(
                    inner, properties[name], f"'{name}' of {owner}", inside
                )
            elif isinstance(others, Mapping):
                yield from self._check_value(inner, others, owner, inside)
            else:
                # `type`, the component's name, is no correction of another property.
                near = _nearest(name, tuple(set(lacking or properties) - {"type"}))
                if len(lacking) == 1 and self._may_have(inner, properties[lacking[0]]):
                    near = lacking[0]
                advice = f"did you mean '{near}'?" if near else "clients may ignore it"
                yield _build_finding("W1402", f"{owner} has no property '{name}'", advice, inside)

    def _check_value(
        self, value: Any, schema: Mapping[str, Any], owner: str, at: str
    ) -> Iterator[Finding]:
        if not self._may_have(value, schema):
            yield self._build_value_finding(value, self._resolve(schema), owner, at)
            return
        yield from _check_text(value, schema.get("description", ""), owner, at)
        if isinstance(value, dict):
            objects = [branch for branch in self._resolve(schema) if branch.get("type") == "object"]
            if objects:
                yield from self._check_object(value, self._choose_object(value, objects), owner, at)
        elif isinstance(value, str) and value.startswith(PREFIX):
            name, takes_icons = value.removeprefix(PREFIX), self._resolve(schema)
            if any("pattern" in branch for branch in takes_icons) and not is_icon(name):
                near = _nearest(name, list_icon_names())
                yield _build_icon_finding(value, near and PREFIX + near, owner, at)
        elif isinstance(value, list):
            items = [branch["items"] for branch in self._resolve(schema) if "items" in branch]
            for index, inner in enumerate(value if items else ()):
                yield from self._check_value(inner, items[0], owner, f"{at}/{index}")

    def _may_have(self, value: Any, schema: Mapping[str, Any]) -> bool:
        if value is None:
            return True
        name = JSON_TYPES[type(value)]
        return any(
            part.get("type", name) == name and _admits(part, value)
            for part in self._resolve(schema)
        )

    def _choose_object(
        self, value: Mapping[str, Any], objects: list[Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        def likeness(branch: Mapping[str, Any]) -> tuple[bool, int]:
            properties = branch.get("properties", {})
            typed = "const" in properties.get("type", {}) and "type" in value
            is_typed = typed and properties["type"]["const"] == value["type"]
            return is_typed, len(properties.keys() & value.keys())

        return max(objects, key=likeness)

    def _build_value_finding(
        self, value: Any, branches: list[Mapping[str, Any]], owner: str, at: str
    ) -> Finding:
        singles = ([b["const"]] if "const" in b else b.get("enum", ()) for b in branches)
        choices = tuple(choice for values in singles for choice in values)
        if not isinstance(value, str) or not choices:
            types = {"word" if b.keys() & _WORDS else str(b.get("type")) for b in branches}
            use = "use " + join_alternatives(
                [phrase for name, phrase in _EXPECTED.items() if name in types]
            )
            return _build_finding("W1405", f"{owner} cannot be {kind(value)}", use, at)
        near = _nearest(value, tuple(choice for choice in choices if isinstance(choice, str)))
        if choices == self._words.icons:
            if near is None and is_icon(value):
                near = PREFIX + value
            near = near or next((word for word in value.split("-") if word in choices), None)
            return _build_icon_finding(value, near, owner, at)
        if len(choices) <= LIMITS.listed_values or near is None:
            advice = "use " + join_alternatives(
                [f"'{choice}'" for choice in choices[: LIMITS.listed_values]]
            )
        else:
            advice = f"did you mean '{near}'?"
        return _build_finding("W1403", f"{owner} cannot be '{value[:40]}'", advice, at)


def _check_text(value: Any, documentation: str, owner: str, at: str) -> Iterator[Finding]:
    if tokens := list_color_tokens(documentation):
        of_themes = value if isinstance(value, dict) else {}
        texts = {"": value, **{pointer(name): color for name, color in of_themes.items()}}
        for inside, text in texts.items():
            if isinstance(text, str) and not admits_color(text, tokens):
                near = find_near_color(text[:40], tokens)
                quoted = [f"'{token}'" for token in tokens]
                listed = join_alternatives([*quoted, "a shade as 'blue-500'", "a color of CSS"])
                advice = f"did you mean '{near}'?" if near else f"use {listed}"
                problem = f"{owner} cannot be '{text[:40]}', which is no color"
                yield _build_finding("W1403", problem, advice, at + inside)
    elif isinstance(value, str) and is_length(documentation) and not admits_length(value):
        problem = f"{owner} cannot be '{value[:40]}', which is no length"
        yield _build_finding("W1403", problem, "use a number, or a length of CSS as '12px'", at)


def _admits(schema: Mapping[str, Any], value: object) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    if "const" in schema:
        return bool(value == schema["const"])
    return "pattern" not in schema or LinearPattern(schema["pattern"]).matches(str(value))


def _build_icon_finding(value: str, near: str | None, owner: str, at: str) -> Finding:
    advice = f"did you mean '{near}'?" if near else "use an icon of ChatKit, or 'lucide:…'"
    return _build_finding(
        "W1404", f"{owner} cannot be '{value[:40]}', which is no icon", advice, at
    )


_LEFT_OUT: Mapping[str, frozenset[str]] = {"'series' of 'Chart'": frozenset({"label"})}
"""What ChatKit's classes require, and Studio leaves out; the legend shows the `dataKey` then."""

_LIKENESS = 0.65
"""Of names of components: 'List' is 'ListView', and 'Section' is not 'Select'."""

_WORDS = frozenset({"enum", "const", "pattern"})
"""Keywords that limit a text to a few values."""


def _build_finding(code: str, problem: str, advice: str, at: str = "") -> Finding:
    return Finding(code=code, at=at, problem=problem, advice=advice)
