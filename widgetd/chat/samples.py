"""The served widgets as a newcomer meets them: examples to show, and questions to press."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from widgetd.base.errors import CallError
from widgetd.core.schema.json_values import size
from widgetd.core.widget.actions import find_tree_actions
from widgetd.core.widget.actions.words import find_label
from widgetd.core.widget.states import SAMPLE, show_state
from widgetd.server.mcp.server import Server

if TYPE_CHECKING:
    from widgetd.server.catalog.snapshot import Snapshot
    from widgetd.upstreams.connection import Upstream

_SUGGESTIONS = 3

_MUCH = 200
"""Number of values from which an example is as rich as any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetSample:
    """A widget's first example, whole.

    Attributes:
        arguments: The example.
        admits: Returns whether the widget takes these arguments.
        submit: The label of the button of its form, empty without a form.
    """

    arguments: Mapping[str, Any]
    admits: Callable[[Mapping[str, Any]], bool]
    submit: str = ""


def find_sample(server: Server, tool: str) -> WidgetSample | None:
    widget = server.registry.current.widgets.get(tool)
    if widget is None:
        return None
    submit = ""
    try:
        state = show_state(widget, SAMPLE)
        tree = state.tree(widget)
    except CallError:
        arguments = widget.call_example or {}
    else:
        # Of a widget filled by an upstream, only the caller's part.
        arguments = state.arguments if widget.feed is None else widget.call_example or {}
        for action in find_tree_actions(tree).values():
            if any(trigger.submits and trigger.fields for trigger in action.triggers):
                submit = submit or find_label(tree, action.type)
    return WidgetSample(arguments=arguments, admits=widget.schema.admits, submit=submit)


def list_suggestions(snapshot: Snapshot, upstreams: Iterable[Upstream]) -> list[str]:
    """Return up to three things to ask for: of served widgets, and of an upstream if there is any.

    The widgets with most content come first, by their first wish, and none has the tags of another.
    """
    calls = [
        " ".join((f"Call {tool.name} of {upstream.name}", *values))
        for upstream in upstreams
        for tool in upstream.tools.values()
        if tool.is_read_only and (values := _sample_values(tool.input_schema)) is not None
    ][:1]
    widgets = [widget for widget in snapshot.widgets.values() if widget.known_example is not None]
    widgets.sort(key=lambda widget: (-size(widget.example, _MUCH), widget.tool))
    by_tags: dict[object, str] = {}
    for widget in widgets:
        wishes = *widget.definition.sidecar.wishes, f"Show me {widget.definition.title}"
        by_tags.setdefault(widget.definition.tags or widget.tool, wishes[0])
    return [*by_tags.values()][: _SUGGESTIONS - len(calls)] + calls


def _sample_values(schema: Mapping[str, Any]) -> list[str] | None:
    values = []
    for name in schema.get("required", ()):
        part = schema.get("properties", {}).get(name, {})
        examples = [*part.get("examples", ()), *part.get("enum", ())]
        if not examples:
            return None
        values.append(f'"{examples[0]}"' if isinstance(examples[0], str) else str(examples[0]))
    return values
