"""Swap snapshots many thousand times, and measure the resources that stay in use.

Once in this process, through the reload, notify and server of the daemon, with hints
instead of events and without the wait for quiet; and once with a daemon whose folder is
saved to as fast as each save is served.
"""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from fastmcp import Client

from stress.calling import both_eras
from stress.churn import WHO, revision_of, widget_content
from stress.probing import read_readiness, wait_until
from stress.processes import Usage, own_usage, read_usage
from stress.styles import renamed
from stress.table import Row, limit_row, zero_row
from tests.support.processes import daemon_process
from widgetd.base.files.hints import Hints
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.reload import reload
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.notifications import notify
from widgetd.server.mcp.server import Server
from widgetd.server.store.factory import local_store

WIDGETS = 16
LISTENERS = 4
_GROWTH_MB = 5.0
_CALL_EVERY = 50
_REST_S = 1.0
_WARM_UP = 0.1
"""Share of the swaps before the first measurement, at least up to the first calls: caches and
memory pools fill, and connections are opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The resources of a process when warm, and at the end.

    Attributes:
        swaps: Number of swaps between the two.
        before: Resources when warm.
        after: Resources at the end.
        widgets: Number of widgets in memory at the end; None where it is unknown.
    """

    swaps: int
    before: Usage
    after: Usage
    widgets: int | None = None


class Saver:
    """Saves the widgets of a folder one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.revision = 0
        for _ in range(WIDGETS):
            self.save()

    @property
    def name(self) -> str:
        """Return the widget that was saved last."""
        return f"w{self.revision % WIDGETS}"

    def save(self) -> str:
        """Save the next widget, and return its path."""
        self.revision += 1
        path = self._folder / f"{self.name}.widget"
        renamed(path, widget_content(self.name, self.revision))
        return path.name


async def swap_in_process(folder: Path, *, swaps: int) -> Outcome:
    """Swap repeatedly through the reload loop of this process.

    Args:
        folder: An empty folder.
        swaps: Number of swaps.
    """
    registry, hints, scanned = Registry(), Hints(), anyio.Event()
    server = build(registry, local_store())
    saver = Saver(folder)
    catalog = Catalog(folder, Loader(server.admit).load, quiet_ms=0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(reload, catalog, hints, registry, on_scan=scanned.set))
        await scanned.wait()
        tasks.start_soon(notify, server)
        async with Client(server.mcp) as client:
            swap = partial(_swap, server, hints, saver, client)
            warm = max(int(swaps * _WARM_UP), _CALL_EVERY)
            await _repeat(warm, swap)
            before = own_usage()
            await _repeat(swaps - warm, swap)
            after = own_usage()
            widgets = sum(isinstance(each, Widget) for each in gc.get_objects())
        tasks.cancel_scope.cancel()
    return Outcome(swaps=swaps - warm, before=before, after=after, widgets=widgets)


async def _swap(server: Server, hints: Hints, saver: Saver, client: Client[Any]) -> None:
    served = server.registry.current
    hints.add([saver.save()])
    await server.registry.wait_for_newer(served)
    if saver.revision % _CALL_EVERY == 0:
        result = await client.call_tool(saver.name, {"who": WHO})
        assert revision_of(result.structured_content or {}) == saver.revision
        await client.list_tools()


async def _repeat(times: int, act: Callable[[], Awaitable[None]]) -> None:
    for _ in range(times):
        await act()


async def swap_daemon(folder: Path, *, swaps: int) -> Outcome:
    """Save repeatedly to the folder of a daemon, each time as soon as the last save is served.

    Args:
        folder: An empty folder.
        swaps: Number of swaps.
    """
    saver = Saver(folder)
    async with (
        daemon_process(folder, "--log-level", "error") as served,
        both_eras(served.url, LISTENERS) as clients,
    ):

        async def swap() -> None:
            before = (await read_readiness(served.url))["generation"]
            saver.save()
            await wait_until(served.url, lambda state: state["generation"] != before)
            if saver.revision % _CALL_EVERY == 0:
                for client in clients:
                    await client.call(saver.name, who=WHO)

        warm = max(int(swaps * _WARM_UP), _CALL_EVERY)
        await _repeat(warm, swap)
        before = await _settled_usage(served.process.pid)
        await _repeat(swaps - warm, swap)
        after = await _settled_usage(served.process.pid)
    return Outcome(swaps=swaps - warm, before=before, after=after)


async def _settled_usage(pid: int) -> Usage:
    """Return the resources once closed connections are closed on the server's side too."""
    await anyio.sleep(_REST_S)
    return read_usage(pid)


async def measure_in_process(folder: Path, *, swaps: int) -> list[Row]:
    """Measure swaps in this process."""
    return _compare_usage("through the reload loop", await swap_in_process(folder, swaps=swaps))


async def measure_daemon(folder: Path, *, swaps: int) -> list[Row]:
    """Measure swaps through the folder of a daemon."""
    return _compare_usage("through a daemon's folder", await swap_daemon(folder, swaps=swaps))


def _compare_usage(way: str, outcome: Outcome) -> list[Row]:
    before, after = outcome.before, outcome.after
    grown_mb = (after.rss_bytes - before.rss_bytes) / 1e6
    now = f"to {after.rss_bytes / 1e6:.0f} MB"
    return [
        limit_row(f"{outcome.swaps:,} swaps {way}: memory", grown_mb, _GROWTH_MB, "MB more", now),
        zero_row("  more descriptors", max(0, after.descriptors - before.descriptors)),
        zero_row("  more threads", max(0, after.threads - before.threads)),
    ]
