"""A server of the widgets under test, with the daemon's loader and store and without a port."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from widgetd.base.system import SYSTEM
from widgetd.daemon.loading import build_catalog
from widgetd.daemon.wings import admit
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.resources import Resources
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.render.inline_images import InlineImages
from widgetd.server.render.result import Policy
from widgetd.server.render.view import view_html
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store
from widgetd.settings import Settings


def server_over(
    folder: Path, settings: Settings | None = None, *, images: InlineImages | None = None
) -> Server:
    """Build a server of the widgets of `folder` as they are now.

    Args:
        folder: The folder of widgets.
        settings: Decide the form of results.
        images: The images in results, or None.
    """
    settings = settings or Settings()
    listed = partial(admit, has_view=True, image_origins=settings.image_origin)
    load = Loader(listed, strict=settings.strict).load
    snapshot = build_catalog(settings, folder, load, quiet_ms=0).scan()
    options = ServerOptions(
        policy=Policy(
            text=settings.text,
            text_tokens=settings.text_tokens,
            inline_max_bytes=settings.inline_max_bytes,
        ),
        app_tools=settings.app_tools,
        images=images,
        resources=Resources(view_html(), settings.image_origin),
    )
    return build(Registry(snapshot), local_store(Bounds(), SYSTEM.clock.wall_s), options)
