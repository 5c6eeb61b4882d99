"""A server in memory of the widgets that `pytest.mark.serves` names, and its client."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from mcp import Client

from tests.support.widgets import snapshot_of
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import Store, local_store


@pytest.fixture
def serves(request: pytest.FixtureRequest) -> pytest.Mark:
    """Return the marker: widgets, and the `bounds` of the store and `options` of the server."""
    return request.node.get_closest_marker("serves") or pytest.mark.serves().mark


@pytest.fixture
def registry(serves: pytest.Mark) -> Registry:
    return Registry(snapshot_of(*serves.args))


@pytest.fixture
def store(serves: pytest.Mark) -> Store:
    return local_store(serves.kwargs.get("bounds", Bounds()))


@pytest.fixture
def server(serves: pytest.Mark, registry: Registry, store: Store) -> Server:
    return build(registry, store, serves.kwargs.get("options", ServerOptions()))


@pytest.fixture(params=["legacy", "auto"])
async def client(server: Server, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """Connect a client of each era of the protocol."""
    async with Client(sdk.lowlevel_of(server.mcp), mode=request.param) as connected:
        yield connected
