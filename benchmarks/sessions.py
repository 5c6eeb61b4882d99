"""Cost of sessions and tests in a browser, against bare Playwright."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from benchmarks.children import AS_INSTALLED, widgetd
from benchmarks.folders import BUNDLED, FLIGHT, folder, real
from benchmarks.ratios import alternate
from benchmarks.table import Row, at_most, compare_arms
from benchmarks.wire import Wire, call
from widgetd.author.browser.chromium import Chromium, find_chromium
from widgetd.author.browser.keywords import find_keyword
from widgetd.author.browser.stage import Stage
from widgetd.author.browser.steps import perform
from widgetd.author.testing.widgets import server_over
from widgetd.server.access.principal import Caller

STEPS = 30
_TARGET = "action=flight.track"
_LABEL = "Follow this flight"
_SUITE_TESTS = 2
_PATIENCE_S = 300
_READY_S = 1.5
"""In which the daemon makes a page for the next session; the other arm is not timed meanwhile."""


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    if find_chromium() is None:
        yield Row(
            what="a keyword over MCP, Playwright", bar=at_most(1.5), remark="no Chromium here"
        )
        return
    with ExitStack() as stack:
        widgets = real(stack.enter_context(folder()), 27, sidecars=True)
        flags = ("--toolset", "sessions", "--keyword-tools", "all")
        url = stack.enter_context(widgetd(widgets, *flags)).url
        bare = stack.enter_context(_bare(widgets))
        yield from _steps(url, bare, most)
    yield from _runs(most)


def _steps(url: str, bare: Bare, most: int) -> Iterator[Row]:
    wire = Wire(url)

    def asked(tool: str, **arguments: Any) -> dict[str, Any]:
        result = wire.ask(call(url, tool, arguments)).result
        assert not result.get("isError"), result
        return dict(result["structuredContent"])

    def of_start() -> float:
        started_s = time.perf_counter()
        session = asked("start_session", widget="flight_tracker", state="example-1")["sessionId"]
        took_s = time.perf_counter() - started_s
        asked("end_session", session_id=session)
        time.sleep(_READY_S)
        return took_s

    timings = alternate(of_start, bare.context, pairs=min(most, 30))
    yield compare_arms("a session, a context with a blank page", at_most(3), timings)
    session = asked("start_session", widget="flight_tracker", state="example-1")["sessionId"]
    for name, one in (("Hover", bare.hover), ("Read Text", bare.text)):
        tool = f"kw_{find_keyword(name).slug}"
        ours = call(url, tool, {"session_id": session, "target": _TARGET})
        timings = alternate(partial(wire.timed, ours), one, pairs=min(most, 200))
        yield compare_arms(f"{name} over MCP, in Playwright", at_most(1.5), timings)
    steps = [{"keyword": "Hover", "target": _TARGET}, {"keyword": "Read Text", "target": _TARGET}]
    many = call(url, "do_in_session", {"session_id": session, "steps": steps * (STEPS // 2)})

    def in_playwright() -> float:
        return sum(one() for _ in range(STEPS // 2) for one in (bare.hover, bare.text))

    timings = alternate(partial(wire.timed, many), in_playwright, pairs=min(most, 30))
    yield compare_arms(f"{STEPS} steps in one call, in Playwright", at_most(1.3), timings)


class Bare:
    """The same page as a session has, driven by Playwright alone."""

    def __init__(self, portal: BlockingPortal, stage: Stage) -> None:
        self._portal = portal
        self._stage = stage
        self._button = stage.frame.get_by_role("button", name=_LABEL, exact=True)

    def _timed(self, doing: Callable[[], Awaitable[Any]]) -> float:
        async def timed() -> float:
            started_s = time.perf_counter()
            await doing()
            return time.perf_counter() - started_s

        return self._portal.call(timed)

    def hover(self) -> float:
        """Hover over the button and return the duration."""
        return self._timed(self._button.hover)

    def text(self) -> float:
        """Read the button and return the duration."""
        return self._timed(self._button.inner_text)

    def context(self) -> float:
        """Open a new context with a blank page and return the duration."""
        browser = self._stage.context.browser
        assert browser is not None
        contexts: list[Any] = []

        async def make() -> None:
            contexts.append(await browser.new_context())
            await contexts[0].new_page()

        took_s = self._timed(make)
        self._portal.call(contexts[0].close)
        return took_s


@contextmanager
def _bare(widgets: Path) -> Iterator[Bare]:
    running = Chromium()
    server = server_over(widgets)
    caller = Caller(snapshot=server.registry.current, registry=server.registry)

    async def opened() -> Stage:
        stage = await Stage.open(await running.browser(), server, caller)
        show = find_keyword("Show Widget")
        arguments = show.parse({"widget": "flight_tracker", "state": "example-1"})
        await perform(stage, show, arguments, timeout_s=30)
        return stage

    with start_blocking_portal() as portal:
        try:
            yield Bare(portal, portal.call(opened))
        finally:
            portal.call(running.close)


def _runs(most: int) -> Iterator[Row]:
    pairs = min(most, 5)
    one, two = (partial(_tested, BUNDLED, "-n", number) for number in ("0", "2"))
    timings = alternate(two, one, pairs=pairs, warm_up=0)
    what = "27 widgets in both themes, -n 2, -n 0"
    yield compare_arms(what, at_most(0.7), timings, remark=f"{os.cpu_count()} processors")
    with folder() as into:
        widgets = real(into, 27)
        file = widgets / FLIGHT
        with _watching(widgets) as saved:
            timings = alternate(
                partial(saved, file), partial(_tested, file), pairs=pairs, warm_up=1
            )
    yield compare_arms("a save until its tests are done, a run of them", at_most(3), timings)


def _tested(what: Path, *flags: str) -> float:
    command = [sys.executable, "-m", "widgetd", "test", str(what), "--", *flags]
    started_s = time.perf_counter()
    subprocess.run(command, env=AS_INSTALLED, capture_output=True, check=True, timeout=_PATIENCE_S)
    return time.perf_counter() - started_s


@contextmanager
def _watching(widgets: Path) -> Iterator[Callable[[Path], float]]:
    """Yield a function that saves a file and times its tests; no others may run."""
    command = [sys.executable, "-u", "-m", "widgetd", "test", str(widgets), "--watch"]
    with subprocess.Popen(command, env=AS_INSTALLED, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None

        def passed() -> int:
            for line in process.stdout or ():
                if match := re.match(r"(\d+) passed", line):
                    return int(match[1])
            raise AssertionError("the watching ended")

        def saved(file: Path) -> float:
            started_s = time.perf_counter()
            file.write_bytes(file.read_bytes() + b"\n")
            assert passed() == _SUITE_TESTS
            return time.perf_counter() - started_s

        passed()
        try:
            yield saved
        finally:
            process.terminate()
