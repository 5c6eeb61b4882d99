"""Fill widgets from upstreams that fail in every way, and measure other calls meanwhile.

Two daemons serve equal folders, in which each widget has an upstream of its own; those of one
daemon all fail, each in its own way. Plain calls to the two alternate, while other clients call
the widgets that are filled.
"""

from __future__ import annotations

import re
import select
import time
from collections import Counter
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

from anyio.from_thread import BlockingPortal, start_blocking_portal

from benchmarks.children import widgetd
from benchmarks.feeds import caller
from benchmarks.ratios import Pairs, Timed, alternate, at_percentile
from benchmarks.table import at_most as ratio_at_most
from benchmarks.table import compare_arms
from benchmarks.wire import Wire, call
from stress.table import Row, limit_row, ratio_row, zero_row
from tests.system.upstreams.servers import FLIGHT, json_reply, raw, toml
from tests.system.upstreams.test_faults import CLIENTS, FAULTS
from tests.system.upstreams.test_feeds import FEED, write

_FAULTS = {name: fault for name, fault in FAULTS.items() if not name.startswith("service")}
_CALL_S = 2.0
_LATER_S = 0.5
_LIMIT = 1.1


class Filled:
    """Clients that call the widgets that upstreams fill, one after the other.

    Attributes:
        codes: What came of it: an error's code, or nothing.
        slowest_s: The longest that one waited.
    """

    def __init__(self, url: str) -> None:
        self.codes: Counter[str] = Counter()
        self.slowest_s = 0.0
        self._wires = cycle([(Wire(url), [0.0]) for _ in range(CLIENTS)])
        arguments = {"number": "UA123"}
        requests = [call(url, f"f{at}", arguments) for at in range(len(_FAULTS))]
        for request in requests:  # by when all have been connected to, or not
            Wire(url).ask(request)
        self._requests = cycle(requests)

    def ask(self) -> None:
        """Send the next client's call, if its last one is answered."""
        wire, asked_s = next(self._wires)
        if asked_s[0]:
            if not select.select([wire.socket], [], [], 0)[0]:
                return
            meta = wire.take().result["_meta"]
            self.codes[meta.get("widgetd/error", {}).get("code", "")] += 1
            self.slowest_s = max(self.slowest_s, time.monotonic() - asked_s[0])
        wire.reopen()
        asked_s[0] = time.monotonic()
        wire.send(next(self._requests))


def compare(folder: Path, *, pairs: int) -> tuple[Pairs, Filled, Filled]:
    """Compare plain calls beside upstreams that fail and beside healthy ones."""
    with start_blocking_portal() as portal, ExitStack() as stack:
        sides = [
            _side(folder / name, tables, stack)
            for name, tables in (
                ("failing", _failing(folder, portal, stack)),
                ("well", _well(portal, stack)),
            )
        ]
        (ours, failing), (theirs, well) = sides
        return alternate(ours, theirs, pairs=pairs, warm_up=200), failing, well


def _side(folder: Path, tables: list[str], stack: ExitStack) -> tuple[Timed, Filled]:
    folder.mkdir()
    widgets = folder / "widgets"
    for at in range(len(tables)):
        write(folder, FEED.replace('"flights"', f'"u{at}"'), name=f"F{at}")
    file = folder / "upstreams.toml"
    file.write_text("".join(tables))
    (folder / "shop.json").write_text("{}")
    flags = ("--upstreams", str(file), "--log-level", "error")
    url = stack.enter_context(widgetd(widgets, *flags)).url
    filled, plain = Filled(url), caller(url, "plain", {"who": "Ada"})

    def timed() -> float:
        filled.ask()
        return plain()

    return timed, filled


def _failing(folder: Path, portal: BlockingPortal, stack: ExitStack) -> list[str]:
    tables = []
    for at, (made, _) in enumerate(_FAULTS.values()):
        config = stack.enter_context(portal.wrap_async_context_manager(made(folder)))
        config = re.sub(r"(connect_s|call_s) = .*", rf"\1 = {_CALL_S}", config)
        tables.append(config.replace("[it]", f"[u{at}]"))
    return tables


def _well(portal: BlockingPortal, stack: ExitStack) -> list[str]:
    port = stack.enter_context(portal.wrap_async_context_manager(raw(json_reply(FLIGHT))))
    config = toml("it", base=f"http://127.0.0.1:{port}", call_s=_CALL_S)
    config += '[it.endpoints.get_flight]\nget = "/flights/{flight_no}"\n'
    return [config.replace("[it", f"[u{at}") for at in range(len(_FAULTS))]


def measure(folder: Path, *, pairs: int) -> list[Row]:
    """Measure calls beside upstreams that fail."""
    timings, failing, well = compare(folder, pairs=pairs)
    what = f"p99 of {pairs:,} plain calls beside {len(_FAULTS)} upstreams that fail"
    ratio = compare_arms(what, ratio_at_most(_LIMIT), timings, statistic=at_percentile(99))
    refusals = sum(failing.codes[code] for code in ("W5002", "W5003"))
    count = failing.codes.total()
    return [
        ratio_row(ratio),
        zero_row("  filled calls without W5002 or W5003", count - refusals, f"{count:,}"),
        zero_row(
            "  and of those whose upstreams are well, with an error",
            well.codes.total() - well.codes[""],
            f"{well.codes.total():,}",
        ),
        limit_row(
            "  the longest that a filled call took", failing.slowest_s, _CALL_S + _LATER_S, "s"
        ),
    ]
