"""A client of the module's `server`, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from mcp import Client

from widgetd.server.mcp import sdk
from widgetd.server.mcp.server import Server


@pytest.fixture(params=["legacy", "auto"])
async def client(server: Server, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """Connect a client of each era of the protocol."""
    async with Client(sdk.lowlevel_of(server.mcp), mode=request.param) as connected:
        yield connected
