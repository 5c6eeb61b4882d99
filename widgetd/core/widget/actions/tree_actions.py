"""Find the actions of a tree, and validate their payloads.

As in the view: an action inside a form carries the form's fields, a change outside a form carries
the changed field, and a disabled component triggers nothing. The author's part of a payload
must come back unchanged, and is taken from the tree. The user's part is validated by the fields.

Source: ChatKit, "Actions": form values are merged into the payload of every action raised within
the form, and the payload's own keys win.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import orjson

from widgetd.base.errors import CallError, InvalidArgument
from widgetd.base.limits import Limits
from widgetd.core.schema.validator import compile_schema
from widgetd.core.widget.actions.fields import (
    FormField,
    build_exact_schema,
    build_payload_schema,
    find_field,
    to_browser_value,
)
from widgetd.core.widget.components.tree import iterate_components, walk_components
from widgetd.core.widget.limits import LIMITS

Handler = Literal["server", "client"]
Node = Mapping[str, Any]

_LIMITS = Limits(schema_nodes=200_000, json_depth=256)
"""Limits of a payload's schema, above anything that a tree within its own limits leads to."""


_AN_ACTION = b'ction":{'
"""Part of the JSON of every tree with actions: `"action":{` or `"onClickAction":{`."""

_OTHER_VALUES = InvalidArgument(
    path="",
    expected="values that stand together in the widget",
    got="another combination of them",
)

