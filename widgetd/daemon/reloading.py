"""The three loops that keep a server's widgets equal to a folder.

    watch -> hints -> reload -> registry -> notify

They use neither ports nor signals, so they run in the server of another program too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import anyio

from widgetd.base.files.hints import Hints
from widgetd.base.files.limits import LIMITS as FILE_LIMITS
from widgetd.base.files.source import escape_path
from widgetd.base.files.watch import FOLLOW, Follow, Mode, WatchObserver, watch
from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM, System
from widgetd.daemon.limits import LIMITS
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.reload import ReloadObserver, reload
from widgetd.server.catalog.rollback import Rollback
from widgetd.server.mcp.notifications import notify, notify_of_renders
from widgetd.server.mcp.server import Server
from widgetd.server.observe.status import Health
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
    observer: ReloadObserver | None = None,
    rollback: Rollback | None = None,
    follow: Follow | None = FOLLOW,
    system: System = SYSTEM,
) -> AsyncIterator[None]:
    """Serve the widgets of a folder while the block runs; it is entered after the first scan.

    Args:
        server: Serves the widgets.
        settings: The operator's.
        catalog: Loads them.
        hints: Places to scan next, from any source.
        health: Gets the time of each scan and the kind of watching.
        stop: Ends the watching.
        observer: Gets each scan and each swap.
        rollback: Requests of the operator, which begin a scan; None without a state folder.
        follow: Source of the system's file events; None to do without.
        system: Times and runs the scans.
    """
    registry, scanned = server.registry, anyio.Event()
    health.strays = lambda: catalog.stray_sidecars
    health.listing = lambda: server.listings.describe(registry.current)

    def record_scan() -> None:
        health.record_scan()
        scanned.set()

    async with anyio.create_task_group() as tasks:
        reloads = partial(
            reload,
            catalog,
            hints,
            registry,
            on_scan=record_scan,
            observer=observer,
            system=system,
        )
        tasks.start_soon(reloads)
        await scanned.wait()
        tasks.start_soon(notify, server)
        tasks.start_soon(notify_of_renders, server)
        watches = partial(
            watch,
            poll_s=settings.poll or FILE_LIMITS.poll_s,
            follow=follow if settings.poll is None else None,
            observer=_WatchObserver(health),
            stop=stop,
        )
        tasks.start_soon(watches, catalog.root, hints)
        if rollback is not None:
            tasks.start_soon(_hint_at_requests, rollback, hints, system)
        yield
        tasks.cancel_scope.cancel()


async def _hint_at_requests(rollback: Rollback, hints: Hints, system: System) -> None:
    """Begin a scan for each request; in a large folder the timer's next is too far away."""
    while True:
        await anyio.sleep(LIMITS.rollback_poll_s)
        # A slow disk must not keep the event loop from answering.
        if await system.threads.run_blocking(rollback.is_requested):
            hints.add(routine=True)


class _WatchObserver(WatchObserver):
    """Reports the state of the watching to probes and to the log."""

    def __init__(self, health: Health) -> None:
        self._health = health

    def on_mode(self, mode: Mode) -> None:
        self._health.watch = mode

    def on_failure(self, error: Exception) -> None:
        _log.warning("watch.failed", error=str(error), kind=type(error).__name__)

    def on_skipped_folder(self, path: str, error: OSError) -> None:
        _log.warning("watch.skipped", path=escape_path(path), error=error.strerror)
