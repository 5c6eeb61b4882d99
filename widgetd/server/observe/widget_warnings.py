"""Log hints for a widget's author, once per widget: blocked images, and differing pages."""

from __future__ import annotations

from collections.abc import Collection
from weakref import WeakKeyDictionary, WeakSet

from widgetd.base.logs import get_logger
from widgetd.core.widget.images import find_blocked, find_image_origins
from widgetd.core.widget.widget import Widget
from widgetd.server.observe.limits import LIMITS
from widgetd.server.observe.observer import CallRecord, Observer

_log = get_logger()


class WidgetWarnings(Observer):
    """An observer for blocked image origins in results, and differing pages.

    Args:
        allowed: Origins of images for every widget.
    """

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self._reported: WeakKeyDictionary[Widget, set[str]] = WeakKeyDictionary()
        self._differing: WeakSet[Widget] = WeakSet()

    def on_call(self, call: CallRecord) -> None:
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

    def on_difference(self, widget: Widget) -> None:
        if widget not in self._differing:
            self._differing.add(widget)
            _log.warning("page.differed", widget=widget.tool)
