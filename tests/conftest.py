"""What every test of widgetd starts from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Every HTTP client that is made reads all authorities that this machine trusts, which takes longer
# than most requests here. No test has one by HTTPS, so they are given a folder without any;
# whoever installs packages still needs them.
os.environ.setdefault("INSTALLER_CERT_FILE", os.environ.pop("SSL_CERT_FILE", ""))
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)

# How long an example takes on a busy machine is no property of what it tries.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on the loop that the daemon runs on."""
    return "asyncio"
