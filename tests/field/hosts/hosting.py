"""A stage in a known host, in front of a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from widgetd.author.browser.chromium import Chromium
from widgetd.author.browser.emulated_stage import EmulatedStage, HostProfile
from widgetd.author.testing.widgets import server_over
from widgetd.server.access.principal import Caller
from widgetd.server.mcp.host_client import connect_host
from widgetd.server.mcp.server import Server
from widgetd.settings import Settings

WIDGETS = Path(__file__).resolve().parents[3] / "widgets"


@asynccontextmanager
async def hosted(
    chromium: Chromium, host: HostProfile, server: Server | None = None, **settings: Any
) -> AsyncIterator[EmulatedStage]:
    """Yield an empty stage in `host`, by default over the bundled widgets."""
    server = server or server_over(WIDGETS, Settings(**{"app_tools": host.app_tools, **settings}))
    caller = Caller(snapshot=server.registry.current, registry=server.registry)
    connecting = connect_host(server, host.client, declares_apps=host.declares_apps)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(connecting)
        browser = await chromium.browser()
        stage = await EmulatedStage.open(browser, server, caller, profile=host, client=client)
        stack.push_async_callback(stage.close)
        yield stage
