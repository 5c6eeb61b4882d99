"""Measures that shorten the start.

Nearly every object that imports and widgets create stays alive, so collecting garbage
among them costs time and frees next to nothing.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from widgetd.daemon.limits import LIMITS
from widgetd.server.mcp.deferred_models import build_on_demand


@contextmanager
def gc_paused() -> Iterator[None]:
    """Collect no garbage while the block imports, and afterwards none of what it created."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(LIMITS.gc_objects)
        gc.enable()


@contextmanager
def hide_package(package: str) -> Iterator[None]:
    """Hide an installed `package` from libraries that would import it."""
    if package in sys.modules:
        yield
        return
    # The import system's own mark of an absent module, unknown to mypy's stubs.
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]


def defer_model_builds() -> None:
    """Build MCP's models at their first use, and collect no garbage until `gc_tuned`.

    Call this before `mcp` and `fastmcp` are imported: it does not change imported modules.
    """
    gc.disable()
    build_on_demand()


@contextmanager
def gc_tuned() -> Iterator[None]:
    """Collect garbage rarely while the block runs, and exempt the remaining objects.

    Ten thousand widgets are millions of objects that stay alive. A collector that visits all of
    them stops the loop for half a second.
    """
    threshold = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(max(LIMITS.gc_objects, threshold[0]), *threshold[1:])
    gc.enable()
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
        gc.collect()  # garbage frozen with the rest would never be freed
        gc.freeze()
