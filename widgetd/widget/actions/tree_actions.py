"""The actions that one tree triggers, and whether a payload is one that it sends.

As the view does it: an action inside a form carries the form's fields, a change
outside a form carries the field that changed. What is disabled triggers nothing.
What the author sends along is the author's: it is recognised in what comes back,
and taken from the tree. What the user adds is held to the fields.

Source: ChatKit, "Actions": form values are merged into the payload of every
action raised within the form, and what the payload says wins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import orjson

from widgetd.errors import CallError, InvalidArgument
from widgetd.limits import Limits
from widgetd.schema.validator import compile_schema
from widgetd.widget.actions.fields import Field, as_browser, exactly, field_of, payload_schema

Handler = Literal["server", "client"]
Node = Mapping[str, Any]

_LIMITS = Limits(schema_nodes=200_000, json_depth=256)
"""What a tree within its own limits can come to; widgets are held to them long before."""

_MOST_TRIED = 50
"""Forms that send the same action with the same payload; a widget has one or two."""

_MOST_NESTED = 4
"""Forms within forms, which HTML does not have; what is deeper counts as part of the last one."""

_AN_ACTION = b'ction":{'
"""What the JSON of a tree with actions has in it: `"action":{` or `"onClickAction":{`."""

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
    """One property of a component in a tree that triggers an action.

    Attributes:
        type: The action's type, as `flight.track`.
        handler: Whether the action is the server's to handle, or the client's.
        payload: What the author sends along; what is no object is `{"value": ...}`.
        fields: What the user adds to it.
        submits: Whether the fields must be complete.
    """

    type: str
    handler: Handler
    payload: Mapping[str, Any]
    fields: tuple[Field, ...] = ()
    submits: bool = False

    @property
    def group(self) -> tuple[int, bool, frozenset[str]]:
        """The same for triggers in one form with the same keys, of which there may be thousands."""
        return id(self.fields), self.submits, frozenset(self.payload)

    @property
    def sent_fields(self) -> tuple[Field, ...]:
        """The fields that arrive: what the author sends along wins over a field of that name."""
        return tuple(field for field in self.fields if field.path[0] not in self.payload)

    @property
    def collisions(self) -> tuple[tuple[str, str], ...]:
        """Each key of the payload that hides a field, with that field's name."""
        return tuple(
            (field.path[0], field.name) for field in self.fields if field.path[0] in self.payload
        )

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of what it sends."""
        keys = {key: exactly(value) for key, value in self.payload.items()}
        return payload_schema(keys, self.sent_fields, submitted=self.submits)

    def is_meant(self, payload: Mapping[str, Any]) -> bool:
        """Whether everything that the author sends along has come back."""
        return all(
            key in payload and as_browser(payload[key]) == as_browser(value)
            for key, value in self.payload.items()
        )

    def accept(self, payload: Mapping[str, Any], sensitive: Collection[str] = ()) -> dict[str, Any]:
        """Return what came back, the author's part as it was sent.

        Raises:
            CallError: What the user adds does not fit the fields; no value of a password or of a
                `sensitive` field is in it.
        """
        added = {key: value for key, value in payload.items() if key not in self.payload}
        if self.submits:
            _add_objects(added, self.sent_fields)
        schema = payload_schema({}, self.sent_fields, submitted=self.submits)
        passwords = (field.name for field in self.sent_fields if field.secret)
        hidden = (*passwords, *sensitive)
        checked = compile_schema(schema, limits=_LIMITS).check(added, sensitive=hidden)
        return {**checked.arguments, **self.payload}


def _add_objects(added: dict[str, Any], fields: tuple[Field, ...]) -> None:
    """Put an object around each required field, so that the field itself is missed."""
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
    """One type of action, with everything in a tree that triggers it, in the tree's order."""

    type: str
    triggers: tuple[Trigger, ...]

    @property
    def handler(self) -> Handler:
        """The server's to handle if it is so anywhere."""
        return "server" if any(one.handler == "server" for one in self.triggers) else "client"

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the payloads that the tree sends, and of no others."""
        schemas = {orjson.dumps(one): one for one in (each.schema for each in self.triggers)}
        return next(iter(schemas.values())) if len(schemas) == 1 else {"anyOf": [*schemas.values()]}

    def accept(self, payload: object, sensitive: Collection[str] = ()) -> dict[str, Any]:
        """Return the payload in the form that a reader may trust.

        Args:
            payload: What came; what is no object counts as `{"value": ...}`.
            sensitive: Dotted paths of fields whose values are in no error.

        Raises:
            CallError: The tree does not send it (W2404); the slips are named as the fields are.
        """
        sent = as_object(payload)
        meant = {one.group: one for one in self.triggers if one.is_meant(sent)}
        if not meant:
            # The expected values are the template's, made of sensitive arguments perhaps.
            raise _not_offered((_OTHER_VALUES,) if sensitive else self._mismatches(sent))
        refused: list[CallError] = []
        for trigger in islice(meant.values(), _MOST_TRIED):
            try:
                return trigger.accept(sent, sensitive)
            except CallError as error:
                refused.append(error)
        invalid = refused[0].invalid_arguments
        raise _not_offered(invalid) if invalid else refused[0]

    def _mismatches(self, sent: Mapping[str, Any]) -> tuple[InvalidArgument, ...]:
        """What is wrong with a payload that nothing in the tree sends."""
        keys: dict[str, dict[bytes, Any]] = {}
        for trigger in self.triggers:
            for key, value in trigger.payload.items():
                keys.setdefault(key, {})[orjson.dumps(value)] = value
        choices = {key: {"enum": list(values.values())} for key, values in keys.items()}
        known = {key: value for key, value in sent.items() if key in choices}
        try:
            schema = payload_schema(choices, (), submitted=False)
            compile_schema(schema, limits=_LIMITS).check(known, strict=True)
        except CallError as error:
            return error.invalid_arguments
        return (_OTHER_VALUES,)


def _not_offered(errors: tuple[InvalidArgument, ...]) -> CallError:
    """A payload that the tree does not send (W2404), as the sentence that a caller reads."""
    paths = [f"payload.{error.path}" if error.path else "payload" for error in errors]
    sentences = [str(replace(error, path=path)) for error, path in zip(errors, paths, strict=True)]
    path = paths[0] if len(errors) == 1 else "payload"
    return CallError("W2404", "; ".join(sentences), path=path, invalid_arguments=errors)


def tree_actions(tree: Node) -> dict[str, TreeAction]:
    """Exactly the actions that `tree` triggers, by type, in the order of the tree."""
    found: dict[str, list[Trigger]] = {}
    for trigger in triggers(tree):
        found.setdefault(trigger.type, []).append(trigger)
    return {name: TreeAction(type=name, triggers=tuple(every)) for name, every in found.items()}


def triggers(tree: Node) -> Iterator[Trigger]:
    """Every trigger in `tree`, outer before inner."""
    waiting: list[tuple[Node, _Form | None]] = [(tree, None)]
    while waiting:
        node, form = waiting.pop()
        kind = node.get("type")
        is_card_form = kind == "Card" and node.get("asForm") is True and not _is_folded(node)
        is_form = kind == "Form" or is_card_form
        if is_form and (form is None or form.depth < _MOST_NESTED):
            form = _Form(node, 1 if form is None else form.depth + 1)
        if node.get("disabled") is not True:
            for name, action in _actions(node):
                fields = () if form is None else form.fields
                if form is None and name == "onChangeAction" and (own := field_of(node)):
                    fields = (own,)
                yield Trigger(
                    type=action["type"],
                    handler="client" if action.get("handler") == "client" else "server",
                    payload=as_object(action.get("payload")),
                    fields=fields,
                    submits=form is not None
                    and (name in _SUBMITTING or node.get("submit") is True),
                )
        waiting.extend((child, form) for child in reversed(_children(node)))


def has_actions(tree: Node, json: bytes | None = None) -> bool:
    """Whether `tree` triggers any action at all; quick, because every call asks.

    Args:
        tree: The widget root.
        json: The same as orjson writes it, where that is at hand.
    """
    if json is not None and _AN_ACTION not in json:
        return False
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        nested = [
            name for name, value in node.items() if type(value) is dict or type(value) is list
        ]
        if "children" in nested:
            waiting.extend(_children(node))
            nested.remove("children")
        if nested and node.get("disabled") is not True and any(True for _ in _actions(node)):
            return True
    return False


def as_object(payload: object) -> dict[str, Any]:
    """A payload as an object: null is an empty one, and what is none is `{"value": ...}`."""
    if payload is None:
        return {}
    return payload if isinstance(payload, dict) else {"value": payload}


class _Form:
    """A form, and the fields in it, which are found when somebody asks."""

    def __init__(self, node: Node, depth: int) -> None:
        self._node = node
        self.depth = depth

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """All fields in it, those of a form within it too."""
        found: dict[str, Field] = {}
        waiting = [self._node]
        while waiting:
            node = waiting.pop()
            field = field_of(node)
            if field is not None:
                found[field.name] = found.get(field.name, field).merged(field)
            waiting.extend(reversed(_children(node)))
        return tuple(found.values())


def _is_folded(node: Node) -> bool:
    return node.get("type") == "Card" and node.get("collapsed") is True


def _actions(node: Node) -> Iterator[tuple[str, Node]]:
    """A component's own actions, `onClickAction` as well as `confirm: {label, action}`."""
    for name, value in node.items():
        # Most properties are plain values, and every call comes through here.
        if type(value) is dict:
            if name in _NOT_ACTIONS or (name in _FOOTER and _is_folded(node)):
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


def _children(node: Node) -> list[Node]:
    children = node.get("children")
    listed = children if isinstance(children, list) else [children]
    return [child for child in listed if isinstance(child, dict)]
