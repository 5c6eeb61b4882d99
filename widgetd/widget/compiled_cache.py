"""Let go of the parts of widgets that nobody has called for long.

A widget's parts are made when it is first called, and are most of what it then takes
in memory. Whoever calls it again has them made again.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from widgetd.widget.widget import Widget

MOST = 1024
"""So many widgets keep their parts; a daemon that serves no more lets go of none."""


class Warm:
    """The widgets that were called last.

    Args:
        most: How many of them keep their parts.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._called: WeakKeyDictionary[Widget, None] = WeakKeyDictionary()

    def called(self, widget: Widget) -> None:
        """Somebody calls `widget`; whichever was called longest ago may have to let go."""
        self._called.pop(widget, None)
        self._called[widget] = None
        if len(self._called) > self._most:
            longest_ago = next(iter(self._called))
            del self._called[longest_ago]
            longest_ago.let_go()
