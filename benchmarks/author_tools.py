"""Authoring tools over raw HTTP: the reference against the search of widgets, and batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from benchmarks.children import widgetd
from benchmarks.feeds import caller
from benchmarks.folders import folder, real
from benchmarks.ratios import alternate
from benchmarks.table import Row, at_most, compare_arms

WIDGETS = 1000
SIZES = (10_000, 16)
QUESTION = "the status of a flight"
NAMES = ("Button", "Text", "Chart", "Row", "Col", "Card", "Image", "Select", "Input", "Badge")


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), WIDGETS, sidecars=True)
        url = stack.enter_context(widgetd(widgets, "--toolset", "author")).url
        pairs = min(most, 150)
        reference = caller(url, "search_reference", {"query": QUESTION})
        search = caller(url, "search_widgets", {"query": QUESTION})
        timings = alternate(reference, search, pairs=pairs)
        what = f"reference over {WIDGETS:,} widgets, search_widgets"
        yield compare_arms(what, at_most(1.5), timings)
        at_once = caller(url, "get_component_details", {"names": NAMES})
        each = [caller(url, "get_component_details", {"names": [name]}) for name in NAMES]
        timings = alternate(at_once, lambda: sum(one() for one in each), pairs=pairs)
        yield compare_arms(
            f"{len(NAMES)} components in one call, in a call each", at_most(0.3), timings
        )
    with ExitStack() as stack:
        many, few = (
            stack.enter_context(widgetd(real(into, size, sidecars=True), "--toolset", "author")).url
            for size in SIZES
            for into in [stack.enter_context(folder())]
        )
        arms = [caller(url, "search_reference", {"query": QUESTION}) for url in (many, few)]
        timings = alternate(*arms, pairs=min(most, 60))
        yield compare_arms("reference over {:,} widgets, {}".format(*SIZES), at_most(5), timings)
