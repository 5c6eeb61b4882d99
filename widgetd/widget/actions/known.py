"""Every action that a widget can offer, whatever it is called with.

Read off the trees of its samples, and off the template where no sample leads.
What is said of a payload is what all of them have in common: keys and types,
no values, which depend on the call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any

from widgetd.errors import CallError, WidgetError
from widgetd.schema.sampling.sample import State, sample
from widgetd.widget.actions.fields import Field
from widgetd.widget.actions.offers import Handler, Offer, offers
from widgetd.widget.actions.payloads import payload_schema
from widgetd.widget.actions.written import Written, written
from widgetd.widget.components import tree
from widgetd.widget.widget import Widget

_STATES: tuple[State, ...] = ("required", "full", "empty", "two", "nulls")
_JSON_TYPES: Mapping[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "number",  # whether only integers come is not for samples to tell
    float: "number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAction:
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
        keys = {name: _typed(types) for name, types in self.keys.items()}
        schema = payload_schema(keys, self.fields, submitted=False, closed=not self.open)
        required = [name for name in keys if name not in self.optional]
        if required:
            return {**schema, "required": required}
        return {name: value for name, value in schema.items() if name != "required"}

    def said(self) -> dict[str, Any]:
        """What callers are told: `{"type", "handler", "payload", "fields", "schema", ...}`."""
        told: dict[str, Any] = {"type": self.type, "handler": self.handler}
        if self.description:
            told["description"] = self.description
        told["payload"] = {name: " or ".join(types) or "any" for name, types in self.keys.items()}
        told["fields"] = [
            {"name": field.name, "type": field.kind, "required": field.required}
            for field in self.fields
        ]
        if self.open:
            told["moreFields"] = True
        return told | {"schema": self.schema}


@lru_cache(maxsize=256)
def known_actions(widget: Widget) -> tuple[KnownAction, ...]:
    """Every action that `widget` can offer, in the order in which they are met."""
    notes = widget.definition.sidecar.actions
    met: dict[str, list[Offer]] = {}
    for offer in chain.from_iterable(offers(one) for one in _sampled(widget)):
        met.setdefault(offer.type, []).append(offer)
    text = widget.definition.template
    known = {name: _common(name, places, text) for name, places in met.items()}
    for one in written(text):
        if one.type and one.type not in known:
            known[one.type] = _unseen(one)
    return tuple(
        replace(one, description=notes[name].description) if name in notes else one
        for name, one in known.items()
    )


def _sampled(widget: Widget) -> Iterator[Mapping[str, Any]]:
    """The trees of the author's samples and of generated ones, as far as they render."""
    studio = widget.definition.studio
    states = () if studio is None else (studio.default_state, *studio.states)
    examples = (one.arguments for one in widget.definition.sidecar.examples)
    generated = (sample(widget.schema, state=state) for state in _STATES)
    for arguments in chain(examples, states, generated):
        if arguments is None or not widget.schema.admits(dict(arguments)):
            continue
        try:
            filled = widget.schema.with_defaults(dict(arguments))
            yield tree(widget.template.render(filled))
        except (CallError, WidgetError):
            continue


def _common(name: str, met: Collection[Offer], template: str) -> KnownAction:
    """What all offers of one type have in common; fields are known by name from the text."""
    keys: dict[str, set[str]] = {}
    fields: dict[str, Field] = {}
    for offer in met:
        for key, value in offer.payload.items():
            keys.setdefault(key, set()).add(_JSON_TYPES[type(value)])
    ways = tuple({offer.way: offer for offer in met}.values())
    for offer in ways:
        for field in offer.sent:
            general = replace(field, choices=None, rules=None)
            fields[field.name] = fields.get(field.name, general).beside(general)
    return KnownAction(
        type=name,
        handler="server" if any(offer.handler == "server" for offer in met) else "client",
        keys={key: tuple(sorted(types)) for key, types in keys.items()},
        optional=frozenset(key for key in keys if any(key not in offer.payload for offer in met)),
        fields=tuple(field for field in fields.values() if f'"{field.name}"' in template),
        open=any(f'"{name}"' not in template for name in fields),
        collisions=tuple(dict.fromkeys(pair for offer in ways for pair in offer.collisions)),
    )


def _unseen(one: Written) -> KnownAction:
    keys: dict[str, tuple[str, ...]] = dict.fromkeys(one.keys or (), ())
    handler: Handler = "client" if one.handler == "client" else "server"
    return KnownAction(type=one.type, handler=handler, keys=keys, open=True)


def _typed(types: tuple[str, ...]) -> dict[str, Any]:
    if not types:
        return {}
    return {"type": types[0] if len(types) == 1 else list(types)}
