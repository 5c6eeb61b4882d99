"""Every action that a widget can trigger, whatever it is called with.

Read off the trees of its samples, and off the template where no sample leads.
What is said of a payload is what all of them have in common: keys and types,
no values, which depend on the call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count
from typing import Any

import orjson

from widgetd.errors import CallError, WidgetError
from widgetd.schema.json_values import JSON_TYPES
from widgetd.text_search import compile_pattern
from widgetd.widget.actions.fields import Field, payload_schema
from widgetd.widget.actions.tree_actions import Handler, Trigger, triggers
from widgetd.widget.definition import Definition
from widgetd.widget.samples import (
    Variant,
    filter_admitted,
    generate_samples,
    list_examples,
    list_studio_samples,
)
from widgetd.widget.widget import Widget

Tree = Mapping[str, Any]

VARIANTS: tuple[Variant, ...] = ("required", "full", "empty", "two", "nulls")
"""Whose trees are looked at."""

_PROPERTY = compile_pattern(r'"(?:action|\w*Action)"\s*:\s*(?=\{(?![{%#]))')
_TYPE = compile_pattern(r'\{\s*"type"\s*:\s*"([^"\\{}]+)"')
_TOKEN = compile_pattern(
    r'(?s)(?P<text>"(?:[^"\\{]|\\.|\{(?![{%#]))*")'
    r"|(?P<value>\{\{(?:(?!\{\{).){0,4000}?\}\})"
    r"|(?P<open>[{\[](?![{%#]))"
    r"|(?P<close>[}\]])"
    r'|(?P<other>[^"{}\[\]]+)',
)

# What is never closed goes on to the end, and nothing is tried twice.
_COMMENT = compile_pattern(r"(?s)\{#.*?(#\}|\Z)")

_MOST_TOKENS = 20_000
"""Of all actions in a text, a few dozen each; beyond it their types alone are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetAction:
    """One type of action, as far as it is known before a call.

    Attributes:
        type: Its type, as `flight.track`.
        handler: Whether the server handles it, or the client.
        description: What the author says of it; empty where that is nothing.
        keys: What the author sends along: JSON types by key, none where they are not known.
        optional: The keys that are not always there.
        fields: What the user adds.
        collisions: The keys that hide a field, each with that field's name.
        open: Whether a payload may hold more, as fields whose names come from the arguments.
    """

    type: str
    handler: Handler = "server"
    description: str = ""
    keys: Mapping[str, tuple[str, ...]]
    optional: frozenset[str] = frozenset()
    fields: tuple[Field, ...] = ()
    collisions: tuple[tuple[str, str], ...] = ()
    open: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema that all payloads of this type fit."""
        keys: dict[str, dict[str, Any]] = {
            name: {"type": types[0] if len(types) == 1 else list(types)} if types else {}
            for name, types in self.keys.items()
        }
        schema = payload_schema(keys, self.fields, submitted=False, closed=not self.open)
        required = [name for name in keys if name not in self.optional]
        if required:
            return {**schema, "required": required}
        return {name: value for name, value in schema.items() if name != "required"}

    def to_dict(self) -> dict[str, Any]:
        """What callers read: `{"type", "handler", "payload", "fields", "schema", ...}`."""
        return {
            "type": self.type,
            "handler": self.handler,
            **({"description": self.description} if self.description else {}),
            "payload": {name: " or ".join(types) or "any" for name, types in self.keys.items()},
            "fields": [
                {"name": field.name, "type": field.kind, "required": field.required}
                for field in self.fields
            ],
            **({"moreFields": True} if self.open else {}),
            "schema": self.schema,
        }


@lru_cache(maxsize=256)
def widget_actions(widget: Widget) -> tuple[WidgetAction, ...]:
    """Every action that `widget` can trigger, in the order in which they are met."""
    return actions_in(widget.definition, _trees(widget))


def actions_in(definition: Definition, trees: Iterable[Tree]) -> tuple[WidgetAction, ...]:
    """The same, read off trees that somebody has rendered."""
    notes, text = definition.sidecar.actions, definition.template or definition.view
    found: dict[str, list[Trigger]] = {}
    for trigger in chain.from_iterable(map(triggers, trees)):
        found.setdefault(trigger.type, []).append(trigger)
    known = {name: _common(name, every, text) for name, every in found.items()}
    for action in template_actions(text):
        if action.type and action.type not in known:
            known[action.type] = WidgetAction(
                type=action.type,
                handler="client" if action.handler == "client" else "server",
                keys=dict.fromkeys(action.keys or (), ()),
                open=True,
            )
    return tuple(
        replace(action, description=notes[name].description) if name in notes else action
        for name, action in known.items()
    )


def _trees(widget: Widget) -> Iterator[Tree]:
    """The trees of the author's samples and of generated ones, as far as they render."""
    definition = widget.definition
    authored = filter_admitted(
        widget, chain(list_examples(definition), list_studio_samples(definition))
    )
    for sample in chain(authored, generate_samples(widget, VARIANTS)):
        try:
            yield widget.tree(sample.arguments)
        except (CallError, WidgetError):
            continue


