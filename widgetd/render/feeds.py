"""What fills a widget that has a feed: who knows other servers, and what a call needs of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from widgetd.errors import CallError
from widgetd.schema.validator import Checked
from widgetd.widget.feed import Feed
from widgetd.widget.widget import Widget


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What a feed came to.

    Attributes:
        checked: Arguments that the author's whole schema admits.
        mark: `_meta["widgetd/feed"]`, as JSON; empty where the caller's arguments were all.
        as_of: The time of a stale answer, for the text; empty where it is none.
    """

    checked: Checked
    mark: bytes = b""
    as_of: str = ""


class Feeds(Protocol):
    """Fills widgets."""

    async def fill(
        self, widget: Widget, feed: Feed, given: Mapping[str, Any], *, strict: bool
    ) -> Filled:
        """What `widget` is drawn with, from what its caller gave.

        Raises:
            CallError: The caller's arguments do not fit (W2002), or nothing that fits can be had
                (W5001 to W5010).
        """

    def is_at_hand(self, widget: Widget, feed: Feed, given: Mapping[str, Any], /) -> bool:
        """Whether filling it would wait for nobody."""


class NoFeeds:
    """Fills nothing, where no upstreams are declared."""

    async def fill(
        self, widget: Widget, feed: Feed, given: Mapping[str, Any], *, strict: bool
    ) -> Filled:
        """What was given, where the feed is content with that.

        Raises:
            CallError: It is not (W5001), or what was given does not fit (W2002).
        """
        asked = feed.asked.check(dict(given), strict=strict)
        if feed.part.on_failure == "arguments":
            return Filled(checked=widget.check(asked.arguments, strict=strict))
        problem = f"there is no upstream '{feed.part.upstream}', which fills this widget"
        raise CallError("W5001", f"{problem}; start widgetd with --upstreams")

    def is_at_hand(self, _widget: Widget, _feed: Feed, _given: Mapping[str, Any]) -> bool:
        """Nobody is asked."""
        return True
