"""Which widgets are served at all, by tag or by name."""

from __future__ import annotations

from dataclasses import dataclass

from widgetd.widget.widget import Widget


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Some of the widgets.

    Attributes:
        include: Only widgets with one of these tags or tool names; empty for all.
        exclude: No widgets with one of these, whatever `include` says.
    """

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()

    def admits(self, widget: Widget) -> bool:
        """Whether the widget is served."""
        if not (self.include or self.exclude):
            return True
        marks = {widget.tool, *widget.definition.tags}
        return not (marks & self.exclude) and (not self.include or bool(marks & self.include))


EVERYTHING = Selection()
