"""One call over raw HTTP: against a tool that has nothing to do, among others, beside others."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.children import Server, child, python, server, sharing_a_processor, widgetd
from benchmarks.folders import flight_arguments, folder, real, schema_of, small
from benchmarks.ratios import Pairs, Ratio, Timed, alternate, at_percentile, percentile
from benchmarks.table import Row, at_least, at_most, compare_arms, spread
from benchmarks.wire import Answer, Era, Session, Wire, call

TOOL = "flight_tracker"
CONNECTIONS = 4
_STAMP = "io.modelcontextprotocol/serverInfo"
_CALLS = 4
_ERAS: tuple[Era, ...] = ("modern", "legacy")
_RENDERS = 10_000
"""As many as the store keeps."""

_TURN = 50
_BESIDE = 200


def caller(url: str, era: Era = "modern") -> Timed:
    """Return a timer of one call of Flight Tracker on a connection that stays open."""
    wire, request = calling(url, era)
    return partial(wire.timed, request)


def calling(url: str, era: Era = "modern") -> tuple[Wire, bytes]:
    """Open a connection and build a call of Flight Tracker to send on it."""
    if era == "modern":
        return Wire(url), call(url, TOOL, flight_arguments())
    session = Session(url)
    params = {"name": TOOL, "arguments": flight_arguments()}
    return session.wire, session.request("tools/call", params)


def call_once(url: str) -> Answer:
    """Call Flight Tracker once and return the answer, which must not be an error."""
    answer = Wire(url).ask(call(url, TOOL, flight_arguments()))
    assert not answer.result.get("isError"), answer.result
    return answer


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    yield from _against_a_constant(min(most, 600))
    yield _with_an_address(min(most, 1_500))
    yield _among_many(min(most, 600))
    yield _beside_a_lister(min(most, 600))
    yield _longest(min(most, _RENDERS))


def _against_a_constant(pairs: int) -> Iterator[Row]:
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), 16, sidecars=True)
        served = stack.enter_context(widgetd(widgets))
        ours = served.url
        result = call_once(ours).result
        result["_meta"].pop(_STAMP, None)  # every server adds its own
        file = stack.enter_context(folder()) / "result.json"
        file.write_text(json.dumps(result), encoding="utf-8")
        constant = stack.enter_context(stock("constant", file))
        theirs = constant.url
        remark = (
            f"Flight Tracker with its sidecar, {len(call_once(ours).body):,} bytes; the constant "
            f"{len(call_once(theirs).body):,}, its arguments validated by FastMCP, as it comes."
        )
        for era, limit in zip(_ERAS, (0.45, 0.5), strict=True):
            with sharing_a_processor(served, constant, with_caller=True):
                timings = alternate(
                    caller(ours, era), caller(theirs, era), pairs=pairs, warm_up=_TURN, block=_TURN
                )
            what = f"call, {era} era, stock FastMCP constant"
            yield compare_arms(what, at_most(limit), timings, remark=remark)
            remark = ""
        timings = alternate(batch(theirs), batch(ours), pairs=min(pairs, 200), warm_up=10)
        row = compare_arms("calls a second, stock FastMCP constant", at_least(2.5), timings)
    caption = f"{CONNECTIONS} connections, each with a call under way all the time."
    yield replace(row, ours=rate(timings.theirs), theirs=rate(timings.ours), remark=caption)


def batch(url: str) -> Timed:
    """Return a timer of many calls of Flight Tracker, one at a time on each connection."""
    wires = [Wire(url) for _ in range(CONNECTIONS)]
    request = call(url, TOOL, flight_arguments())

    def timed() -> float:
        for wire in wires:
            wire.reopen()
        started_s = time.perf_counter()
        for wire in wires:
            wire.send(request)
        for number in range(_CALLS):
            for wire in wires:
                assert wire.take().status == 200
                if number + 1 < _CALLS:
                    wire.send(request)
        return time.perf_counter() - started_s

    return timed


def rate(times_s: tuple[float, ...]) -> str:
    """Convert durations of batches to calls a second."""
    calls = CONNECTIONS * _CALLS
    low, middle, high = (calls / percentile(times_s, rank) for rank in (90, 50, 10))
    return f"{middle:.0f}/s ({low:.0f}-{high:.0f})"


def _with_an_address(pairs: int) -> Row:
    """Compare calls of a client that draws nothing."""
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), 16, sidecars=True)
        arms = [stack.enter_context(widgetd(widgets, "--links", on)) for on in ("auto", "never")]
        return _compare("call with an address in its answer, without", arms, pairs)


def _among_many(pairs: int) -> Row:
    with ExitStack() as stack:
        folders = [real(stack.enter_context(folder()), size) for size in (10_000, 16)]
        arms = [stack.enter_context(widgetd(widgets)) for widgets in folders]
        return _compare("call among 10,000 widgets, among 16", arms, pairs)


def _compare(what: str, arms: Sequence[Server], pairs: int) -> Row:
    with sharing_a_processor(*arms):
        timers = [caller(arm.url) for arm in arms]
        timings = alternate(*timers, pairs=pairs, warm_up=_TURN, block=_TURN)
    return compare_arms(what, at_most(1.05), timings)


def _beside_a_lister(pairs: int) -> Row:
    with ExitStack() as stack:
        widgets = small(stack.enter_context(folder()), 1000, schema=schema_of(2048))
        real(widgets, 1)
        url = stack.enter_context(widgetd(widgets, "--expose", "tools")).url
        lister = stack.enter_context(child(python("benchmarks.lister", url)))
        lister.line()
        one = caller(url)
        _block(one)
        beside: list[float] = []
        alone: list[float] = []
        while len(alone) < pairs:
            lister.ask("go")
            beside += _block(one)
            lister.ask("stop")
            alone += _block(one)
        listed = int(lister.ask("count"))
    timings = Pairs(ours=tuple(beside), theirs=tuple(alone))
    what = "p99 of a call, one client listing 1,000; alone"
    return compare_arms(
        what,
        at_most(2),
        timings,
        statistic=at_percentile(99),
        remark=f"The whole list was sent {listed:,} times meanwhile.",
    )


def _block(one: Timed) -> list[float]:
    return [one() for _ in range(_BESIDE)]


def _longest(calls: int) -> Row:
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), 16, sidecars=True)
        running = stack.enter_context(widgetd(widgets))
        one, probe = (
            partial(_spent_s, running.child.process.pid, timed)
            for timed in (caller(running.url), probing(running.url))
        )
        for _ in range(_RENDERS):
            one()
        rounds = [alternate(one, probe, pairs=calls, warm_up=0) for _ in range(3)]
    low, longest, high = sorted(max(timing.ours) * 1000 for timing in rounds)
    return Row(
        what=f"longest of {calls:,} calls, a full cache of renders, ms",
        bar=at_most(15),
        ratio=Ratio(value=longest, low=low, high=high),
        ours=spread(took for timing in rounds for took in timing.ours),
        theirs=spread(took for timing in rounds for took in timing.theirs),
        pairs=calls,
        remark="The processor time that the event loop takes for a call, against `GET /livez`; the "
        "clock on the wall would tell of whoever else is at work. Three rounds.",
    )


def _spent_s(process: int, timed: Timed) -> float:
    """Return the processor seconds that the first thread of a process spends meanwhile."""
    statistics = Path(f"/proc/{process}/schedstat")
    before = statistics.read_text(encoding="ascii")
    timed()
    after = statistics.read_text(encoding="ascii")
    return (int(after.split()[0]) - int(before.split()[0])) / 1e9


def probing(url: str) -> Timed:
    """Return a timer of one `GET /livez` on a connection that stays open."""
    host = url.removeprefix("http://").partition("/")[0]
    request = f"GET /livez HTTP/1.1\r\nhost: {host}\r\n\r\n".encode()
    return partial(Wire(url).timed, request)


def stock(kind: str, place: Path) -> AbstractContextManager[Server]:
    """Start a stock FastMCP server: `constant` or `listed`."""
    return server(python("benchmarks.stock", kind, str(place)))
