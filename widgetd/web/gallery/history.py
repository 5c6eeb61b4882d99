"""Remember of each widget the version before the one being served, and the loop that does it."""

from __future__ import annotations

from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Snapshot
from widgetd.widget.widget import Widget


class History:
    """The version of each widget before the present one, for as long as the widget is served."""

    def __init__(self) -> None:
        self._previous: dict[str, Widget] = {}

    def before(self, widget: Widget) -> Widget | None:
        """The version that `widget` took the place of; None where it is the first."""
        return self._previous.get(widget.tool)

    def note(self, before: Snapshot, after: Snapshot) -> None:
        """Remember what `after` took the place of."""
        for tool in self._previous.keys() - after.widgets.keys():
            del self._previous[tool]
        for tool, widget in after.widgets.items():
            earlier = before.widgets.get(tool)
            if earlier is not None and earlier.key != widget.key:
                self._previous[tool] = earlier


async def remember(registry: Registry, history: History) -> None:
    """Run until cancelled, so that `history` knows what each snapshot took the place of."""
    known = registry.current
    while True:
        served = await registry.newer_than(known)
        history.note(known, served)
        known = served
