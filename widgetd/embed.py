"""Widgets in someone else's FastMCP server: the same corridor, without the daemon."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from fastmcp import FastMCP

from widgetd.catalog.registry import Registry
from widgetd.config import Settings, folder_of
from widgetd.daemon import live
from widgetd.files.hints import Hints
from widgetd.pages.health import Vitals
from widgetd.store.opening import local_store
from widgetd.tools.result import Policy
from widgetd.tools.server import Server, attach


def register(
    server: FastMCP,
    folder: str | os.PathLike[str],
    *,
    policy: Policy | None = None,
) -> None:
    """Serve the widgets of `folder` from `server`, as long as it runs, and follow their files.

    Args:
        server: Your own server; what else it serves stays as it is.
        folder: The widgets folder; it is watched from when the server starts until it ends.
        policy: How results are shaped.

    Raises:
        ConfigError: There is no such folder, or the installed fastmcp is not one we know.
    """
    settings = Settings(dir=Path(folder))
    root = folder_of(settings)

    @asynccontextmanager
    async def lifespan(attached: Server) -> AsyncIterator[None]:
        hints, vitals, stop = Hints(), Vitals(), anyio.Event()
        async with live(attached, settings, root, hints=hints, vitals=vitals, stop=stop):
            yield

    attach(server, Registry(), local_store(), policy=policy or Policy(), lifespan=lifespan)
