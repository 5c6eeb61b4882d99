"""Swap one snapshot for the next, many thousand times, and look at what the process holds on to.

Once in this process, through the same reload, notify and server as the daemon's, with
hints instead of events and without the wait for quiet; and once with a daemon whose
folder is saved to as fast as each save is served.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from fastmcp import Client

from stress.calling import both_eras
from stress.churn import WHO, content, revision_of
from stress.probing import readiness, until
from stress.processes import Holdings, holdings
from stress.styles import renamed
from stress.table import Row, at_most, none_of
from tests.process import daemon_process
from widgetd.catalog.catalog import Catalog
from widgetd.catalog.loader import Loader
from widgetd.catalog.registry import Registry
from widgetd.catalog.reload import reload
from widgetd.files.hints import Hints
from widgetd.mcp.assembly import build
from widgetd.mcp.notifications import notify
from widgetd.mcp.server import Server
from widgetd.store.factory import local_store
from widgetd.widget.widget import Widget

WIDGETS = 16
LISTENERS = 4
_GROWTH_MB = 5.0
_CALL_EVERY = 50
_REST_S = 1.0
_WARM_UP = 0.1
"""The part of the swaps that comes before the first look, at least to the first calls: caches and
memory pools fill in it, and connections are opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a process held when it was warm, and in the end.

    Attributes:
        swaps: How many there were between the two.
        before: What it held when it was warm.
        after: What it held in the end.
        widgets: How many widgets were in memory in the end; None where that cannot be seen.
    """

    swaps: int
    before: Holdings
    after: Holdings
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
        """The widget that was saved last."""
        return f"w{self.revision % WIDGETS}"

    def save(self) -> str:
        """Save the next one, and answer its path."""
        self.revision += 1
        path = self._folder / f"{self.name}.widget"
        renamed(path, content(self.name, self.revision))
        return path.name


async def in_process(folder: Path, *, swaps: int) -> Outcome:
    """Swap so often through the reload loop of this process.

    Args:
        folder: An empty folder.
        swaps: How often.
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
            before = _own()
            await _repeat(swaps - warm, swap)
            after = _own()
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


def _own() -> Holdings:
    gc.collect()
    return holdings(os.getpid())


async def of_daemon(folder: Path, *, swaps: int) -> Outcome:
    """Save so often to the folder of a daemon, each as soon as the one before is served.

    Args:
        folder: An empty folder.
        swaps: How often.
    """
    saver = Saver(folder)
    async with (
        daemon_process(folder, "--log-level", "error") as served,
        both_eras(served.url, LISTENERS) as clients,
    ):

        async def swap() -> None:
            before = (await readiness(served.url))["generation"]
            saver.save()
            await until(served.url, lambda state: state["generation"] != before)
            if saver.revision % _CALL_EVERY == 0:
                for client in clients:
                    await client.call(saver.name, who=WHO)

        warm = max(int(swaps * _WARM_UP), _CALL_EVERY)
        await _repeat(warm, swap)
        before = await _rested(served.process.pid)
        await _repeat(swaps - warm, swap)
        after = await _rested(served.process.pid)
    return Outcome(swaps=swaps - warm, before=before, after=after)


async def _rested(pid: int) -> Holdings:
    """What a process holds once the connections that were closed are closed on its side too."""
    await anyio.sleep(_REST_S)
    return holdings(pid)


async def near_rows(folder: Path, *, swaps: int) -> list[Row]:
    """The rows of swapping so often in this process."""
    return _held("through the reload loop", await in_process(folder, swaps=swaps))


async def far_rows(folder: Path, *, swaps: int) -> list[Row]:
    """The rows of swapping so often through the folder of a daemon."""
    return _held("through a daemon's folder", await of_daemon(folder, swaps=swaps))


def _held(way: str, outcome: Outcome) -> list[Row]:
    before, after = outcome.before, outcome.after
    grown_mb = (after.rss_bytes - before.rss_bytes) / 1e6
    now = f"to {after.rss_bytes / 1e6:.0f} MB"
    return [
        at_most(f"{outcome.swaps:,} swaps {way}: memory", grown_mb, _GROWTH_MB, "MB more", now),
        none_of("  more descriptors", max(0, after.descriptors - before.descriptors)),
        none_of("  more threads", max(0, after.threads - before.threads)),
    ]
