"""Fixtures that test every promise of the store in both backends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.system.server.store.server import Server, running_server
from widgetd.server.store.limits import StoreLimits
from widgetd.server.store.shared import connection


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Server]:
    """One server for all tests that leave it running; each has its own keys."""
    with running_server() as server:
        yield server


@pytest.fixture(params=["in-process", "on-a-server"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Server | None:
    """Return the server of the store; None for one in this process."""
    if request.param == "in-process":
        return None
    # A machine that stalls for a moment has not lost its server.
    monkeypatch.setattr(connection, "LIMITS", StoreLimits(command_s=10.0))
    server: Server = request.getfixturevalue("shared_server")
    return server
