"""Announce changes: at once, then at most every 100 ms.

    registry.wait_for_newer -> difference to the announced snapshot -> the clients of each root

A notification is a level, not an event. The difference is taken to the last announced snapshot, so
swaps in between merge into one notice, and an undone swap into none.
"""

from __future__ import annotations

from functools import partial

import anyio

from widgetd.base.logs import get_logger
from widgetd.server.access.principal import Audience
from widgetd.server.catalog.change import difference
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.mcp.resources import uris
from widgetd.server.mcp.server import Server
from widgetd.server.observe.observer import Notice
from widgetd.server.render.entry import page_uri
from widgetd.server.render.result import render_uri
from widgetd.server.store.contract import StoredRender
from widgetd.server.store.waiters import ReplacedRenders

_log = get_logger()


async def notify(server: Server) -> None:
    def view_notice(before: Snapshot, after: Snapshot, audience: Audience) -> Notice:
        view = server.views.of
        return _compare(server, view(before, audience), view(after, audience))

    announced = server.registry.current
    async with anyio.create_task_group() as tasks:
        while True:
            now = await server.registry.wait_for_newer(announced)
            before, announced = announced, now
            notice = _compare(server, before, now)
            if notice:
                notice_for = partial(view_notice, before, now)
                legacy = sum([await root.notify(notice_for, tasks) for root in tuple(server.roots)])
                for observer in server.options.observers:
                    observer.on_notice(notice)
                _log.debug("clients.notified", legacy=legacy, generation=now.generation)
                await anyio.sleep(LIMITS.notify_s)


async def notify_of_renders(server: Server) -> None:
    # Without a pause between notices, because updates of a render have a rate limit of their own.
    replaced, renders = ReplacedRenders(), server.store.renders

    def view_notice(render: StoredRender, audience: Audience) -> Notice:
        saw = audience.could_see(render)
        return Notice(updated=(render_uri(render.id),)) if saw else Notice()

    with renders.listening(replaced):
        async with anyio.create_task_group() as tasks:
            while True:
                if render := await renders.get(await replaced.next()):
                    for root in tuple(server.roots):
                        await root.notify(partial(view_notice, render), tasks)


def _compare(server: Server, before: Snapshot, after: Snapshot) -> Notice:
    change = difference(before, after)
    was, now = (
        {
            tool: page_uri(snapshot.widgets[tool], server.resources.image_origins)
            for tool in change.tools
            if tool in snapshot.widgets
        }
        for snapshot in (before, after)
    )
    updated = (uri for tool in change.tools for uri in uris(tool))
    return Notice(
        tools=server.listings.has_changed(before, after, change),
        resources=was != now,
        updated=tuple(dict.fromkeys((*updated, *was.values(), *now.values()))),
    )
