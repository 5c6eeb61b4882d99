"""Say in words for people what a user did: “Subscribe” with Email ada@example.com."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from widgetd.core.widget.actions.tree_actions import TreeAction
from widgetd.core.widget.components.tree import iterate_components

_LABEL_CHARS = 40
_ACTION_KEYS = ("onClickAction", "onSubmitAction", "action")

_SPACES = str.maketrans("_-", "  ")


def describe_action(tree: Mapping[str, Any], action: TreeAction, payload: Mapping[str, Any]) -> str:
    """Return `“Label” with Field value, Field value`: the button and the input.

    Args:
        tree: The widget root in which the user acted.
        action: An action of this tree.
        payload: The public part of its payload. Keys of the author's are left out.
    """
    names = {field.name for trigger in action.triggers for field in trigger.sent_fields}
    labels = {}
    for part in iterate_components(tree):
        if part.get("type") == "Label":
            # A star marks a required field.
            labels[str(part.get("fieldName"))] = str(part.get("value")).rstrip(" *:")
        elif "name" in part and part.get("label"):
            labels.setdefault(str(part["name"]), str(part["label"]))
    fields = ", ".join(
        (labels.get(name) or name.rpartition(".")[2].translate(_SPACES).capitalize()) + f" {value}"
        for name, value in _list_fields(payload)
        if name in names
    )
    label = find_label(tree, action.type)
    return f"“{label or action.type}”" + (f" with {fields}" if fields else "")


def find_label(tree: Mapping[str, Any], action: str) -> str:
    """Return the label of the control for an action, empty if there is none."""
    for part in iterate_components(tree):
        controls = [part, *(part[key] for key in ("confirm", "cancel") if _is_object(part, key))]
        for control in controls:
            actions = [control[key] for key in _ACTION_KEYS if _is_object(control, key)]
            if any(taken.get("type") == action for taken in actions):
                submits = (c for c in iterate_components(control) if c.get("submit") is True)
                label = control.get("label") or next((c.get("label") for c in submits), "")
                return str(label)[:_LABEL_CHARS]
    return ""


def _is_object(part: Mapping[str, Any], key: str) -> bool:
    return isinstance(part.get(key), Mapping)


def _list_fields(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _list_fields(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        yield name, ", ".join(str(v) for v in value if not isinstance(v, dict | list))
    elif value is True:
        yield name, "yes"
    elif value not in ("", None, False):
        yield name, str(value)
