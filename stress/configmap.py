"""Swap a folder as Kubernetes swaps a ConfigMap, and count widgets that are ever missing.

The files are links through `..data`, which one rename points at another folder.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import anyio

from stress.churn import WHO, revision_of, widget_content
from stress.table import Row, zero_row
from tests.support.clients import Connection, connect_client
from tests.support.processes import daemon_process

WIDGETS = 16
_PATIENCE_S = 10.0


class ConfigMap:
    """A mounted ConfigMap of widgets, all at one revision."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.names = tuple(f"w{number}" for number in range(WIDGETS))
        self.revision = -1
        self.swap()
        for name in self.names:
            (root / f"{name}.widget").symlink_to(f"..data/{name}.widget")

    def swap(self) -> None:
        """Replace the content of the folder with the next revision, by one rename."""
        self.revision += 1
        target = self._root / f"..{self.revision}"
        target.mkdir()
        for name in self.names:
            (target / f"{name}.widget").write_bytes(widget_content(name, self.revision))
        link = self._root / "..data_tmp"
        link.symlink_to(target.name)
        link.replace(self._root / "..data")
        if self.revision:
            shutil.rmtree(self._root / f"..{self.revision - 1}")


async def swap_repeatedly(folder: Path, *, swaps: int) -> Counter[str]:
    """Swap repeatedly while clients list and call.

    Args:
        folder: An empty folder.
        swaps: Number of swaps.

    Returns:
        The number of `lists`, of those that lacked a widget (`unlisted`), and of calls that
        `failed`.
    """
    mounted = ConfigMap(folder)
    outcomes: Counter[str] = Counter()
    over = anyio.Event()
    async with (
        daemon_process(folder, "--log-level", "error") as served,
        connect_client(served.url, "modern") as lister,
        connect_client(served.url, "legacy") as caller,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_keep_listing, lister, mounted.names, outcomes, over)
        for number in range(swaps):
            mounted.swap()
            name = mounted.names[number % WIDGETS]
            with anyio.fail_after(_PATIENCE_S):
                while not await _shows(caller, name, mounted.revision, outcomes):
                    pass
        over.set()
    return outcomes


async def _keep_listing(
    client: Connection, names: Collection[str], outcomes: Counter[str], over: anyio.Event
) -> None:
    while not over.is_set():
        outcomes["unlisted"] += not set(names) <= await client.tools()
        outcomes["lists"] += 1


async def _shows(client: Connection, name: str, revision: int, outcomes: Counter[str]) -> bool:
    result = await client.call(name, who=WHO)
    if result.is_error or result.structured_content is None:
        outcomes["failed"] += 1
        return False
    return revision_of(result.structured_content) == revision


async def measure(folder: Path, *, swaps: int) -> list[Row]:
    """Measure lists and calls while a ConfigMap is swapped again and again."""
    outcomes = await swap_repeatedly(folder, swaps=swaps)
    trial = f"ConfigMap swapped {swaps:,} times"
    return [
        zero_row(
            f"{trial}: lists that lack a widget",
            outcomes["unlisted"],
            f"{outcomes['lists']:,} lists",
        ),
        zero_row(f"{trial}: failed calls", outcomes["failed"]),
    ]
