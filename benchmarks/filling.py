"""A call of a widget that fills itself: against the same widget, called with its arguments."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

from benchmarks.children import sharing_a_processor, widgetd
from benchmarks.folders import flight_arguments, folder, real
from benchmarks.measuring import Timed, alternate
from benchmarks.table import Row, at_most, compared
from benchmarks.wire import Wire, call

_UPSTREAM = """
from fastmcp import FastMCP
mcp = FastMCP("flights")
@mcp.tool(annotations={{"readOnlyHint": True}})
def get_flight(number: str) -> dict:
    return {answer!r}
mcp.run(show_banner=False)
"""
_FEED = """
[feed]
upstream = "flights"
tool = "get_flight"
ask = ["number"]
keep_s = 3600
"""
PLAIN, FILLED = "flight_tracker", "flight_filled"


def rows(most: int) -> Iterator[Row]:
    """The rows of this family, from at most so many pairs each."""
    pairs = min(most, 600)
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), 16, sidecars=True)
        document = json.loads((widgets / "Flight Tracker.widget").read_text(encoding="utf-8"))
        document["name"] = FILLED
        sidecar = (widgets / "Flight Tracker.widget.toml").read_text(encoding="utf-8")
        (widgets / "Filled.widget").write_text(json.dumps(document), encoding="utf-8")
        (widgets / "Filled.widget.toml").write_text(sidecar + _FEED, encoding="utf-8")
        code = _UPSTREAM.format(answer=flight_arguments())
        declared = stack.enter_context(folder()) / "upstreams.toml"
        command, arguments = json.dumps(sys.executable), json.dumps(["-c", code])
        said = f"[flights]\ncommand = {command}\nargs = {arguments}\ncall_s = 60.0\n"
        declared.write_text(said, encoding="utf-8")
        filling = stack.enter_context(widgetd(widgets, "--upstreams", str(declared)))
        alone = stack.enter_context(widgetd(widgets))
        stack.enter_context(sharing_a_processor(filling, alone))
        url = filling.url
        asked = {"number": flight_arguments()["number"]}
        plain, filled = caller(url, PLAIN, flight_arguments()), caller(url, FILLED, asked)
        said = "The answer is at hand: of the arguments, one is sent instead of all."
        taken = alternate(filled, plain, pairs=pairs, warm_up=50, block=50)
        yield compared("call of a filled widget", at_most(1.15), taken, remark=said)
        without = caller(alone.url, PLAIN, flight_arguments())
        taken = alternate(plain, without, pairs=pairs, warm_up=50, block=50)
        said = "The widget has no feed: beside upstreams, against a daemon that has none."
        yield compared("call of a widget without a feed", at_most(1.02), taken, remark=said)


def caller(url: str, tool: str, arguments: Mapping[str, Any]) -> Timed:
    """One call of a tool, which answers with a widget."""
    wire, request = Wire(url), call(url, tool, arguments)
    answer = wire.ask(request)
    assert not answer.result.get("isError"), answer.result
    return partial(wire.timed, request)
