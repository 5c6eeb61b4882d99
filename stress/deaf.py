"""Serve clients that never read, and measure the calls of other clients meanwhile.

Two daemons serve equal folders, in which a file is saved at the same pace; only one of
them has deaf clients. Calls to the two alternate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from benchmarks.calls import caller
from benchmarks.children import widgetd
from benchmarks.folders import folder, real, small_widget, write
from benchmarks.ratios import Pairs, Timed, alternate, at_percentile
from benchmarks.table import at_most, compare_arms
from benchmarks.wire import Wire, listen, modern
from stress.table import Row, ratio_row

WIDGETS = 16
_SAVE_EVERY = 25
_LIMIT = 1.1

Act = Callable[[], None]


@contextmanager
def deaf_clients(url: str) -> Iterator[Act]:
    """Connect clients that never read: two that listen, and one that requests lists.

    Args:
        url: Address of MCP.

    Yields:
        A function that sends as many more requests as the daemon accepts.
    """
    wires = [listen(url, "legacy"), listen(url, "modern"), Wire(url)]
    asking, request = wires[-1].socket, modern(url, "tools/list")
    rest = request
    asking.setblocking(False)

    def ask() -> None:
        nonlocal rest
        with suppress(BlockingIOError):
            while True:
                rest = rest[asking.send(rest) :] or request

    try:
        yield ask
    finally:
        for wire in wires:
            wire.close()


def compare(*, pairs: int) -> Pairs:
    """Compare calls of a daemon with deaf clients and of one without."""
    with ExitStack() as stack:
        crowded, calm = (real(stack.enter_context(folder()), WIDGETS) for _ in range(2))
        urls = [
            stack.enter_context(widgetd(at, "--log-level", "error")).url for at in (crowded, calm)
        ]
        ask = stack.enter_context(deaf_clients(urls[0]))
        ours, theirs = caller(urls[0]), caller(urls[1])
        return alternate(
            _with_saves(crowded, ours, ask), _with_saves(calm, theirs), pairs=pairs, warm_up=100
        )


def _with_saves(at: Path, call: Timed, act: Act = lambda: None) -> Timed:
    """Return `call` with `act` before each, and a save that is announced before some."""
    numbers = count()

    def timed() -> float:
        number = next(numbers)
        act()
        if number % _SAVE_EVERY == 0:
            write(at / "Saved.widget", small_widget(number) | {"name": "Saved"})
        return call()

    return timed


def measure(*, pairs: int) -> list[Row]:
    """Measure calls beside clients that never read."""
    timings = compare(pairs=pairs)
    what = f"p99 of {pairs:,} calls beside clients that never read"
    return [ratio_row(compare_arms(what, at_most(_LIMIT), timings, statistic=at_percentile(99)))]
