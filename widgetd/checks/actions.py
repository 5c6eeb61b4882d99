"""What can be said about a widget's actions: what hides a field, and what is described in vain."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from widgetd.errors import Finding, nearest
from widgetd.schema.describe import alternatives
from widgetd.schema.json_values import pointer
from widgetd.widget.actions import WidgetAction
from widgetd.widget.actions.widget_actions import template_actions
from widgetd.widget.definition import Definition
from widgetd.widget.sidecar import SUFFIX

_MOST_NAMED = 6


def hidden_fields(actions: Collection[WidgetAction]) -> Iterator[Finding]:
    """Each field that never arrives, because a payload has a key of that name (W1408)."""
    for action in actions:
        for key, field in action.collisions:
            yield Finding(
                code="W1408",
                at="/template",
                problem=f"the key '{key}' in the payload of '{action.type}' hides the form's "
                f"field '{field}'",
                advice="give one of the two another name",
            )


def described_in_vain(
    definition: Definition, actions: Collection[WidgetAction]
) -> Iterator[Finding]:
    """Each action that the sidecar describes and the template does not have (W1214)."""
    if not all(one.type for one in template_actions(definition.template)):
        return  # an expression makes a type, which may be any
    types = tuple(action.type for action in actions)
    for name in definition.sidecar.actions:
        if name in types:
            continue
        if near := nearest(name, types):
            advice = f"did you mean '{near}'?"
        elif types:
            named = [f"'{one}'" for one in types[:_MOST_NAMED]]
            advice = f"describe {alternatives(named)}"
        else:
            advice = "take it out, for there is no action at all"
        yield Finding(
            code="W1214",
            path=definition.path + SUFFIX,
            at=f"/actions{pointer(name)}",
            problem=f"the template has no action '{name}'",
            advice=advice,
        )
