"""Keep what a server serves equal to a folder: the three loops that do it, together.

    watch -> hints -> reload -> registry -> notify

Knows nothing of ports and signals, so that it runs in anybody's server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import anyio

from widgetd.catalog.loader import Catalog
from widgetd.catalog.reload import Observer, reload
from widgetd.files.hints import Hints
from widgetd.files.source import escape_path
from widgetd.files.watch import FOLLOW, POLL_S, Mode, watch
from widgetd.logs import get_logger
from widgetd.mcp.notifications import notify, notify_of_renders
from widgetd.mcp.server import Server
from widgetd.observe.status import Health
from widgetd.settings import Settings

_log = get_logger()


@asynccontextmanager
async def reloading(
    server: Server,
    settings: Settings,
    catalog: Catalog,
    *,
    hints: Hints,
    health: Health,
    stop: anyio.Event,
    observer: Observer | None = None,
) -> AsyncIterator[None]:
    """Keep what `server` serves equal to a folder; entered once the first scan is done.

    Add to `hints` to have the folder looked at; `stop` ends the watching. `health` are told how
    that goes, and `observer` how the reloading does.
    """
    registry, scanned = server.registry, anyio.Event()

    def record_scan() -> None:
        health.record_scan()
        scanned.set()

    async with anyio.create_task_group() as tasks:
        looking = partial(reload, catalog, hints, registry, scanned=record_scan, observer=observer)
        tasks.start_soon(looking)
        await scanned.wait()
        tasks.start_soon(notify, server)
        tasks.start_soon(notify_of_renders, server)
        watching = partial(
            watch,
            poll_s=settings.poll or POLL_S,
            follow=FOLLOW if settings.poll is None else None,
            observer=_Watching(health),
            stop=stop,
        )
        tasks.start_soon(watching, catalog.root, hints)
        yield
        tasks.cancel_scope.cancel()


class _Watching:
    """Tells operators and probes how the watching goes."""

    def __init__(self, health: Health) -> None:
        self._health = health

    def watching(self, mode: Mode) -> None:
        self._health.watch = mode

    def failed(self, error: Exception) -> None:
        _log.warning("watch.failed", error=str(error), kind=type(error).__name__)

    def skipped(self, path: str, error: OSError) -> None:
        _log.warning("watch.skipped", path=escape_path(path), error=error.strerror)
