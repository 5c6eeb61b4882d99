"""The order in which files of tests start, and one browser for those of a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from widgetd.author.browser.chromium import Chromium


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort files by the longest timeout of their tests.

    A worker takes a whole file. The plugin's own order, by the number of tests, starts a single
    long test last, where the other workers can only wait for it.
    """
    longest: dict[Path, float] = defaultdict(float)
    for item in items:
        marker = item.get_closest_marker("timeout")
        if marker is not None:
            longest[item.path] = max(longest[item.path], marker.args[0])
    items.sort(key=lambda item: -longest[item.path])


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[Chromium]:
    """Yield a browser for all tests of a module: a start takes longer than most of them."""
    running = Chromium()
    yield running
    await running.close()
