"""Tell clients to fetch a list again, at once and then at most every 100 ms.

    registry.newer_than -> difference to what was told -> clients.tell

The difference is taken to the snapshot that clients were last told of, so that
swaps in between merge into one notice, and one that was taken back into none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import anyio
import structlog

from widgetd.catalog.change import Change, difference
from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Snapshot
from widgetd.mcp.clients import Clients
from widgetd.mcp.notice import Notice
from widgetd.mcp.observer import Observer
from widgetd.mcp.principal import Audience
from widgetd.mcp.resources import uris

INTERVAL_S = 0.1
"""Clients answer a notice with a whole list each; ten a second is all that anybody can use."""

Listed = Callable[[Snapshot, Snapshot, Change], bool]
"""Whether the list on the wire reads otherwise in the second snapshot than in the first."""

View = Callable[[Snapshot, Audience], Snapshot]
"""What of a snapshot is there for an audience."""

_log = structlog.get_logger()


async def notify(
    registry: Registry,
    clients: Clients,
    *,
    view: View,
    listed: Listed,
    observers: Collection[Observer] = (),
) -> None:
    """Run until cancelled.

    Args:
        registry: Where swaps happen.
        clients: Who is told.
        view: What an audience sees of a snapshot.
        listed: Decides whether a change is worth telling of.
        observers: Are told of each notice.
    """
    told = registry.current
    async with anyio.create_task_group() as tasks:
        while True:
            now = await registry.newer_than(told)
            before, told = told, now
            notice = notice_of(before, now, listed)
            if notice:
                legacy = await clients.tell(partial(_seen, view, before, now, listed), tasks)
                for observer in observers:
                    observer.notified(notice)
                _log.debug("clients.notified", legacy=legacy, generation=now.generation)
                await anyio.sleep(INTERVAL_S)


def _seen(
    view: View, before: Snapshot, after: Snapshot, listed: Listed, audience: Audience
) -> Notice:
    return notice_of(view(before, audience), view(after, audience), listed)


def notice_of(before: Snapshot, after: Snapshot, listed: Listed) -> Notice:
    """What clients that know `before` must be told of `after`."""
    change = difference(before, after)
    return Notice(
        tools=listed(before, after, change),
        resources=bool(change.added or change.removed),
        updated=tuple(dict.fromkeys(uri for tool in change.tools for uri in uris(tool))),
    )
