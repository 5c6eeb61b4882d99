"""The servers whose growth is compared: widgetd, widgetd on uvloop, and stock FastMCP."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.calls import caller
from benchmarks.children import Server, daemon_command, python, server
from benchmarks.folders import FLIGHT
from benchmarks.ratios import Timed
from benchmarks.saves import Saver, time_to_notification
from benchmarks.wire import Wire, call, listen, modern

PAGE = 100
_WORDS = "where is my flight"
_ON_UVLOOP = "import runpy, uvloop; uvloop.install(); runpy.run_module('widgetd', None, '__main__')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A server that serves so many widgets.

    Attributes:
        server: It.
        widgets: The folder.
        start_s: How long it took to be ready.
        rss_bytes: What it held then.
    """

    server: Server
    widgets: Path
    start_s: float
    rss_bytes: int


Prepared = Callable[[Serving], Timed]
"""Makes what is timed, for one server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A kind of server and its measurements.

    Attributes:
        name: What it is called in the table; empty for widgetd as people run it.
        started: Serves a folder, with further flags.
        measures: By what is measured.
    """

    name: str
    started: Callable[..., AbstractContextManager[Server]]
    measures: Mapping[str, Prepared]


def _widgetd(folder: Path, *flags: str) -> tuple[str, ...]:
    standing = ("--expose", "tools", "--page-size", str(PAGE), "--toolset", "author")
    return daemon_command(folder, *standing, *flags)


def _daemon(folder: Path, *flags: str) -> AbstractContextManager[Server]:
    return server(_widgetd(folder, *flags))


def _on_uvloop(folder: Path, *flags: str) -> AbstractContextManager[Server]:
    _, _, _, *arguments = _widgetd(folder, *flags)
    return server((sys.executable, "-c", _ON_UVLOOP, *arguments))


def _stock(folder: Path) -> AbstractContextManager[Server]:
    return server(python("benchmarks.stock", "listed", str(folder), str(PAGE)))


def _save(serving: Serving) -> Timed:
    wires = [listen(serving.server.url, "legacy"), listen(serving.server.url, "modern")]
    return time_to_notification(Saver(serving.widgets / FLIGHT), wires)


def _call(serving: Serving) -> Timed:
    return caller(serving.server.url)


def _page(serving: Serving) -> Timed:
    url = serving.server.url
    return partial(Wire(url).timed, modern(url, "tools/list"))


def _whole(serving: Serving) -> Timed:
    url = serving.server.url
    return partial(_walk, url, Wire(url))


def _walk(url: str, wire: Wire) -> float:
    """Return a timer of all pages in turn that counts only the waiting."""
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


def _searching(tool: str) -> Prepared:
    def search(serving: Serving) -> Timed:
        url = serving.server.url
        return partial(Wire(url).timed, call(url, tool, {"query": _WORDS}))

    return search


SAVE, CALL, ONE_PAGE, EVERY_PAGE, SEARCH, REFERENCE = (
    "save to notified",
    "call",
    f"list, a page of {PAGE}",
    "list, all pages",
    "search",
    "reference",
)

_OURS: Mapping[str, Prepared] = {
    SAVE: _save,
    CALL: _call,
    ONE_PAGE: _page,
    EVERY_PAGE: _whole,
    SEARCH: _searching("search_widgets"),
    REFERENCE: _searching("search_reference"),
}
_THEIRS: Mapping[str, Prepared] = {CALL: _call, ONE_PAGE: _page, EVERY_PAGE: _whole}

WIDGETD = Arm(name="", started=_daemon, measures=_OURS)
ON_UVLOOP = Arm(name="on uvloop", started=_on_uvloop, measures=_OURS)
STOCK = Arm(name="stock FastMCP", started=_stock, measures=_THEIRS)