def _common(name: str, every: Collection[Trigger], template: str) -> WidgetAction:
    """What all triggers of one type have in common; fields are known by name from the text."""
    keys: dict[str, set[str]] = {}
    fields: dict[str, Field] = {}
    for trigger in every:
        for key, value in trigger.payload.items():
            keys.setdefault(key, set()).add(JSON_TYPES[type(value)])
    groups = tuple({trigger.group: trigger for trigger in every}.values())
    for field in chain.from_iterable(trigger.sent_fields for trigger in groups):
        general = replace(field, choices=None, rules=None)
        fields[field.name] = fields.get(field.name, general).merged(general)
    return WidgetAction(
        type=name,
        handler="server" if any(trigger.handler == "server" for trigger in every) else "client",
        keys={key: tuple(sorted(types)) for key, types in keys.items()},
        optional=frozenset(
            key for key in keys if any(key not in trigger.payload for trigger in every)
        ),
        fields=tuple(field for field in fields.values() if f'"{field.name}"' in template),
        open=any(f'"{name}"' not in template for name in fields),
        collisions=tuple(dict.fromkeys(pair for trigger in groups for pair in trigger.collisions)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateAction:
    """An action that stands in a template's own text, as far as that is certain.

    What a sample does not reach, because a branch was not taken or a list was empty, can still
    be read: the exporter writes an action as JSON with expressions in it.

    Attributes:
        type: Its type; empty where an expression makes it.
        handler: As written; None where that is not certain.
        keys: The keys of its payload; None where that is not certain.
    """

    type: str
    handler: str | None = None
    keys: tuple[str, ...] | None = None


def template_actions(template: str) -> Iterator[TemplateAction]:
    """Every action in the text of a template, in its order."""
    text = _COMMENT.sub(lambda comment: "" if comment[1] else comment[0], template)
    budget = count()
    for match in _PROPERTY.finditer(text):
        action = _parsed(text, match.end(), budget)
        if action is None:
            named = _TYPE.match(text, match.end())
            yield TemplateAction(type=named[1] if named else "")
        else:
            name, payload = action.get("type"), action.get("payload", {})
            handler = action.get("handler", "server")
            yield TemplateAction(
                type=name if isinstance(name, str) else "",
                handler=handler if isinstance(handler, str) else None,
                keys=tuple(payload) if isinstance(payload, dict) else None,
            )


def _parsed(text: str, start: int, budget: Iterator[int]) -> dict[str, Any] | None:
    """The JSON object at `start`, null for every expression; None if a statement shapes it."""
    parts: list[str] = []
    depth, at = 0, start
    while next(budget) < _MOST_TOKENS and (token := _TOKEN.match(text, at)):
        at = token.end()
        parts.append("null" if token["value"] else token[0])
        depth += bool(token["open"]) - bool(token["close"])
        if depth == 0:
            break
    try:
        action = orjson.loads("".join(parts))
    except orjson.JSONDecodeError:
        return None
    return action if isinstance(action, dict) else None
