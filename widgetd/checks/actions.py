"""What can be said about a widget's actions: what hides a field, and what is described in vain."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from widgetd.errors import Finding, nearest
from widgetd.schema.describe import alternatives
from widgetd.schema.json_values import pointer
from widgetd.widget.actions import KnownAction
from widgetd.widget.actions.written import written
from widgetd.widget.definition import Definition
from widgetd.widget.sidecar import SUFFIX

_MOST_NAMED = 6


def hidden_fields(known: Collection[KnownAction]) -> Iterator[Finding]:
    """Each field that never arrives, because a payload has a key of that name (W1408)."""
    for action in known:
        for key, field in action.collisions:
            yield Finding(
                code="W1408",
                at="/template",
                problem=f"the key '{key}' in the payload of '{action.type}' hides the form's "
                f"field '{field}'",
                advice="give one of the two another name",
            )


def misdescribed(definition: Definition, known: Collection[KnownAction]) -> Iterator[Finding]:
    """Each action that the sidecar describes and the template does not have (W1214)."""
    if not all(one.type for one in written(definition.template)):
        return  # an expression makes a type, which may be any
    types = tuple(action.type for action in known)
    for name in definition.sidecar.actions:
        if name not in types:
            yield Finding(
                code="W1214",
                path=definition.path + SUFFIX,
                at=f"/actions{pointer(name)}",
                problem=f"the template has no action '{name}'",
                advice=_advice(name, types),
            )


def _advice(name: str, types: tuple[str, ...]) -> str:
    near = nearest(name, types)
    if near:
        return f"did you mean '{near}'?"
    if not types:
        return "take it out, for there is no action at all"
    named = [f"'{one}'" for one in types[:_MOST_NAMED]]
    return f"describe {alternatives(named)}"
