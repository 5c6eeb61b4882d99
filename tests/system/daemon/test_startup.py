"""A start omits what it does not need yet, and nothing is missing later."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator

import pytest

from widgetd.daemon.startup import gc_tuned

_ON_DEMAND = """
from widgetd.daemon.startup import defer_model_builds
defer_model_builds()
import widgetd.daemon.serve
from mcp_types import _v2026_07_28 as version
assert not version.GetPromptResult.__pydantic_complete__
made = version.GetPromptResult.model_validate(
    {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}],
     "resultType": "complete"}
)
print(made.messages[0].content.text)
"""


def test_model_unused_at_a_start_is_built_on_use() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _ON_DEMAND], capture_output=True, text=True, check=False
    )

    assert (ran.stdout, ran.stderr) == ("hello\n", "")


_WITHOUT_RICH = """
from widgetd.daemon.startup import hide_package
with hide_package("rich"):
    import structlog.dev
import rich
with hide_package("rich"):
    import rich.console
print(structlog.dev.rich)
"""


def test_log_is_imported_without_unused_dependencies_which_others_can_import() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _WITHOUT_RICH], capture_output=True, text=True, check=False
    )

    assert (ran.stdout, ran.stderr) == ("None\n", "")


@pytest.fixture
def often() -> Iterator[tuple[int, int, int]]:
    """Set how often garbage is collected; other libraries of this process change it too."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*before)


def test_garbage_is_collected_seldom_within_the_block_and_as_ever_after_it(
    often: tuple[int, int, int],
) -> None:
    gc.disable()
    with gc_tuned():
        within = gc.isenabled(), gc.get_threshold()
    gc.unfreeze()

    assert within[0]
    assert within[1][0] > 10 * often[0]
    assert gc.isenabled()
    assert gc.get_threshold() == often


class Knot:
    """Refers to itself, so that only the collector finds it."""

    def __init__(self) -> None:
        self.itself = self


def test_garbage_of_the_block_is_collected_after_it() -> None:
    with gc_tuned():
        knot = weakref.ref(Knot())
    gc.unfreeze()

    assert knot() is None


def test_objects_of_the_block_are_frozen_after_it() -> None:
    with gc_tuned():
        objects: list[list[str]] = [[] for _ in range(1000)]
    try:
        assert gc.get_freeze_count() >= len(objects)
    finally:
        gc.unfreeze()
