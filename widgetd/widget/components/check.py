"""What a tree says that the vocabulary does not know.

Warnings, never faults: Studio moves ahead of every list of components, and a
client shows what it knows. Each names the nearest known word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from widgetd.errors import Finding, nearest
from widgetd.schema.json_values import kind, pointer
from widgetd.widget.components.shapes import Record, Shape, either
from widgetd.widget.components.vocabulary import Component, Vocabulary, vocabulary

# The same word stands in each of a widget's trees.
_nearest = lru_cache(maxsize=2048)(nearest)

_MOST_CHOICES = 10
"""More values than these are not listed in a message; the nearest one is named."""


def check_tree(tree: Mapping[str, Any]) -> Iterator[Finding]:
    """Everything in `tree` that ChatKit's Python package would not know.

    Returns:
        Warnings W1401 to W1407, each `at` the JSON pointer into the tree, outer before inner.
    """
    words = vocabulary()
    waiting: list[tuple[str, Mapping[str, Any], Component | None]] = [("", tree, None)]
    while waiting:
        at, node, parent = waiting.pop()
        component = words.components.get(str(node.get("type")))
        for finding in _check(node, component, parent, words):
            yield replace(finding, at=at + finding.at)
        inner = [(f"{at}{step}", child, component) for step, child in _children(node)]
        waiting.extend(reversed(inner))


def _children(node: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    children = node.get("children")
    if isinstance(children, dict):
        return [("/children", children)]
    listed = children if isinstance(children, list) else []
    return [
        (f"/children/{index}", child)
        for index, child in enumerate(listed)
        if isinstance(child, dict)
    ]


def _check(
    node: Mapping[str, Any],
    component: Component | None,
    parent: Component | None,
    words: Vocabulary,
) -> Iterator[Finding]:
    if component is None:
        yield _unknown_type(node.get("type"), words)
        return
    if parent is not None and parent.holds is not None and component.type not in parent.holds:
        yield _misplaced(component, parent)
    if component.record is not None:
        own = {name: value for name, value in node.items() if name != "children"}
        yield from _check_record(own, component.record, f"'{component.type}'", words)


def _check_record(
    value: Mapping[str, Any], record: Record, owner: str, words: Vocabulary
) -> Iterator[Finding]:
    lacking = sorted(record.required - value.keys())
    for name in lacking:
        yield _finding("W1407", f"{owner} lacks '{name}'", "write it")
    for name, inner in value.items():
        known = record.fields.get(name)
        if known is None:
            near = _nearest(name, tuple(lacking or record.fields))
            if len(lacking) == 1 and record.fields[lacking[0]].admits(inner):
                near = lacking[0]
            advice = f"did you mean '{near}'?" if near else "clients may ignore it"
            yield _finding("W1402", f"{owner} has no property '{name}'", advice, name)
        else:
            yield from _check_value(inner, known, f"'{name}' of {owner}", words, pointer(name))


def _check_value(
    value: Any, known: Shape, owner: str, words: Vocabulary, at: str
) -> Iterator[Finding]:
    if not known.admits(value):
        yield replace(_wrong(value, known, owner, words), at=at)
    elif isinstance(value, dict) and known.records:
        meant = _meant(value, known.records)
        for finding in _check_record(value, meant, owner, words):
            yield replace(finding, at=at + finding.at)
    elif isinstance(value, dict) and known.entries is not None:
        for name, inner in value.items():
            yield from _check_value(inner, known.entries, owner, words, at + pointer(name))
    elif isinstance(value, list) and known.items is not None:
        for index, inner in enumerate(value):
            yield from _check_value(inner, known.items, owner, words, f"{at}/{index}")


def _meant(value: Mapping[str, Any], records: tuple[Record, ...]) -> Record:
    """Of several kinds of object the one whose `type` it bears, or whose fields it has."""

    def likeness(record: Record) -> tuple[bool, int]:
        named = record.fields.get("type")
        typed = named is not None and bool(named.values) and named.admits(value.get("type"))
        return typed, len(record.fields.keys() & value.keys())

    return max(records, key=likeness)


def _wrong(value: Any, known: Shape, owner: str, words: Vocabulary) -> Finding:
    if not isinstance(value, str) or not known.values:
        return _finding("W1405", f"{owner} cannot be {kind(value)}", f"use {known.expected}")
    shown = value[:40]
    near = _nearest(value, tuple(one for one in known.values if isinstance(one, str)))
    if words.is_icon(known):
        advice = f"did you mean '{near}'?" if near else "use an icon of ChatKit, or 'lucide:…'"
        return _finding("W1404", f"{owner} cannot be '{shown}', which is no icon", advice)
    if len(known.values) <= _MOST_CHOICES or near is None:
        advice = "use " + either([f"'{one}'" for one in known.values[:_MOST_CHOICES]])
    else:
        advice = f"did you mean '{near}'?"
    return _finding("W1403", f"{owner} cannot be '{shown}'", advice)


def _unknown_type(name: object, words: Vocabulary) -> Finding:
    if not isinstance(name, str):
        return _finding("W1407", "a component lacks its 'type'", "write it")
    near = _nearest(name, tuple(words.components))
    advice = f"did you mean '{near}'?" if near else "clients may ignore it"
    return _finding("W1401", f"'{name[:40]}' is no component", advice)


def _misplaced(component: Component, parent: Component) -> Finding:
    held = sorted(parent.holds or ())
    if not held:
        advice = f"put it beside the '{parent.type}'"
    elif len(held) == 1:
        advice = f"put it into a '{held[0]}' there"
    else:
        advice = "use a 'Col', a 'Row' or a 'Box'"
    return _finding("W1406", f"'{component.type}' cannot stand in '{parent.type}'", advice)


def _finding(code: str, problem: str, advice: str, name: str | None = None) -> Finding:
    at = "" if name is None else pointer(name)
    return Finding(code=code, at=at, problem=problem, advice=advice)
