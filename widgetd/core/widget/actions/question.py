"""A form as a question: a flat schema that clients without a view can ask their users.

Source: MCP specification 2026-07-28, client/elicitation, "Requested Schema": an object of texts,
numbers, booleans and choices, without nesting.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from widgetd.base.errors import CallError
from widgetd.core.schema.keywords import Subschema
from widgetd.core.widget.actions.fields import FormField, find_field, list_options
from widgetd.core.widget.actions.tree_actions import Trigger, iterate_triggers
from widgetd.core.widget.components.traits import get_traits
from widgetd.core.widget.components.tree import iterate_components
from widgetd.core.widget.limits import LIMITS

_FORMATS = {"email": "email", "iri": "uri"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The one form of a tree, as a question.

    Attributes:
        trigger: What submits the form.
        schema: The schema of an answer; its properties have the names of the form's fields.
    """

    trigger: Trigger
    schema: Mapping[str, Any]

    def payload(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Return the payload that the form would send for `answer`."""
        payload: dict[str, Any] = {}
        for field in self.trigger.sent_fields:
            value = answer.get(field.name)
            if value is None:
                continue
            inner = payload
            for part in field.path[:-1]:
                inner = inner.setdefault(part, {})
            inner[field.path[-1]] = value
        return {**payload, **self.trigger.payload}


def find_question(
    tree: Mapping[str, Any],
    sensitive: Collection[str] = (),
    *,
    schema: Subschema = True,
    titled: bool = True,
) -> Question | None:
    """Return the form of `tree` as a question; None if it has none that the server handles.

    Args:
        tree: The widget root.
        sensitive: The dotted paths that the widget's sidecar calls sensitive.
        schema: The schema of the widget's arguments: a number field that has the name of an integer
            argument takes integers, which ChatKit's controls cannot say.
        titled: Whether choices have titles as JSON Schema has them, or as protocol versions before
            2025-11-25 do.

    Raises:
        CallError: A question cannot express the form, or must not (W2012).
    """
    submits = {
        (one.type, repr(one.payload), one.group): one
        for one in iterate_triggers(tree)
        if one.submits and one.handler == "server" and one.sent_fields
    }
    if not submits:
        return None
    (trigger, *others) = submits.values()
    if others:
        raise _inexpressible("it can be submitted in several ways")
    if sensitive or any(one.secret for one in trigger.fields):
        raise _inexpressible("it has sensitive fields, which are for the page alone")
    if len(trigger.sent_fields) > LIMITS.question_fields:
        raise _inexpressible(f"it has more than {LIMITS.question_fields} fields")
    components: dict[str, Mapping[str, Any]] = {}
    labels: dict[str, str] = {}
    for node in iterate_components(tree):
        if node.get("type") == "Label" and isinstance(node.get("fieldName"), str):
            labels[node["fieldName"]] = str(node.get("value", ""))
        if (field := find_field(node)) is not None:
            components[field.name] = _find_control(node)
    properties = {
        one.name: _build_property(one, components[one.name], labels.get(one.name, ""), titled)
        for one in trigger.sent_fields
    }
    for one in trigger.sent_fields:
        if one.kind == "number" and _is_integer(schema, one.path):
            properties[one.name]["type"] = "integer"
    needed = [
        one.name
        for one in trigger.sent_fields
        if one.required or components[one.name].get("required") is True
    ]
    required = {"required": needed} if needed else {}
    return Question(
        trigger=trigger, schema={"type": "object", "properties": properties, **required}
    )


def _is_integer(schema: Subschema, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(schema, Mapping):
            return False
        schema = schema.get("properties", {}).get(name, True)
    return isinstance(schema, Mapping) and schema.get("type") == "integer"


def _build_property(
    field: FormField, component: Mapping[str, Any], label: str, titled: bool
) -> dict[str, Any]:
    """Return the schema of one field.

    Raises:
        CallError: There is no keyword for what the field takes (W2012).
    """
    placeholder = str(component.get("placeholder") or "")
    title = label or component.get("label") or component.get("ariaLabel") or placeholder
    about: dict[str, Any] = {"title": str(title or field.path[-1])}
    if placeholder and placeholder != about["title"]:
        about["description"] = placeholder
    default = component.get("defaultChecked", component.get("defaultValue"))
    text = default if isinstance(default, str) else None
    match field.kind:
        case "boolean":
            return {"type": "boolean", **about, "default": default is True}
        case "number":
            return _add_default({"type": "number", **about}, _parse_number(default))
        case "any":
            raise _inexpressible(f"several fields are called '{field.name}'")
    if get_traits(component).field in ("select", "radio"):
        # Another field of this name may be free text.
        choices = list_options(component) if field.choices else {}
        if not 0 < len(choices) <= LIMITS.question_choices:
            raise _inexpressible(f"'{field.name}' has {len(choices) or 'no'} choices")
        shape = {"type": "string", **about, **_build_choices(choices, titled)}
        return _add_default(shape, text if text in choices else None)
    if get_traits(component).field == "date":
        bounds = [
            f"{word} {component[name]}"
            for word, name in (("from", "min"), ("until", "max"))
            if isinstance(component.get(name), str)
        ]
        about |= {"description": " ".join(bounds)} if bounds else {}
        return _add_default({"type": "string", **about, "format": "date"}, text)
    rules = field.rules or {}
    if "pattern" in rules:
        raise _inexpressible(f"'{field.name}' has a pattern")
    shape = {"format": _FORMATS[rules["format"]]} if "format" in rules else {}
    least = {"minLength": 1} if field.required else {}
    return _add_default({"type": "string", **about, **shape, **least}, text or None)


def _build_choices(choices: Mapping[str, str], titled: bool) -> dict[str, Any]:
    if all(value == name for value, name in choices.items()):
        return {"enum": list(choices)}
    if titled:
        return {"oneOf": [{"const": value, "title": name} for value, name in choices.items()]}
    return {"enum": list(choices), "enumNames": list(choices.values())}


def _add_default(schema: dict[str, Any], value: str | float | None) -> dict[str, Any]:
    return schema if value is None else {**schema, "default": value}


def _parse_number(value: object) -> int | float | None:
    if not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() else number


def _find_control(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a field's component; of a text that can be edited, its control."""
    editable = node.get("editable")
    if not isinstance(editable, Mapping):
        return node
    return {"defaultValue": node.get("value"), **editable, "type": "Textarea"}


def _inexpressible(why: str) -> CallError:
    return CallError("W2012", f"the form cannot be asked as a question: {why}")
