"""The interface between a call and the feeds from upstream servers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from widgetd.base.errors import CallError
from widgetd.core.schema.validator import ValidArguments
from widgetd.core.widget.feed import Feed
from widgetd.core.widget.widget import Widget
from widgetd.server.store.contract import StoredRender


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The result of a feed.

    Attributes:
        checked: Arguments that fit the author's whole schema.
        mark: `_meta["widgetd/feed"]` as JSON. Empty if the caller's arguments sufficed.
        as_of: The time of a stale answer, for the text. Empty otherwise.
    """

    checked: ValidArguments
    mark: bytes = b""
    as_of: str = ""


class Feeds:
    """Fills widgets. The base class is for a daemon without upstreams."""

    async def fill(
        self,
        widget: Widget,
        feed: Feed,
        arguments: Mapping[str, Any],
        *,
        strict: bool,
        owner: str,  # noqa: ARG002 - nothing is stored here
    ) -> Filled:
        """Complete the arguments of a call. A new answer counts against the owner's share.

        Raises:
            CallError: The caller's arguments do not fit (W2002), or the feed fails (W5001 to
                W5010).
        """
        request = feed.request_schema.check(dict(arguments), strict=strict)
        if feed.can_fail:
            return Filled(checked=widget.check(request.arguments, strict=strict))
        name = feed.sources[0].part.upstream
        problem = f"there is no upstream '{name}', which fills this widget"
        raise CallError("W5001", f"{problem}; start widgetd with --upstreams")

    def is_at_hand(self, _widget: Widget, _feed: Feed, _arguments: Mapping[str, Any]) -> bool:
        return True

    def following(
        self, _render: StoredRender, _linger_s: float | None = None
    ) -> AbstractContextManager[None]:
        """Update a render during the block, if its widget has a live feed.

        The second argument is the time of updates after the block. None for the time between two
        questions of a page.
        """
        return nullcontext()
