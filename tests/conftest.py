"""What every test of widgetd starts from."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on the loop that the daemon runs on."""
    return "asyncio"
