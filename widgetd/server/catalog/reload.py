"""The loop from the folder to the registry: a hint wakes a scan.

    hint -> scan -> entries -> snapshot -> swap -> one log event

Everything slow or fallible happens in a worker thread before the swap, a single assignment. The
loop knows nothing of clients.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio

from widgetd.base.errors import Finding
from widgetd.base.files.hints import EVERYWHERE, Hint, Hints
from widgetd.base.files.limits import LIMITS as FILE_LIMITS
from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM, Disk, System
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.change import Change, breaking_changes
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.snapshot import Snapshot

_log = get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """The replacement of the served snapshot by the next.

    Attributes:
        snapshot: The snapshot being served.
        change: Its differences from the snapshot before.
        saved_s: Age of the newest changed file. None if none of them is left.
        routine: Whether the timer alone had asked for the scan.
    """

    snapshot: Snapshot
    change: Change
    saved_s: float | None
    routine: bool


class ReloadObserver(Protocol):
    """The metrics of reloading. Called in the event loop. Must neither wait nor raise."""

    def on_scan(self, seconds: float) -> None:
        """Count a scan, with the making of its widgets, of so many seconds."""

    def on_swap(self, swap: Swap) -> None:
        """Count a swap."""


async def reload(
    catalog: Catalog,
    hints: Hints,
    registry: Registry,
    *,
    on_scan: Callable[[], None],
    observer: ReloadObserver | None = None,
    system: System = SYSTEM,
) -> None:
    """Serve the folder as it changes, until cancelled.

    Args:
        catalog: The folder, and its entries.
        hints: Say where to look, and when.
        registry: The cell to swap snapshots into.
        on_scan: Called after each scan. For the first time when no file was being written, or
            `LIMITS.settling_s` after the start.
        observer: Counts scans and swaps.
        system: Times and runs the scans.
    """
    # Own limiters, because file events wait on the default limiter.
    scanning, saving = anyio.CapacityLimiter(1), anyio.CapacityLimiter(1)
    run_blocking, clock = system.threads.run_blocking, system.clock
    hint, current, strays = EVERYWHERE, catalog.current, catalog.stray_sidecars
    patience_s = clock.steady_s() + LIMITS.settling_s
    unsaved = deque[Callable[[], None]](maxlen=LIMITS.unsaved_generations)

    async def save_copies() -> None:
        # Shielded, so a daemon remembers the last generation even if it is stopped at once.
        with anyio.CancelScope(shield=True):
            while unsaved:
                await run_blocking(unsaved.popleft(), limiter=saving)

    async with anyio.create_task_group() as saves:
        while True:
            started_s = clock.steady_s()
            look = partial(_look, catalog, hint)
            snapshot = await run_blocking(look, limiter=scanning)
            took_s = clock.steady_s() - started_s
            hints.cost_s = catalog.cost_s
            if observer is not None:
                observer.on_scan(took_s)
            before, now_s = registry.current, clock.wall_s()
            change = None if snapshot.is_same_as(before) else registry.swap(snapshot)
            if catalog.current is not current:
                # A swap does not wait until the disk has the previous snapshot.
                unsaved.append(catalog.copies())
                saves.start_soon(save_copies)
                current = catalog.current
            if not catalog.unsettled_files or started_s > patience_s:
                on_scan()
            if change is not None:
                # Clients are notified first. At the start there are none. With the shield, the
                # swap is logged even if the daemon is stopped in between.
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(LIMITS.swap_gap_s if before.entries else 0)
                _report(before, snapshot, change, took_s * 1000)
            if not catalog.unsettled_files and catalog.stray_sidecars != strays:
                _warn(finding for finding in catalog.stray_sidecars if finding not in strays)
                strays = catalog.stray_sidecars
            if change is not None and observer is not None:
                about = partial(_age_s, catalog.root, snapshot, change, now_s, system.disk)
                saved_s = await run_blocking(about, limiter=scanning)
                swap = Swap(snapshot=snapshot, change=change, saved_s=saved_s, routine=hint.routine)
                observer.on_swap(swap)
            hint = Hint(paths=catalog.unsettled_files)
            with anyio.move_on_after(catalog.due_s):
                hint = await hints.wait()


def _look(catalog: Catalog, hint: Hint) -> Snapshot:
    catalog.scan(hint.paths, hint.finished, deleted=hint.deleted, confirmed=hint.confirmed)
    return catalog.choose()


def _age_s(root: Path, served: Snapshot, change: Change, now_s: float, disk: Disk) -> float | None:
    paths = [served.widgets[tool].definition.path for tool in change.added + change.changed]
    written_s = []
    for path in paths[: FILE_LIMITS.hinted_paths]:
        with suppress(OSError):
            written_s.append(disk.stat(root / path).st_ctime)
    return now_s - max(written_s) if written_s else None


def _warn(findings: Iterable[Finding]) -> None:
    for finding in findings:
        _log.warning(
            "widget.refused",
            path=finding.path,
            at=finding.at,
            line=finding.line,
            column=finding.column,
            code=finding.code,
            problem=finding.problem,
            advice=finding.advice,
        )


def _report(before: Snapshot, served: Snapshot, change: Change, duration_ms: float) -> None:
    _warn(change.refused)
    # Most are 0 at a save, and the line is for people.
    details = {
        "added": len(change.added),
        "changed": len(change.changed),
        "removed": len(change.removed),
        "recovered": len(change.recovered),
        "stale": len(served.stale),
        "refused": len(served.refusals),
        "degraded": served.degraded is not None,
        # A list, so readers with labels do not get it. It may name hidden widgets.
        "tools": list(change.tools[: LIMITS.logged_tools]),
        "breaking": [str(finding) for finding in breaking_changes(before, served, change)],
    }
    _log.info(
        "catalog.swapped",
        widgets=len(served.widgets),
        **{name: value for name, value in details.items() if value},
        generation=served.generation,
        duration_ms=round(duration_ms, 3),
    )
