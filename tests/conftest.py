"""What every test of widgetd starts from."""

from __future__ import annotations

import pytest
from hypothesis import settings

# How long an example takes on a busy machine is no property of what it tries.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on the loop that the daemon runs on."""
    return "asyncio"
