"""Drop attack files while clients call, and measure the lag of the event loop.

The probe is `GET /livez` on a connection of its own, which only waits for its turn in
the loop. Slices of time with and without attacks alternate.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import anyio

from benchmarks.children import child, python, widgetd
from benchmarks.folders import folder, real
from benchmarks.ratios import Pairs, alternate, percentile
from benchmarks.table import at_most, compare_arms
from benchmarks.wire import Wire
from stress.attackfiles import ATTACKS, drop, drop_irregular_files
from stress.load import CLIENTS
from stress.probing import host_of, read_readiness, wait_until
from stress.table import Row, ratio_row

WIDGETS = 16
_LIMIT = 2.0
_SLICE_S = 3.0
_EVERY_S = 0.05
_PROBE_S = 0.002
_PATIENCE_S = 60.0


class Attacked:
    """A daemon under attack, and a probe of its event loop."""

    def __init__(self, url: str, at: Path) -> None:
        self._url = url
        self._at = at
        self._wire = Wire(url)
        self._request = f"GET /livez HTTP/1.1\r\nhost: {host_of(url)}\r\n\r\n".encode()
        self._dropped = 0

    def quiet_s(self) -> float:
        """Return the p99 of the lag in a slice of time without attacks."""
        return self._p99_s(lambda: None)

    def attacked_s(self) -> float:
        """Return the p99 of the lag in a slice of time with attacks, and remove them."""
        before = anyio.run(read_readiness, self._url)["files"]
        latency_s = self._p99_s(self._drop)
        for path in self._at.glob("attack*.widget"):
            path.unlink()
        anyio.run(self._recovered, before)
        return latency_s

    def _p99_s(self, act: Callable[[], None]) -> float:
        lags = []
        due_s = time.monotonic()
        ends_s = due_s + _SLICE_S
        while (now_s := time.monotonic()) < ends_s:
            if now_s >= due_s:
                due_s += _EVERY_S
                act()
            lags.append(self._wire.timed(self._request))
            time.sleep(_PROBE_S)  # the pace of the probe
        return percentile(lags, 99)

    def _drop(self) -> None:
        drop(self._at, ATTACKS[self._dropped % len(ATTACKS)], self._dropped)
        self._dropped += 1

    async def _recovered(self, files: str) -> None:
        with anyio.fail_after(_PATIENCE_S):
            await wait_until(self._url, lambda state: state["files"] == files)


def compare(*, slices: int) -> Pairs:
    """Compare the p99 of the lag in slices with attacks and in slices without."""
    with ExitStack() as stack:
        at = real(stack.enter_context(folder()), WIDGETS)
        drop_irregular_files(at)
        url = stack.enter_context(widgetd(at, "--log-level", "error")).url
        stack.enter_context(child(python("stress.load", url))).line()
        attacked = Attacked(url, at)
        return alternate(attacked.attacked_s, attacked.quiet_s, pairs=slices, warm_up=1)


def measure(*, slices: int) -> list[Row]:
    """Measure the lag under attacks and load."""
    what = f"loop lag (p99 of /livez), attacks dropped 20 a second, {CLIENTS} clients"
    return [ratio_row(compare_arms(what, at_most(_LIMIT), compare(slices=slices)))]
