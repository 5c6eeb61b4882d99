"""A widget in the browser, at an address as for clients without pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from widgetd.core.widget.widget import Widget
from widgetd.server.access.links import Links
from widgetd.server.access.principal import LOCAL
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.mcp.assembly import build
from widgetd.server.store.factory import local_store
from widgetd.server.web.link_listener import LinkListener
from widgetd.server.web.see import See, see_app


async def show_widget(
    snapshot: Snapshot,
    widget: Widget,
    arguments: Mapping[str, Any],
    announce: Callable[[str], None],
) -> None:
    """Serve the page of a new render until cancelled, and announce its address.

    Raises:
        CallError: The arguments do not fit, or the template fails on them.
    """
    server = build(Registry(snapshot), local_store())
    compute = partial(server.rendering.compute, owner=LOCAL.name)
    render = await compute(widget, arguments, snapshot.generation)
    listener = LinkListener()
    links = Links(origin=listener.origin, anonymous=LOCAL)
    announce(links.address(await server.rendering.store(render), LOCAL))
    await listener.serve(see_app(See(server=server, links=links)))
