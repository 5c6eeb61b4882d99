"""Pictures in one warm Chromium, against a bare browser, and their effect on calls."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import cycle
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from benchmarks.children import widgetd
from benchmarks.folders import BUNDLED
from benchmarks.ratios import Pairs, Timed, alternate, at_percentile, ratio
from benchmarks.table import Row, at_most, compare_arms
from benchmarks.wire import Wire, call
from tests.field.author.browser.killing import descendants
from widgetd.author.browser.camera import Camera
from widgetd.author.browser.chromium import Chromium, find_chromium
from widgetd.author.browser.picture import Screenshot
from widgetd.core.widget.states import SAMPLE, show_state
from widgetd.server.catalog.catalog import discover_widgets
from widgetd.server.render.view import drawing

if TYPE_CHECKING:
    from playwright.async_api import Page

FEW_CORES = 4
GROWN = "browser's memory after 500 pictures, after 50"
WARM = 50
MANY = 500


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    if find_chromium() is None:
        yield Row(what="picture", bar=at_most(2), remark="There is no Chromium here.")
        return
    with start_blocking_portal() as portal, studio_in(portal) as studio:
        pairs = min(most, 60)
        timings = alternate(studio.picture, studio.bare, pairs=pairs)
        yield compare_arms("picture, bare screenshot of the same page", at_most(2), timings)
        timings = alternate(studio.picture, studio.blank, pairs=min(most, 30))
        yield compare_arms("picture, screenshot of a new blank page", at_most(2), timings)
        if most >= MANY:
            yield studio.grown()
    yield _calls(min(most, 400))


class Studio:
    """A camera that takes one sample after the other, and its baselines."""

    def __init__(self, portal: BlockingPortal, running: Chromium) -> None:
        widgets = discover_widgets(BUNDLED)
        shots = [
            Screenshot(tree=show_state(one, SAMPLE).tree(one), title=one.definition.title, scale=1)
            for one in widgets
        ]
        self._portal = portal
        self._chromium = running
        self._camera = Camera(running)
        self._shots: Iterator[Screenshot] = cycle(shots)
        self._number = 0
        self._bare: Page | None = None

    def picture(self) -> float:
        """Take a picture that is not in the cache and return its duration."""
        return self._took(self._take)

    def bare(self) -> float:
        """Take a screenshot of such a widget already drawn and return its duration."""
        return self._took(self._screenshot)

    def blank(self) -> float:
        """Take a screenshot of an empty page and return its duration."""

        async def take() -> None:
            page = await (await self._chromium.browser()).new_page()
            await page.screenshot()
            await page.context.close()

        return self._took(take)

    def grown(self) -> Row:
        """Measure the memory that many pictures leave in the browser."""
        for _ in range(WARM):
            self.picture()
        before = _held_bytes()
        for _ in range(MANY - WARM):
            self.picture()
        timings = Pairs(ours=(_held_bytes(),), theirs=(before,))
        self.close()
        contexts = len(self._portal.call(self._chromium.browser).contexts)
        remark = f"Contexts that are open at the end: {contexts}."
        return Row(what=GROWN, bar=at_most(1.1), ratio=ratio(timings), pairs=1, remark=remark)

    def close(self) -> None:
        """Close the pages."""
        if self._bare is not None:
            self._portal.call(self._bare.context.close)
            self._bare = None
        self._portal.call(self._camera.close)

    async def _take(self) -> None:
        # None is like one that was taken lately, of which the picture is kept.
        self._number += 1
        await self._camera.take(
            replace(next(self._shots), title=f"Number {self._number}"), owner=""
        )

    async def _screenshot(self) -> None:
        if self._bare is None:
            shot = next(self._shots)
            browser = await self._chromium.browser()
            self._bare = await browser.new_page(viewport={"width": 400, "height": 800})
            html = drawing(shot.tree, theme=shot.theme, locale="en", title=shot.title)
            await self._bare.set_content(html)
        await self._bare.screenshot()

    def _took(self, work: Callable[[], Awaitable[Any]]) -> float:
        took: float = self._portal.call(self._timed, work)
        return took

    @staticmethod
    async def _timed(work: Callable[[], Awaitable[Any]]) -> float:
        started_s = time.perf_counter()
        await work()
        return time.perf_counter() - started_s


@contextmanager
def studio_in(portal: BlockingPortal) -> Iterator[Studio]:
    """Start a studio with its own browser."""
    running = Chromium()
    studio = Studio(portal, running)
    try:
        yield studio
    finally:
        studio.close()
        portal.call(running.close)


def _held_bytes() -> float:
    """Sum the memory of this process's browsers, counting shared pages once."""
    pids = descendants(
        [
            pid
            for one in Path("/proc/self/task").glob("*/children")
            for pid in one.read_text(encoding="ascii").split()
        ]
    )
    memory_bytes = 0
    for pid in pids:
        rolled = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        memory_bytes += sum(
            int(line.split()[1]) for line in rolled.splitlines() if line.startswith("Pss:")
        )
    return memory_bytes * 1024.0


def _calls(pairs: int) -> Row:
    """Measure calls of a widget during four concurrent pictures, and without them."""
    what = "p99 of a call beside 4 pictures, without them"
    with ExitStack() as stack:
        url = stack.enter_context(widgetd(BUNDLED, "--toolset", "pictures")).url
        busy = stack.enter_context(_asking(url))
        timed = partial(Wire(url).timed, call(url, "flight_tracker", {}))

        def beside() -> float:
            busy.set()
            return timed()

        def alone() -> float:
            busy.clear()
            return timed()

        timings = alternate(beside, _settled(alone, busy), pairs=pairs, block=40)
    few = (cpu_count() or 1) < FEW_CORES
    row = compare_arms(what, at_most(1.5), timings, statistic=at_percentile(99))
    return replace(row, bar=None, remark="Told only: there are few cores here.") if few else row


def _settled(timed: Timed, busy: threading.Event) -> Timed:
    """Return `timed` with a wait for the pictures that are still in progress."""

    def settled() -> float:
        if busy.is_set():
            busy.clear()
            time.sleep(1)
        return timed()

    return settled


@contextmanager
def _asking(url: str) -> Iterator[threading.Event]:
    """Request pictures on four connections while the event is set."""
    busy, over = threading.Event(), threading.Event()

    def ask(number: int) -> None:
        wire = Wire(url)
        for width in cycle(range(300 + number, 800, 4)):
            while not busy.wait(0.05):
                if over.is_set():
                    return
            if over.is_set():
                return
            arguments: Mapping[str, Any] = {"names": ["flight_tracker"], "width": width}
            wire.ask(call(url, "take_picture", arguments))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield busy
    finally:
        over.set()
        busy.set()
        for thread in threads:
            thread.join()
