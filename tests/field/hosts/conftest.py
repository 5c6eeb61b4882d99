"""One browser for all tests of this folder: starting one takes longer than most of them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from widgetd.author.browser.chromium import Chromium


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[Chromium]:
    """Yield a browser that runs as long as the module's tests."""
    running = Chromium()
    yield running
    await running.close()
