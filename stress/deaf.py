"""Serve clients that never read, and see whether anybody else's calls take longer for it.

Two daemons serve equal folders, in which a file is saved at the same pace; the deaf
clients are all with one of them. Calls are made to the one and the other in turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from benchmarks.calling import caller
from benchmarks.children import widgetd
from benchmarks.folders import folder, real, small_widget, write
from benchmarks.measuring import Pairs, Timed, alternate, at_percentile
from benchmarks.table import at_most, compared
from benchmarks.wire import Wire, listen, modern
from stress.table import Row, of_ratio

WIDGETS = 16
_SAVE_EVERY = 25
_LIMIT = 1.1

Act = Callable[[], None]


@contextmanager
def deaf(url: str) -> Iterator[Act]:
    """Clients that never read: two that listen, and one that asks for lists.

    Args:
        url: Where MCP is served.

    Yields:
        What sends as many more requests as are taken of somebody who does not read.
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


def paired(*, pairs: int) -> Pairs:
    """Calls of a daemon that has deaf clients, and of one that has none."""
    with ExitStack() as stack:
        crowded, calm = (real(stack.enter_context(folder()), WIDGETS) for _ in range(2))
        urls = [
            stack.enter_context(widgetd(at, "--log-level", "error")).url for at in (crowded, calm)
        ]
        ask = stack.enter_context(deaf(urls[0]))
        ours, theirs = caller(urls[0]), caller(urls[1])
        return alternate(
            _among_saves(crowded, ours, ask), _among_saves(calm, theirs), pairs=pairs, warm_up=100
        )


def _among_saves(at: Path, call: Timed, act: Act = lambda: None) -> Timed:
    """`call`, with an act before it, and before some of them a save that is announced."""
    numbers = count()

    def timed() -> float:
        number = next(numbers)
        act()
        if number % _SAVE_EVERY == 0:
            write(at / "Saved.widget", small_widget(number) | {"name": "Saved"})
        return call()

    return timed


def rows(*, pairs: int) -> list[Row]:
    """The row of clients that never read."""
    taken = paired(pairs=pairs)
    what = f"p99 of {pairs:,} calls beside clients that never read"
    return [of_ratio(compared(what, at_most(_LIMIT), taken, statistic=at_percentile(99)))]
