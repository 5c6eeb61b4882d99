"""Growth with the number of widgets: `python -m benchmarks.scale` prints it.

A server of each kind for each size, all of them running; every measure goes round
them in turns, so that what disturbs one disturbs the others. Each cell is a median
and its ratio to the first size; a start is measured once. No measure takes longer
than its share, so the largest size has the fewest rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from benchmarks.__main__ import describe_machine
from benchmarks.arms import (
    CALL,
    EVERY_PAGE,
    ON_UVLOOP,
    ONE_PAGE,
    REFERENCE,
    SAVE,
    SEARCH,
    STOCK,
    WIDGETD,
    Arm,
    Serving,
)
from benchmarks.folders import folder, real
from benchmarks.ratios import Timed, median
from benchmarks.starts import known_start_s
from benchmarks.table import format_number

SIZES = (16, 100, 1000, 10_000)

ROUNDS: Mapping[str, int] = {
    SAVE: 40,
    CALL: 300,
    ONE_PAGE: 100,
    EVERY_PAGE: 20,
    SEARCH: 40,
    REFERENCE: 40,
}
"""How often each is measured, if there is time."""

SHARE_S = 20.0
"""What one measure of one server may take; where one round takes as long, it is the only one."""

_NAME, _CELL = 34, 22


def main() -> None:
    """Start every server, and print each line as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="how many widgets")
    parser.add_argument("--rounds", type=int, default=1_000_000, help="at most so many each")
    parser.add_argument("--uvloop", action="store_true", help="also on uvloop, if it is installed")
    options = parser.parse_args()
    arms = [WIDGETD, *([ON_UVLOOP] if options.uvloop else []), STOCK]
    print(describe_machine())
    print(_line("widgets", (f"{size:,}" for size in options.sizes)), flush=True)
    with ExitStack() as stack:
        running = {arm.name: [_start(stack, arm, size) for size in options.sizes] for arm in arms}
        _print_times("start", {name: [s.start_s for s in each] for name, each in running.items()})
        _print_times("start, known before", {"": [known_start_s(s.widgets) for s in running[""]]})
        for name, rounds in ROUNDS.items():
            timed = [
                (arm.name, arm.measures[name](serving))
                for arm in arms
                if name in arm.measures
                for serving in running[arm.name]
            ]
            medians = measure_medians([one for _, one in timed], min(rounds, options.rounds))
            kinds = [kind for kind, _ in timed]
            _print_times(name, _group(kinds, medians))
        for name, each in running.items():
            _print_memory("memory at the start", name, [s.rss_bytes for s in each], options.sizes)
            now = [serving.server.child.rss_bytes for serving in each]
            _print_memory("memory after all of this", name, now, options.sizes)


def _start(stack: ExitStack, arm: Arm, size: int) -> Serving:
    widgets = real(stack.enter_context(folder()), size)
    started_s = time.perf_counter()
    server = stack.enter_context(arm.started(widgets))
    took_s = time.perf_counter() - started_s
    memory_bytes = server.child.rss_bytes
    return Serving(server=server, widgets=widgets, start_s=took_s, rss_bytes=memory_bytes)


def measure_medians(timed: Sequence[Timed], rounds: int) -> list[float]:
    """Return the median of each after one round to warm up, for at most `SHARE_S` each."""
    timings: list[list[float]] = [[] for _ in timed]
    spent_s = [0.0 for _ in timed]
    for number in range(rounds + 1):
        for one, times, index in zip(timed, timings, range(len(timed)), strict=True):
            if not number or spent_s[index] < SHARE_S:
                began_s = time.perf_counter()
                times.append(one())
                spent_s[index] += time.perf_counter() - began_s
    return [median(times[1:] or times) for times in timings]


def _group(kinds: Sequence[str], medians: Sequence[float]) -> Mapping[str, list[float]]:
    grouped: dict[str, list[float]] = {}
    for kind, middle in zip(kinds, medians, strict=True):
        grouped.setdefault(kind, []).append(middle)
    return grouped


def _print_times(name: str, medians: Mapping[str, Sequence[float]]) -> None:
    for arm, times_s in medians.items():
        cells = (f"{format_number(took * 1000)} ms ({took / times_s[0]:.2f})" for took in times_s)
        print(_line(_label(name, arm), cells), flush=True)


def _print_memory(name: str, arm: str, memory_bytes: Sequence[int], sizes: Sequence[int]) -> None:
    cells = (f"{bytes_ / 1e6:,.0f} MB ({bytes_ / memory_bytes[0]:.2f})" for bytes_ in memory_bytes)
    print(_line(_label(name, arm), cells))
    print(_line("  of each widget", _each(memory_bytes, sizes)), flush=True)


def _each(memory_bytes: Sequence[int], sizes: Sequence[int]) -> Iterator[str]:
    """Yield the memory for each widget beyond the first size."""
    yield ""
    for bytes_, size in zip(memory_bytes[1:], sizes[1:], strict=True):
        yield f"{(bytes_ - memory_bytes[0]) / (size - sizes[0]) / 1000:.0f} kB"


def _label(name: str, arm: str) -> str:
    return f"{name}, {arm}" if arm else name


def _line(name: str, cells: Iterable[str]) -> str:
    return f"{name:<{_NAME}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)


if __name__ == "__main__":
    main()
