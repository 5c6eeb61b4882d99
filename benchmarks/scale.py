"""What grows with the number of widgets, and what does not: `python -m benchmarks.scale`.

One daemon for each size, all of them running; every measure goes round the
sizes in turns, so that what disturbs one disturbs the others. Each cell is a
median and its ratio to the first size; a start is measured once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.__main__ import machine
from benchmarks.calling import caller
from benchmarks.children import Server, widgetd
from benchmarks.folders import FLIGHT, folder, real
from benchmarks.measuring import Timed, median
from benchmarks.saving import Saver, until_told
from benchmarks.table import shown
from benchmarks.wire import Wire, call, listen, modern

SIZES = (16, 100, 1000, 10_000)
_PAGE = 100
_WORDS = "where is my flight"
_WIDTH = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A daemon that serves so many widgets.

    Attributes:
        server: It.
        widgets: The folder.
        start_s: How long it took to be ready.
    """

    server: Server
    widgets: Path
    start_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Something to time at each size.

    Attributes:
        rounds: How often.
        prepared: Makes what is timed, for one daemon.
    """

    rounds: int
    prepared: Callable[[Daemon], Timed]


def main() -> None:
    """Start a daemon of each size, and print each line as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="how many widgets")
    parser.add_argument("--rounds", type=int, default=1_000_000, help="at most so many each")
    asked = parser.parse_args()
    print(machine())
    print(_line("widgets", (f"{size:,}" for size in asked.sizes)))
    with ExitStack() as stack:
        daemons = [_started(stack, size) for size in asked.sizes]
        print(_line("start", _cells([daemon.start_s for daemon in daemons])))
        for name, measure in MEASURES.items():
            medians = measured(measure, daemons, min(measure.rounds, asked.rounds))
            print(_line(name, _cells(medians)), flush=True)
        held = [daemon.server.child.rss_bytes / 1e6 for daemon in daemons]
        print(_line("memory", (f"{mb:,.0f} MB ({mb / held[0]:.2f})" for mb in held)))
        print(_line("memory per widget", _each(held, asked.sizes)))


def _each(held_mb: Sequence[float], sizes: Sequence[int]) -> Iterator[str]:
    """What each widget beyond those of the first size takes."""
    yield ""
    for mb, size in zip(held_mb[1:], sizes[1:], strict=True):
        yield f"{(mb - held_mb[0]) / (size - sizes[0]) * 1000:.0f} kB"


def _started(stack: ExitStack, size: int) -> Daemon:
    widgets = real(stack.enter_context(folder()), size)
    flags = ("--expose", "tools", "--page-size", str(_PAGE))
    started_s = time.perf_counter()
    server = stack.enter_context(widgetd(widgets, *flags))
    return Daemon(server=server, widgets=widgets, start_s=time.perf_counter() - started_s)


def measured(measure: Measure, daemons: Sequence[Daemon], rounds: int) -> list[float]:
    """The median of a measure at each size, once round the sizes to warm up."""
    timed = [measure.prepared(daemon) for daemon in daemons]
    taken = [[one() for one in timed] for _ in range(rounds + 1)][1:]
    return [median(times) for times in zip(*taken, strict=True)]


def _save(daemon: Daemon) -> Timed:
    wires = [listen(daemon.server.url, "legacy"), listen(daemon.server.url, "modern")]
    return until_told(Saver(daemon.widgets / FLIGHT), wires)


def _call(daemon: Daemon) -> Timed:
    return caller(daemon.server.url)


def _page(daemon: Daemon) -> Timed:
    url = daemon.server.url
    return partial(Wire(url).timed, modern(url, "tools/list"))


def _whole(daemon: Daemon) -> Timed:
    return partial(_walk, daemon.server.url, Wire(daemon.server.url))


def _walk(url: str, wire: Wire) -> float:
    """All pages, one after the other; only the waiting counts."""
    wire.reopen()
    took_s, cursor = 0.0, ""
    while True:
        request = modern(url, "tools/list", {"cursor": cursor} if cursor else None)
        started_s = time.perf_counter()
        answer = wire.ask(request)
        took_s += time.perf_counter() - started_s
        cursor = answer.result.get("nextCursor", "")
        if not cursor:
            return took_s


def _search(daemon: Daemon) -> Timed:
    url = daemon.server.url
    return partial(Wire(url).timed, call(url, "search_widgets", {"query": _WORDS}))


MEASURES: Mapping[str, Measure] = {
    "save to told": Measure(rounds=40, prepared=_save),
    "call": Measure(rounds=300, prepared=_call),
    f"list, a page of {_PAGE}": Measure(rounds=100, prepared=_page),
    "list, all pages": Measure(rounds=20, prepared=_whole),
    "search": Measure(rounds=40, prepared=_search),
}


def _cells(times_s: Sequence[float]) -> Iterator[str]:
    return (f"{shown(took * 1000)} ms ({took / times_s[0]:.2f})" for took in times_s)


def _line(name: str, cells: Iterable[str]) -> str:
    return f"{name:<{_WIDTH}}" + "".join(f"{cell:>{_WIDTH}}" for cell in cells)


if __name__ == "__main__":
    main()
