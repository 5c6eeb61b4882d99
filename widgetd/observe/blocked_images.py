"""Log, once per widget and origin, images that hosts will not load."""

from __future__ import annotations

from collections.abc import Collection
from weakref import WeakKeyDictionary

from widgetd.logs import get_logger
from widgetd.observe.limits import LIMITS
from widgetd.observe.observer import ActionRecord, CallRecord, Notice
from widgetd.widget.images import find_blocked, find_image_origins
from widgetd.widget.widget import Widget

_log = get_logger()


class BlockedImages:
    """An observer that looks for image origins in results.

    Args:
        allowed: Origins of images that every widget may load.
    """

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self._reported: WeakKeyDictionary[Widget, set[str]] = WeakKeyDictionary()

    def on_call(self, call: CallRecord) -> None:
        """Log the blocked origins of a result."""
        widget, answer = call.widget, call.answer
        if widget is None or not isinstance(answer, bytes):
            return
        reported = self._reported.get(widget, set())
        origins = find_image_origins(answer) - reported
        if not origins:
            return
        for origin in find_blocked(origins, {*widget.definition.image_origins, *self._allowed}):
            if len(reported) == LIMITS.blocked_origins:
                break
            _log.warning("image.blocked", widget=widget.tool, origin=origin, setting="image_origin")
            reported.add(origin)
        self._reported[widget] = reported

    def on_render(self, widget: Widget, steps: int) -> None:
        """Ignore renders."""

    def on_action(self, action: ActionRecord) -> None:
        """Ignore actions."""

    def on_notice(self, notice: Notice) -> None:
        """Ignore notices."""
