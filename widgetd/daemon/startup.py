"""Start sooner: leave out what a start can do without.

Nearly all that is made while modules are imported stays, and so do widgets, so that
looking for garbage among them finds little.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from widgetd.mcp.deferred_models import build_on_demand

_SELDOM = 50_000
"""Objects between two looks for garbage; usually it is a few hundred."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Collect no garbage within the block, which imports; seldom after it, and none of that."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(_SELDOM)
        gc.enable()


@contextmanager
def hide_package(package: str) -> Iterator[None]:
    """Within the block, a library that looks whether `package` is there finds that it is not."""
    if package in sys.modules:
        yield
        return
    # As the import system says that there is none; mypy's stubs know modules only.
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]


def defer_model_builds() -> None:
    """Collect no garbage until `gc_tuned`, and build MCP's models at their first use.

    To be called before `mcp` and `fastmcp` are imported; what was imported before is as it is.
    """
    gc.disable()
    build_on_demand()


@contextmanager
def gc_tuned() -> Iterator[None]:
    """Collect garbage, but seldom until the block ends, and never in what is there when it does.

    Ten thousand widgets are millions of objects that stay; a collector that walks all of them
    stops the loop for half a second.
    """
    often = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(max(_SELDOM, often[0]), *often[1:])
    gc.enable()
    try:
        yield
    finally:
        gc.set_threshold(*often)
        gc.collect()  # for what is frozen with the rest is never found
        gc.freeze()
