"""Tell every open browser what a swap changed, as Server-Sent Events.

An event says what to fetch again, never what is in it: a browser that missed
some fetches the same things once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping

import anyio
import orjson

from widgetd.catalog.change import difference
from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Snapshot
from widgetd.web.gallery.gallery import mark_of

HEARTBEAT_S = 15.0
"""Proxies and laptops drop a connection that is silent for longer than a minute."""


async def events(
    registry: Registry, view: Callable[[Snapshot], Snapshot], stop: anyio.Event
) -> AsyncIterator[bytes]:
    """The events of one browser, until `stop` is set or it goes away.

    Args:
        registry: What is served, at every moment.
        view: What of it the browser's user may see.
        stop: Ends the stream.
    """
    known = registry.current
    yield _event("hello", {"mark": mark_of(known)})
    while not stop.is_set():
        served = await _next(registry, known, stop)
        if served is known:
            yield b": still here\n\n"
        else:
            before, after = view(known), view(served)
            change = difference(before, after)
            data = {
                "added": change.added,
                "changed": change.changed,
                "removed": change.removed,
                "faults": [
                    one for one in after.widgets if _fault(before, one) != _fault(after, one)
                ],
                "mark": mark_of(after),
            }
            yield _event("swap", data)
            known = served


async def _next(registry: Registry, known: Snapshot, stop: anyio.Event) -> Snapshot:
    """The snapshot that takes the place of `known`; `known` itself when nothing did for long."""
    newer = known
    with anyio.move_on_after(HEARTBEAT_S):
        async with anyio.create_task_group() as tasks:

            async def end() -> None:
                await stop.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(end)
            newer = await registry.newer_than(known)
            tasks.cancel_scope.cancel()
    return newer


def _fault(snapshot: Snapshot, tool: str) -> object:
    widget = snapshot.widgets.get(tool)
    return None if widget is None else snapshot.faults.get(widget.definition.path)


def _event(name: str, data: Mapping[str, object]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps(data))
