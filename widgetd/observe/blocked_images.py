"""Says in the log, once, that hosts load no images from where a result has them."""

from __future__ import annotations

from collections.abc import Collection
from weakref import WeakKeyDictionary

from widgetd.logs import get_logger
from widgetd.observe.observer import CallRecord, Notice
from widgetd.widget.images import blocked, image_origins
from widgetd.widget.widget import Widget

_log = get_logger()

_MOST = 8
"""Origins that are said of one widget; callers can name any number."""


class BlockedImages:
    """Looks at what calls answer.

    Args:
        allowed: Origins that images may come from in every widget.
    """

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self._said: WeakKeyDictionary[Widget, set[str]] = WeakKeyDictionary()

    def on_call(self, call: CallRecord) -> None:
        """A call is over."""
        widget, answer = call.widget, call.answer
        if widget is None or not isinstance(answer, bytes):
            return
        said = self._said.get(widget, set())
        origins = image_origins(answer) - said
        if not origins:
            return
        for origin in blocked(origins, {*widget.definition.image_origins, *self._allowed}):
            if len(said) == _MOST:
                break
            _log.warning("image.blocked", widget=widget.tool, origin=origin, setting="image_origin")
            said.add(origin)
        self._said[widget] = said

    def on_render(self, widget: Widget, steps: int) -> None:
        """A widget was rendered."""

    def on_notice(self, notice: Notice) -> None:
        """Clients were told of a change."""
