"""Server-Sent Events for open pages: changes of swaps, and replaced renders.

An event names what to fetch again and carries no content, so a page after missed events fetches
the same things once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping

import anyio
import orjson

from widgetd.author.gallery.gallery import mark_of
from widgetd.server.catalog.change import difference
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.store.cache import Renders
from widgetd.server.store.waiters import ReplacedRenders
from widgetd.server.web.limits import LIMITS


async def events(
    registry: Registry,
    view: Callable[[Snapshot], Snapshot],
    stop: anyio.Event,
    renders: Renders,
    owner: str,
) -> AsyncIterator[bytes]:
    """Yield the events of a page, until `stop` is set or the client disconnects.

    Args:
        registry: Holds the snapshot being served.
        view: Returns the user's part of a snapshot.
        stop: Ends the stream.
        renders: Reports replaced renders.
        owner: The user's principal. Ids of other owners' renders are not sent.
    """
    snapshot, replaced = registry.current, ReplacedRenders()
    yield _event("hello", {"mark": mark_of(snapshot)})
    with renders.listening(replaced):
        while not stop.is_set():
            served, render_id = await _next(registry, snapshot, stop, replaced)
            if render_id:
                render = await renders.get(render_id)
                if render is not None and render.owner == owner:
                    yield _event("render", {"id": render.id, "version": render.version})
            elif served is snapshot:
                yield b": still here\n\n"
            if served is snapshot:
                continue
            before, after = view(snapshot), view(served)
            change = difference(before, after)
            data = {
                "added": change.added,
                "changed": tuple(after.widgets) if change.theme else change.changed,
                "removed": change.removed,
                "faults": _other_faults(before, after),
                "mark": mark_of(after),
            }
            yield _event("swap", data)
            snapshot = served


async def _next(
    registry: Registry, snapshot: Snapshot, stop: anyio.Event, replaced: ReplacedRenders
) -> tuple[Snapshot, str]:
    """Wait for another snapshot, the id of a replaced render, or the heartbeat."""
    newer, render_id = snapshot, ""
    with anyio.move_on_after(LIMITS.heartbeat_s):
        async with anyio.create_task_group() as tasks:

            async def end() -> None:
                await stop.wait()
                tasks.cancel_scope.cancel()

            async def hear() -> None:
                nonlocal render_id
                render_id = await replaced.next()
                tasks.cancel_scope.cancel()

            tasks.start_soon(end)
            tasks.start_soon(hear)
            newer = await registry.wait_for_newer(snapshot)
            tasks.cancel_scope.cancel()
    return newer, render_id


def _other_faults(before: Snapshot, after: Snapshot) -> list[str]:
    was, now = before.faults, after.faults
    paths = {path for path in was.keys() | now.keys() if was.get(path) != now.get(path)}
    if not paths:
        return []
    return [tool for tool, widget in after.widgets.items() if widget.definition.path in paths]


def _event(name: str, data: Mapping[str, object]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps(data))