_SUBMITTING = frozenset({"onSubmitAction", "confirm"})
_NOT_ACTIONS = frozenset({"children", "payload"})
_FOOTER = frozenset({"confirm", "cancel"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A property of a component in a tree that triggers an action.

    Attributes:
        type: The action's type, as `flight.track`.
        handler: Whether the server handles the action, or the client.
        payload: The author's part. Anything but an object is `{"value": ...}`.
        fields: The user's part.
        submits: Whether the fields must be complete.
    """

    type: str
    handler: Handler
    payload: Mapping[str, Any]
    fields: tuple[FormField, ...] = ()
    submits: bool = False

    @property
    def group(self) -> tuple[int, bool, frozenset[str]]:
        """A key shared by the triggers of a form with the same payload keys, often many."""
        return id(self.fields), self.submits, frozenset(self.payload)

    @property
    def sent_fields(self) -> tuple[FormField, ...]:
        """The fields sent with it: a key of the author's hides a field of its name."""
        return tuple(field for field in self.fields if field.path[0] not in self.payload)

    @property
    def collisions(self) -> tuple[tuple[str, str], ...]:
        """Each key of the payload that hides a field, with that field's name."""
        return tuple(
            (field.path[0], field.name) for field in self.fields if field.path[0] in self.payload
        )

    @property
    def schema(self) -> dict[str, Any]:
        keys = {key: build_exact_schema(value) for key, value in self.payload.items()}
        return build_payload_schema(keys, self.sent_fields, submitted=self.submits)

    def is_sent_as(self, payload: Mapping[str, Any]) -> bool:
        """Return whether `payload` contains the author's whole part."""
        return all(
            key in payload and to_browser_value(payload[key]) == to_browser_value(value)
            for key, value in self.payload.items()
        )

    def accept(self, payload: Mapping[str, Any], sensitive: Collection[str] = ()) -> dict[str, Any]:
        """Validate the user's part, and return it with the author's part as it was sent.

        Raises:
            CallError: The user's part is invalid. The error contains no value of a password
                or of a `sensitive` field.
        """
        added = {key: value for key, value in payload.items() if key not in self.payload}
        if self.submits:
            _add_objects(added, self.sent_fields)
        schema = build_payload_schema({}, self.sent_fields, submitted=self.submits)
        passwords = (field.name for field in self.sent_fields if field.secret)
        hidden = (*passwords, *sensitive)
        checked = compile_schema(schema, limits=_LIMITS).check(added, sensitive=hidden)
        return {**checked.arguments, **self.payload}


def _add_objects(added: dict[str, Any], fields: tuple[FormField, ...]) -> None:
    for field in fields:
        inner, path = added, field.path[:-1] if field.required else ()
        for part in path:
            here = inner.get(part, {})
            if not isinstance(here, dict):
                break
            inner[part] = dict(here)
            inner = inner[part]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeAction:
    """A type of action, with its triggers in the order of the tree."""

    type: str
    triggers: tuple[Trigger, ...]

    @property
    def handler(self) -> Handler:
        handlers = {trigger.handler for trigger in self.triggers}
        return "server" if "server" in handlers else "client"

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of exactly the tree's payloads."""
        schemas = {orjson.dumps(trigger.schema): trigger.schema for trigger in self.triggers}
        return next(iter(schemas.values())) if len(schemas) == 1 else {"anyOf": [*schemas.values()]}

    def accept(self, payload: object, sensitive: Collection[str] = ()) -> dict[str, Any]:
        """Return the payload in a trusted form.

        Args:
            payload: The payload as sent. Anything but an object counts as `{"value": ...}`.
            sensitive: Dotted paths of fields whose values must not appear in an error.

        Raises:
            CallError: The tree does not send it (W2404). Invalid arguments are named by field.
        """
        sent = to_object(payload)
        meant = {trigger.group: trigger for trigger in self.triggers if trigger.is_sent_as(sent)}
        if not meant:
            # The template may have made the expected values from sensitive arguments.
            raise _build_payload_error(
                (_OTHER_VALUES,) if sensitive else self._find_mismatches(sent)
            )
        refused: list[CallError] = []
        for trigger in islice(meant.values(), LIMITS.tried_forms):
            try:
                return trigger.accept(sent, sensitive)
            except CallError as error:
                refused.append(error)
        invalid = refused[0].invalid_arguments
        raise _build_payload_error(invalid) if invalid else refused[0]

    def _find_mismatches(self, sent: Mapping[str, Any]) -> tuple[InvalidArgument, ...]:
        keys: dict[str, dict[bytes, Any]] = {}
        for trigger in self.triggers:
            for key, value in trigger.payload.items():
                keys.setdefault(key, {})[orjson.dumps(value)] = value
        choices = {key: {"enum": list(values.values())} for key, values in keys.items()}
        relevant = {key: value for key, value in sent.items() if key in choices}
        try:
            schema = build_payload_schema(choices, (), submitted=False)
            compile_schema(schema, limits=_LIMITS).check(relevant, strict=True)
        except CallError as error:
            return error.invalid_arguments
        return (_OTHER_VALUES,)


def _build_payload_error(errors: tuple[InvalidArgument, ...]) -> CallError:
    paths = [f"payload.{error.path}" if error.path else "payload" for error in errors]
    sentences = [str(replace(error, path=path)) for error, path in zip(errors, paths, strict=True)]
    path = paths[0] if len(errors) == 1 else "payload"
    return CallError("W2404", "; ".join(sentences), path=path, invalid_arguments=errors)


def find_tree_actions(tree: Node) -> dict[str, TreeAction]:
    triggers: dict[str, list[Trigger]] = {}
    for trigger in iterate_triggers(tree):
        triggers.setdefault(trigger.type, []).append(trigger)
    return {name: TreeAction(type=name, triggers=tuple(every)) for name, every in triggers.items()}


def iterate_triggers(tree: Node) -> Iterator[Trigger]:
    """Yield every trigger in `tree`, outer before inner."""
    waiting: list[tuple[Node, int, tuple[FormField, ...]]] = [(tree, 0, ())]
    while waiting:
        node, forms, fields = waiting.pop()
        kind = node.get("type")
        is_card_form = kind == "Card" and node.get("asForm") is True and not _is_collapsed(node)
        is_form = kind == "Form" or is_card_form
        if is_form and forms < LIMITS.nested_forms:
            forms, fields = forms + 1, _list_fields(node)
        if node.get("disabled") is not True:
            for name, action in _iterate_actions(node):
                own = None if forms or name != "onChangeAction" else find_field(node)
                yield Trigger(
                    type=action["type"],
                    handler="client" if action.get("handler") == "client" else "server",
                    payload=to_object(action.get("payload")),
                    fields=fields if own is None else (own,),
                    submits=forms > 0 and (name in _SUBMITTING or node.get("submit") is True),
                )
        children = node.get("children")
        listed = children if isinstance(children, list) else [children]
        waiting += [(child, forms, fields) for child in reversed(listed) if isinstance(child, dict)]


def has_actions(tree: Node, json: bytes | None = None) -> bool:
    """Return whether `tree` triggers any action. Fast, because every call asks.

    Args:
        tree: The widget root.
        json: The same as orjson writes it, if available.
    """
    if json is not None and _AN_ACTION not in json:
        return False
    for node in iterate_components(tree):
        if node.get("disabled") is not True and next(_iterate_actions(node), None):
            return True
    return False


def to_object(payload: object) -> dict[str, Any]:
    """Convert a payload to an object: null to `{}`, any other value to `{"value": ...}`."""
    if payload is None:
        return {}
    return payload if isinstance(payload, dict) else {"value": payload}


def _list_fields(form: Node) -> tuple[FormField, ...]:
    fields: dict[str, FormField] = {}
    for _, node in walk_components(form):
        if (field := find_field(node)) is not None:
            fields[field.name] = fields.get(field.name, field).merge(field)
    return tuple(fields.values())


def _is_collapsed(node: Node) -> bool:
    return node.get("type") == "Card" and node.get("collapsed") is True


def _iterate_actions(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield a component's own actions, such as `onClickAction` and `confirm: {label, action}`."""
    for name, value in node.items():
        # Check the type first: most properties are plain values, and every call pays for this.
        if type(value) is dict:
            if name in _NOT_ACTIONS or (name in _FOOTER and _is_collapsed(node)):
                continue
            if (name == "action" or name.endswith("Action")) and _is_action(value):
                yield name, value
            if _is_action(value.get("action")):
                yield name, value["action"]
        elif type(value) is list and name not in _NOT_ACTIONS:
            for inner in value:
                if type(inner) is dict and _is_action(inner.get("action")):
                    yield name, inner["action"]


def _is_action(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and bool(value["type"])
