"""The same files, served or rendered by mcp-chatkit-widget."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.calls import CONNECTIONS, batch, call_once, rate
from benchmarks.children import child, server, widgetd
from benchmarks.folders import BUNDLED, FLIGHT, flight_arguments, folder, real
from benchmarks.peer import Peer, peer
from benchmarks.ratios import Pairs, alternate
from benchmarks.table import Row, at_least, at_most, compare_arms
from widgetd import Widget, load_widget

_RENDERS = 20

# With this file in the folder it does not start: a property is named "from".
_NOT_THEIRS = ("Draft Email.widget",)


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    other = peer()
    if isinstance(other, str):
        yield Row(what="calls a second, mcp-chatkit-widget", bar=at_least(20), remark=other)
        yield Row(what="call in process, mcp-chatkit-widget", bar=at_most(1 / 3), remark=other)
    else:
        yield _against_served(other, min(most, 200))
        yield _in_process(other, min(most, 300))


def _against_served(other: Peer, pairs: int) -> Row:
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), 16, leave_out=_NOT_THEIRS)
        ours = stack.enter_context(widgetd(widgets)).url
        theirs = stack.enter_context(server(other.command("serve", str(widgets)))).url
        caption = (
            f"{CONNECTIONS} connections, each with a call under way all the time. widgetd "
            f"returned {_parts(ours)}; {other.versions} returned {_parts(theirs)}."
        )
        timings = alternate(batch(theirs), batch(ours), pairs=pairs)
    what = "calls a second at 16 widgets, mcp-chatkit-widget"
    row = compare_arms(what, at_least(20), timings, remark=caption)
    return replace(row, ours=rate(timings.theirs), theirs=rate(timings.ours))


def _parts(url: str) -> str:
    """Call once and describe the kinds and sizes of the answer's parts."""
    result = call_once(url).result
    text = sum(len(block.get("text", "")) for block in result["content"])
    tree = result.get("structuredContent")
    kind = f"a {tree['type']}" if tree and "type" in tree else "nothing"
    size = len(json.dumps(tree)) if tree else 0
    return f"{text:,} characters of text and {kind} of {size:,} bytes as structured content"


def _in_process(other: Peer, pairs: int) -> Row:
    widget = load_widget(BUNDLED / FLIGHT)
    arguments = flight_arguments()
    with child(other.command("render", str(BUNDLED / FLIGHT))) as process:
        theirs = json.loads(process.ask(json.dumps(arguments)))
        same = "the same tree" if theirs == widget.call(arguments).tree else "another tree"
        timings = alternate(
            partial(_calls, widget, arguments),
            lambda: float(process.ask(str(_RENDERS))),
            pairs=pairs,
        )
    timings = Pairs(
        ours=tuple(took / _RENDERS for took in timings.ours),
        theirs=tuple(took / _RENDERS for took in timings.theirs),
    )
    remark = f"Flight Tracker: validate, render, normalise. {other.versions} made {same}."
    return compare_arms(
        "call in process, mcp-chatkit-widget", at_most(1 / 3), timings, remark=remark
    )


def _calls(widget: Widget, arguments: dict[str, Any]) -> float:
    started_s = time.perf_counter()
    for _ in range(_RENDERS):
        widget.call(arguments)
    return time.perf_counter() - started_s
