"""Find every possible action of a widget, whatever its arguments.

Read from the trees of its samples, and from the template where no sample leads. The description of
a payload covers what all occurrences have in common: keys and types, but no values, because those
depend on the call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count
from typing import Any

import orjson

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.schema.json_values import JSON_TYPES
from widgetd.core.widget.actions.fields import FormField, build_payload_schema
from widgetd.core.widget.actions.tree_actions import Handler, Trigger, iterate_triggers
from widgetd.core.widget.definition import Definition
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.samples import (
    Variant,
    filter_admitted,
    generate_samples,
    list_examples,
    list_studio_samples,
)
from widgetd.core.widget.widget import Widget

Tree = Mapping[str, Any]

VARIANTS: tuple[Variant, ...] = ("required", "full", "empty", "two", "nulls")
"""Generated samples whose trees are searched."""

_PROPERTY = compile_pattern(r'"(?:action|\w*Action)"\s*:\s*(?=\{(?![{%#]))')
_TYPE = compile_pattern(r'\{\s*"type"\s*:\s*"([^"\\{}]+)"')
_TOKEN = compile_pattern(
    r'(?s)(?P<text>"(?:[^"\\{]|\\.|\{(?![{%#]))*+")'
    r"|(?P<value>\{\{(?:(?!\{\{).){0,4000}?\}\})"
    r"|(?P<open>[{\[](?![{%#]))"
    r"|(?P<close>[}\]])"
    r'|(?P<other>[^"{}\[\]]+)'
    r'|(?P<cut>"(?:[^"\\{]|\\.|\{(?![{%#]))*+)',
)

# An unclosed comment extends to the end, so nothing is matched twice.
_COMMENT = compile_pattern(r"(?s)\{#.*?(#\}|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetAction:
    """A type of action, as far as it is known before a call.

    Attributes:
        type: Its type, as `flight.track`.
        handler: Whether the server handles it, or the client.
        description: The author's description, or empty.
        keys: The author's part: JSON types by key, empty if unknown.
        optional: The keys not always present.
        fields: The user's part.
        collisions: The keys that hide a field, each with that field's name.
        open: Whether a payload may have more, such as fields with names from the arguments.
    """

    type: str
    handler: Handler = "server"
    description: str = ""
    keys: Mapping[str, tuple[str, ...]]
    optional: frozenset[str] = frozenset()
    fields: tuple[FormField, ...] = ()
    collisions: tuple[tuple[str, str], ...] = ()
    open: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        keys: dict[str, dict[str, Any]] = {
            name: {"type": types[0] if len(types) == 1 else list(types)} if types else {}
            for name, types in self.keys.items()
        }
        return build_payload_schema(
            keys, self.fields, submitted=False, closed=not self.open, optional=self.optional
        )

    def to_dict(self) -> dict[str, Any]:
        """Describe it for callers: `{"type", "handler", "payload", "fields", "schema", ...}`."""
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
def find_widget_actions(widget: Widget) -> tuple[WidgetAction, ...]:
    return collect_actions(widget.definition, _render_samples(widget))


def collect_actions(definition: Definition, trees: Iterable[Tree]) -> tuple[WidgetAction, ...]:
    sidecar, text = definition.sidecar, definition.template or definition.view
    descriptions = {name: note.description for name, note in sidecar.actions.items()}
    descriptions |= dict.fromkeys(sidecar.local, _LOCAL)
    triggers: dict[str, list[Trigger]] = {}
    for trigger in chain.from_iterable(map(iterate_triggers, trees)):
        triggers.setdefault(trigger.type, []).append(trigger)
    actions = {name: _merge_triggers(name, every, text) for name, every in triggers.items()}
    for action in find_template_actions(text):
        if action.type and action.type not in actions:
            actions[action.type] = WidgetAction(
                type=action.type,
                handler="client" if action.handler == "client" else "server",
                keys=dict.fromkeys(action.keys or (), ()),
                open=True,
            )
    return tuple(
        replace(action, description=descriptions[name]) if name in descriptions else action
        for name, action in actions.items()
    )


_LOCAL = "Changes only what the page shows; no one is told."


def _render_samples(widget: Widget) -> Iterator[Tree]:
    definition = widget.definition
    authored = filter_admitted(
        widget, chain(list_examples(definition), list_studio_samples(definition))
    )
    for sample in chain(authored, generate_samples(widget, VARIANTS)):
        try:
            yield widget.tree(sample.arguments)
        except (CallError, WidgetError):
            continue


def _merge_triggers(name: str, every: Collection[Trigger], template: str) -> WidgetAction:
    keys: dict[str, set[str]] = {}
    fields: dict[str, FormField] = {}
    for trigger in every:
        for key, value in trigger.payload.items():
            keys.setdefault(key, set()).add(JSON_TYPES[type(value)])
    groups = tuple({trigger.group: trigger for trigger in every}.values())
    for field in chain.from_iterable(trigger.sent_fields for trigger in groups):
        general = replace(field, choices=None, rules=None)
        fields[field.name] = fields.get(field.name, general).merge(general)
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
    """An action in a template's own text, as far as it is certain.

    A sample does not reach a branch not taken or the elements of an empty list. The text
    still shows their actions, because the exporter writes an action as JSON with expressions in it.

    Attributes:
        type: Its type, empty if an expression makes it.
        handler: As written, None if uncertain.
        keys: The keys of its payload, None if uncertain.
    """

    type: str
    handler: str | None = None
    keys: tuple[str, ...] | None = None


def find_template_actions(template: str) -> Iterator[TemplateAction]:
    text = _COMMENT.sub(lambda comment: "" if comment[1] else comment[0], template)
    budget = count()
    for match in read_tokens(_PROPERTY, text):
        action = _parse_object(text, match.end(), budget)
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


def _parse_object(text: str, start: int, budget: Iterator[int]) -> dict[str, Any] | None:
    parts: list[str] = []
    depth = 0
    for token in read_tokens(_TOKEN, text, start, adjacent=True):
        if token["cut"] or next(budget) >= LIMITS.action_tokens:
            break
        parts.append("null" if token["value"] else token[0])
        depth += bool(token["open"]) - bool(token["close"])
        if depth == 0:
            break
    try:
        action = orjson.loads("".join(parts))
    except orjson.JSONDecodeError:
        return None
    return action if isinstance(action, dict) else None
