"""Every promise of the store is tested in both backends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.system.store.server import Server, running_server


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Server]:
    """One server for all tests that leave it running; each has its own keys."""
    with running_server() as server:
        yield server


@pytest.fixture(params=["in-process", "on-a-server"])
def backend(request: pytest.FixtureRequest) -> Server | None:
    """Where the store is kept: None is in this process."""
    if request.param == "in-process":
        return None
    server: Server = request.getfixturevalue("shared_server")
    return server
