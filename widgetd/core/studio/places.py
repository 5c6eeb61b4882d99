"""Places of components in their JSX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from widgetd.base.errors import CallError, WidgetError
from widgetd.core.studio.compare import differ
from widgetd.core.widget.components import tree

if TYPE_CHECKING:
    from widgetd.core.widget.widget import Widget


def find_places(
    widget: Widget, arguments: Mapping[str, Any], drawn: Mapping[str, Any]
) -> dict[str, int]:
    """Find the offset of each component's element in the widget's JSX.

    Args:
        widget: A widget, with or without JSX.
        arguments: Arguments with defaults, as the JSX reads them.
        drawn: The tree drawn with them.

    Returns:
        Offsets by the component's JSON pointer; empty if the JSX draws another tree.
    """
    if not widget.definition.view:
        return {}
    from widgetd.core.template.jsx import View  # noqa: PLC0415 - few files need JSX
    from widgetd.core.template.jsx.located import LocatingBuilder, take_places  # noqa: PLC0415 - as above

    try:
        located = View(widget.definition.view, widget.limits, builder=LocatingBuilder)
        places, placed = take_places(tree(located.render(arguments)))
    except (CallError, WidgetError):
        return {}
    return {} if differ(placed, drawn) else places


def enclosing_place(places: Mapping[str, int], at: str) -> int | None:
    while at and at not in places:
        at = at.rpartition("/")[0]
    return places.get(at)
