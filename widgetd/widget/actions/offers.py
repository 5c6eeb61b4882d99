"""Where a tree offers actions, each with what the author sends along and the fields it carries.

As the view does it: an action inside a form carries the form's fields, a change
outside a form carries the field that changed. What is disabled offers nothing.

Source: ChatKit, "Actions": form values are merged into the payload of every
action raised within the form, and what the payload says wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from widgetd.widget.actions.fields import Field, field_of

Handler = Literal["server", "client"]
Node = Mapping[str, Any]

_SUBMITTING = frozenset({"onSubmitAction", "confirm"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One place in a tree where an action can be taken.

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
    def way(self) -> tuple[int, bool, frozenset[str]]:
        """The same for offers of one form with the same keys, of which there may be thousands."""
        return id(self.fields), self.submits, frozenset(self.payload)

    @property
    def sent(self) -> tuple[Field, ...]:
        """The fields that arrive: what the author sends along wins over a field of that name."""
        return tuple(field for field in self.fields if field.path[0] not in self.payload)

    @property
    def collisions(self) -> tuple[tuple[str, str], ...]:
        """Each key of the payload that hides a field, with that field's name."""
        return tuple(
            (field.path[0], field.name) for field in self.fields if field.path[0] in self.payload
        )


def offers(tree: Node) -> Iterator[Offer]:
    """Every offer in `tree`, outer before inner."""
    for node, place, action, form in _places(tree):
        yield _offer(node, place, action, form)


def offers_any(tree: Node) -> bool:
    """Whether `tree` offers any action at all; quick, because every call asks."""
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


def _places(tree: Node) -> Iterator[tuple[Node, str, Node, _Form | None]]:
    """Every component with an action, the property that holds it, the action, and the form."""
    waiting: list[tuple[Node, _Form | None]] = [(tree, None)]
    while waiting:
        node, form = waiting.pop()
        if _is_form(node) and (form is None or form.depth < _MOST_NESTED):
            form = _Form(node, 1 if form is None else form.depth + 1)
        if node.get("disabled") is not True:
            for place, action in _actions(node):
                yield node, place, action, form
        waiting.extend((child, form) for child in reversed(_children(node)))


def as_object(payload: object) -> dict[str, Any]:
    """A payload as an object: null is an empty one, and what is none is `{"value": ...}`."""
    if payload is None:
        return {}
    return payload if isinstance(payload, dict) else {"value": payload}


_MOST_NESTED = 4
"""Forms within forms, which HTML does not have; what is deeper counts as part of the last one."""


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
                found[field.name] = found.get(field.name, field).beside(field)
            waiting.extend(reversed(_children(node)))
        return tuple(found.values())


def _is_form(node: Node) -> bool:
    if node.get("type") == "Form":
        return True
    return node.get("type") == "Card" and node.get("asForm") is True and not _is_folded(node)


def _is_folded(node: Node) -> bool:
    return node.get("type") == "Card" and node.get("collapsed") is True


def _actions(node: Node) -> Iterator[tuple[str, Node]]:
    """A component's own actions, `onClickAction` as well as `confirm: {label, action}`."""
    for name, value in node.items():
        # Most properties are plain values, and every call comes through here.
        if type(value) is dict:
            if name in _APART or (name in _FOOTER and _is_folded(node)):
                continue
            if (name == "action" or name.endswith("Action")) and _is_action(value):
                yield name, value
            if _is_action(value.get("action")):
                yield name, value["action"]
        elif type(value) is list and name not in _APART:
            for inner in value:
                if type(inner) is dict and _is_action(inner.get("action")):
                    yield name, inner["action"]


_APART = frozenset({"children", "payload"})
_FOOTER = frozenset({"confirm", "cancel"})


def _is_action(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and bool(value["type"])


def _offer(node: Node, place: str, action: Node, form: _Form | None) -> Offer:
    fields = () if form is None else form.fields
    if form is None and place == "onChangeAction":
        own = field_of(node)
        fields = () if own is None else (own,)
    return Offer(
        type=action["type"],
        handler="client" if action.get("handler") == "client" else "server",
        payload=as_object(action.get("payload")),
        fields=fields,
        submits=form is not None and (place in _SUBMITTING or node.get("submit") is True),
    )


def _children(node: Node) -> list[Node]:
    children = node.get("children")
    listed = children if isinstance(children, list) else [children]
    return [child for child in listed if isinstance(child, dict)]
