"""Remove secrets from users' input, for every reader but the recipient of the action.

The recipient of an action (`await_widget_action`, the webhook) gets the payload as it was accepted:
a password is typed for it. A chat's model, its conversation on disk and every other reader get the
result of `readable_input`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from widgetd.core.widget.actions.tree_actions import TreeAction, iterate_triggers
from widgetd.core.widget.summary import remove_paths


def readable_input(
    tree: Mapping[str, Any],
    action: TreeAction,
    payload: Mapping[str, Any],
    sensitive: Collection[str] = (),
) -> dict[str, Any]:
    """Return an accepted payload without passwords and sensitive fields."""
    paths = {*sensitive, *password_paths(tree)}
    if sensitive:
        # The template wrote these keys from arguments, perhaps sensitive.
        paths.update(key for trigger in action.triggers for key in trigger.payload)
    return dict(remove_paths(payload, paths))


def password_paths(tree: Mapping[str, Any]) -> set[str]:
    # The name of a password anywhere in the tree counts everywhere: two forms may send
    # the same field, once as plain text.
    passwords = {
        field.name for trigger in iterate_triggers(tree) for field in trigger.fields if field.secret
    }
    return {".".join(name for name in path.split(".") if name) for path in passwords}
