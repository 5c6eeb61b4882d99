"""The whole list of tools, with schemas as large as real ones, against stock FastMCP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from benchmarks.calls import probing, stock
from benchmarks.children import widgetd
from benchmarks.folders import bundled, folder, real, schema_of, small
from benchmarks.ratios import Timed, alternate
from benchmarks.table import Row, at_most, compare_arms
from benchmarks.wire import Era, Session, Wire, modern

WIDGETS = 1000
SCHEMA_BYTES = 2048

_ERAS: tuple[Era, ...] = ("legacy", "modern")


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    yield _against_a_probe(min(most, 600))
    with ExitStack() as stack:
        widgets = small(stack.enter_context(folder()), WIDGETS, schema=schema_of(SCHEMA_BYTES))
        ours = stack.enter_context(widgetd(widgets, "--expose", "tools")).url
        theirs = stack.enter_context(stock("listed", widgets)).url
        for era in _ERAS:
            timings = alternate(lister(ours, era), lister(theirs, era), pairs=min(most, 150))
            remark = f"{_measure_lists(ours, era)}; stock {_measure_lists(theirs, era)}"
            yield compare_arms(
                f"whole list, {era} era, stock FastMCP", at_most(1 / 8), timings, remark=remark
            )


def _against_a_probe(pairs: int) -> Row:
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), len(bundled()), sidecars=True)
        url = stack.enter_context(widgetd(widgets)).url
        timings = alternate(lister(url, "modern"), probing(url), pairs=pairs, warm_up=50, block=50)
        remark = _measure_lists(url, "modern")
    return compare_arms("whole list of 27, GET /livez", at_most(1.3), timings, remark=remark)


def lister(url: str, era: Era) -> Timed:
    """Return a timer of one whole list on a connection that stays open."""
    wire, request = _asking(url, era)
    return partial(wire.timed, request)


def _asking(url: str, era: Era) -> tuple[Wire, bytes]:
    if era == "modern":
        return Wire(url), modern(url, "tools/list")
    session = Session(url)
    return session.wire, session.request("tools/list")


def _measure_lists(url: str, era: Era) -> str:
    wire, request = _asking(url, era)
    answer = wire.ask(request)
    tools = answer.result["tools"]
    largest = max(len(json.dumps(tool["inputSchema"])) for tool in tools)
    return f"{len(tools):,} tools of up to {largest:,} bytes of schema in {len(answer.body):,}"
