"""Calls of a widget that fills itself, against the same widget called with its arguments.

Where nothing is kept, the upstream has to be asked: that is measured against the same question
of a bare FastMCP client, which has a child of its own, and a plain call after it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from anyio.from_thread import start_blocking_portal
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from benchmarks.children import sharing_a_processor, widgetd
from benchmarks.folders import flight_arguments, folder, real
from benchmarks.ratios import Timed, alternate
from benchmarks.table import Row, at_most, compare_arms
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
keep_s = {keep_s}
"""
PLAIN, FILLED, FRESH = "flight_tracker", "flight_filled", "flight_fresh"


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    pairs = min(most, 600)
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), 16, sidecars=True)
        document = json.loads((widgets / "Flight Tracker.widget").read_text(encoding="utf-8"))
        sidecar = (widgets / "Flight Tracker.widget.toml").read_text(encoding="utf-8")
        for name, keep_s in ((FILLED, 3600), (FRESH, 0)):
            file = widgets / f"{name}.widget"
            file.write_text(json.dumps({**document, "name": name}), encoding="utf-8")
            sidecar_text = sidecar + _FEED.format(keep_s=keep_s)
            file.with_suffix(".widget.toml").write_text(sidecar_text, encoding="utf-8")
        code = _UPSTREAM.format(answer=flight_arguments())
        declared = stack.enter_context(folder()) / "upstreams.toml"
        command, arguments = json.dumps(sys.executable), json.dumps(["-c", code])
        upstreams = f"[flights]\ncommand = {command}\nargs = {arguments}\ncall_s = 60.0\n"
        declared.write_text(upstreams, encoding="utf-8")
        filling = stack.enter_context(widgetd(widgets, "--upstreams", str(declared)))
        alone = stack.enter_context(widgetd(widgets))
        request = {"number": flight_arguments()["number"]}
        plain, filled, fresh = (
            caller(filling.url, tool, arguments)
            for tool, arguments in (
                (PLAIN, flight_arguments()),
                (FILLED, request),
                (FRESH, request),
            )
        )
        with sharing_a_processor(filling, alone):
            without = caller(alone.url, PLAIN, flight_arguments())
            timings = alternate(plain, without, pairs=pairs, warm_up=50, block=50)
            remark = "The widget has no feed: beside upstreams, against a daemon that has none."
            yield compare_arms(
                "call of a widget without a feed", at_most(1.02), timings, remark=remark
            )
            timings = alternate(filled, plain, pairs=pairs, warm_up=50, block=50)
            remark = "The answer is at hand: of the arguments, one is sent instead of all."
            yield compare_arms("call of a filled widget", at_most(1.15), timings, remark=remark)
        bare = stack.enter_context(_bare(code, request))
        timings = alternate(fresh, lambda: bare() + plain(), pairs=pairs, warm_up=50, block=10)
        remark = "Against a bare FastMCP client's call of the upstream's tool, and a plain call."
        yield compare_arms("call that asks its upstream", at_most(1.2), timings, remark=remark)


def caller(url: str, tool: str, arguments: Mapping[str, Any]) -> Timed:
    """Return a timer of one call of a tool."""
    wire, request = Wire(url), call(url, tool, arguments)
    answer = wire.ask(request)
    assert not answer.result.get("isError"), answer.result
    return partial(wire.timed, request)


@contextmanager
def _bare(code: str, request: Mapping[str, Any]) -> Iterator[Timed]:
    """Return a timer of one upstream call by FastMCP's client, inside its event loop."""
    client = Client(StdioTransport(sys.executable, ["-c", code]))

    async def timed() -> float:
        started_s = time.perf_counter()
        await client.call_tool_mcp("get_flight", dict(request))
        return time.perf_counter() - started_s

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield partial(portal.call, timed)
