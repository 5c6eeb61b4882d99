"""Widgets in the FastMCP server of another program, without the daemon."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
from fastmcp import FastMCP

from widgetd.base.files.hints import Hints
from widgetd.base.tasks import while_running
from widgetd.daemon.loading import build_catalog
from widgetd.daemon.reloading import reloading
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import attach
from widgetd.server.mcp.resources import Resources
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.observe.status import Health
from widgetd.server.render.result import Policy
from widgetd.server.render.view import view_html
from widgetd.server.store.factory import local_store
from widgetd.settings import Settings, folder_of


def register(
    server: FastMCP,
    folder: str | os.PathLike[str],
    *,
    policy: Policy | None = None,
    upstreams: str | os.PathLike[str] | None = None,
) -> None:
    """Serve the widgets of `folder` from `server` while it runs, and reload them as files change.

    Args:
        server: Your own server; its other tools stay as they are.
        folder: The widgets folder, watched from the server's start to its end.
        policy: The shape of results.
        upstreams: The upstreams file: other servers, which fill widgets.

    Raises:
        ConfigError: There is no such folder, the file of upstreams cannot be used, the server has
            widgets already, or the installed fastmcp is not one we know.
    """
    declared = None if upstreams is None else Path(upstreams)
    settings = Settings(dir=Path(folder), upstreams=declared)
    if declared is not None:
        # Imported late: most programs need no wing.
        from widgetd.daemon.wings import read_upstreams  # noqa: PLC0415

        # Now, so that this call raises the faults of the file.
        read_upstreams(declared, local_store().answers)
    root = folder_of(settings)

    @asynccontextmanager
    async def lifespan(attached: Server) -> AsyncIterator[None]:
        stop = anyio.Event()
        # FastMCP may leave a lifespan in another task than it entered it in. A task group must
        # not, so the loops run in a task of their own.
        scanned = asyncio.Event()
        running = asyncio.create_task(_follow(attached, settings, root, scanned, stop))
        try:
            waiting = asyncio.create_task(scanned.wait())
            await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if running.done():
                running.result()  # raises what ended it before the first scan
            yield
        finally:
            stop.set()
            await running

    options = ServerOptions(policy=policy or Policy(), resources=Resources(view_html()))
    attach(server, Registry(), local_store(), options, lifespan=lifespan)


async def _follow(
    server: Server, settings: Settings, root: Path, scanned: asyncio.Event, stop: anyio.Event
) -> None:
    load = Loader(server.admit, strict=settings.strict).load
    catalog = build_catalog(settings, root, load)
    upstreams = None
    if settings.upstreams is not None:
        from widgetd.daemon.wings import read_upstreams  # noqa: PLC0415 - as above

        upstreams = read_upstreams(settings.upstreams, server.store.answers)
        server.rendering.feeds = upstreams.feeds
    async with AsyncExitStack() as running:
        reloads = reloading(server, settings, catalog, hints=Hints(), health=Health(), stop=stop)
        await running.enter_async_context(reloads)
        if upstreams is not None:
            await running.enter_async_context(while_running(upstreams.run))
        scanned.set()
        await stop.wait()
