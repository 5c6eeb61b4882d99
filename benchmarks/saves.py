"""Time from a save to the clients' notification, against a bare watcher.

Eight clients listen, four of each era; a save counts until the last of them is
notified. Saves are made in place and by rename in turns, each changes what the list
says, and they come far enough apart that announcements are never held back.
"""

from __future__ import annotations

import json
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from random import Random

from benchmarks.children import Child, child, python, widgetd
from benchmarks.folders import FLIGHT, folder, real, small
from benchmarks.ratios import Pairs, Timed, alternate, at_percentile
from benchmarks.table import Row, at_most, compare_arms
from benchmarks.wire import Era, Wire, listen, wait_for_all

_ERAS: tuple[Era, ...] = ("legacy", "modern")
_EACH = 4

# Announcements come at most every 100 ms; the rest keeps step with no timer's beat.
_PACE_S = (0.15, 0.19)


class Saver:
    """A writer that saves one file repeatedly, each time with another description."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._document = json.loads(path.read_text(encoding="utf-8"))
        self._revisions = count(1)
        self._random = Random(0)

    def save(self) -> float:
        """Save the next revision after a pause and return the start time."""
        revision = next(self._revisions)
        document = {**self._document, "description": f"Revision {revision} of this widget."}
        text = json.dumps(document)
        aside = self._path.with_suffix(".tmp")
        time.sleep(self._random.uniform(*_PACE_S))
        if revision % 4 < 2:
            started_s = time.monotonic()
            self._path.write_text(text, encoding="utf-8")
        else:
            aside.write_text(text, encoding="utf-8")
            started_s = time.monotonic()
            aside.replace(self._path)
        return started_s


def time_to_notification(saver: Saver, wires: Sequence[Wire]) -> Timed:
    """Return a timer from a save to the last notification on `wires`."""

    def timed() -> float:
        while ready := select.select([wire.socket for wire in wires], [], [], 0)[0]:
            for wire in wires:
                if wire.socket in ready:
                    wire.read_change()
        started_s = saver.save()
        return wait_for_all(wires) - started_s

    return timed


def time_to_event(saver: Saver, watcher: Child) -> Timed:
    """Return a timer from a save to the watcher's event."""

    def timed() -> float:
        started_s = saver.save()
        while (heard_s := float(watcher.line())) < started_s:
            pass  # the second event of an earlier save
        return heard_s - started_s

    return timed


@contextmanager
def serve_and_time(into: Path, file: str, *flags: str) -> Iterator[Timed]:
    """Start a daemon and its clients; yield a timer of saves of `file`."""
    with widgetd(into, "--expose", "tools", *flags) as server:
        wires = [listen(server.url, era) for era in _ERAS for _ in range(_EACH)]
        yield time_to_notification(Saver(into / file), wires)


def measure_rows(most: int) -> Iterator[Row]:
    """Measure the rows of this family."""
    yield from _against_a_bare_watcher(min(most, 400))
    yield from _among_many(min(most, 200))


def _against_a_bare_watcher(pairs: int) -> Iterator[Row]:
    with ExitStack() as stack:
        ours = stack.enter_context(serve_and_time(real(stack.enter_context(folder()), 16), FLIGHT))
        watched = real(stack.enter_context(folder()), 16)
        watcher = stack.enter_context(child(python("benchmarks.bare", str(watched))))
        watcher.line()
        theirs = time_to_event(Saver(watched / FLIGHT), watcher)
        timings = alternate(ours, theirs, pairs=pairs)
    yield from compare_saves("save to notified, 16 widgets, bare awatch", timings)


def compare_saves(what: str, timings: Pairs) -> Iterator[Row]:
    """Yield the rows of saves against events at the median and at the 99th percentile."""
    yield compare_arms(f"{what}, p50", at_most(0.45), timings, remark=_REMARK)
    yield compare_arms(f"{what}, p99", at_most(5), timings, statistic=at_percentile(99))


_REMARK = (
    "Flight Tracker, saved in place and by rename; the last of 4 legacy and 4 modern clients, "
    "on raw sockets, against awatch(step=10, debounce=50) in a process of its own. "
    "Each save changes the description alone; a changed template has to be proven too. "
    "The bar is for Linux; elsewhere a file must be quiet before it is read."
)


def _among_many(pairs: int) -> Iterator[Row]:
    with ExitStack() as stack:
        many, few = (
            stack.enter_context(
                serve_and_time(
                    small(stack.enter_context(folder()), size), _SMALL, "--toolset", "author"
                )
            )
            for size in (10_000, 16)
        )
        timings = alternate(many, few, pairs=pairs)
    remark = "Widgets of one text with --expose tools: every save changes the whole list."
    yield compare_arms(
        "save to notified, 10,000 widgets, 16, p50", at_most(1.2), timings, remark=remark
    )


_SMALL = "Small 7.widget"
