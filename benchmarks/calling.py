"""One call over raw modern HTTP, against a tool that has nothing to do, and among many others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

from benchmarks.children import Server, python, server, widgetd
from benchmarks.folders import flight_arguments, folder, real
from benchmarks.measuring import Timed, alternate
from benchmarks.table import Row, at_most, compared
from benchmarks.wire import Answer, Wire, call

TOOL = "flight_tracker"
_STAMP = "io.modelcontextprotocol/serverInfo"


def caller(url: str) -> Timed:
    """One call of Flight Tracker on a connection that stays open."""
    return partial(Wire(url).timed, call(url, TOOL, flight_arguments()))


def answered(url: str) -> Answer:
    """What a call of Flight Tracker answers, which must be a widget."""
    answer = Wire(url).ask(call(url, TOOL, flight_arguments()))
    assert not answer.result.get("isError"), answer.result
    return answer


def rows(most: int) -> Iterator[Row]:
    """The rows of this family, from at most so many pairs each."""
    yield _against_a_constant(min(most, 600))
    yield _among_many(min(most, 600))


def _against_a_constant(pairs: int) -> Row:
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), 16, sidecars=True)
        ours = stack.enter_context(widgetd(widgets)).url
        result = answered(ours).result
        result["_meta"].pop(_STAMP, None)  # every server adds its own
        kept = stack.enter_context(folder()) / "result.json"
        kept.write_text(json.dumps(result), encoding="utf-8")
        theirs = stack.enter_context(stock("constant", kept)).url
        remark = (
            f"Flight Tracker with its sidecar, {len(answered(ours).body):,} bytes; the constant "
            f"{len(answered(theirs).body):,}, its arguments validated by FastMCP, schema hook set."
        )
        taken = alternate(caller(ours), caller(theirs), pairs=pairs, warm_up=50)
    return compared("call, stock FastMCP constant", at_most(1.25), taken, remark=remark)


def _among_many(pairs: int) -> Row:
    with ExitStack() as stack:
        many, few = (
            caller(stack.enter_context(widgetd(real(stack.enter_context(folder()), size))).url)
            for size in (1000, 16)
        )
        taken = alternate(many, few, pairs=pairs, warm_up=50)
    return compared("call among 1,000 widgets, among 16", at_most(1.1), taken)


def stock(kind: str, place: Path) -> AbstractContextManager[Server]:
    """A stock FastMCP server of that kind."""
    return server(python("benchmarks.stock", kind, str(place)))
