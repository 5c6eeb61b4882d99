"""Keep the registry equal to the folder: a hint wakes a scan, which has the last word.

    hint -> scan -> entries -> snapshot -> swap -> one log line

All that can fail, and all that takes time, happens in a worker thread before the
swap, which is one assignment. Knows nothing of clients.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from widgetd.catalog.change import Change, breaking_changes
from widgetd.catalog.loader import Catalog
from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Snapshot
from widgetd.files.hints import EVERYWHERE, MANY, Hint, Hints
from widgetd.logs import get_logger

SETTLING_S = 1.0
"""How long a start waits for files that are being written."""

APART_S = 0.02
"""How long after a swap the next scan is; what is saved meanwhile becomes one swap.
Nor is anything else done meanwhile: clients are being told."""

_log = get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """One swap.

    Attributes:
        saved_s: How long ago the last of the changed files was written; None where none is left.
        routine: Nothing but the timer had asked for the scan that found it.
    """

    snapshot: Snapshot
    change: Change
    saved_s: float | None
    routine: bool


class Observer(Protocol):
    """Is told how the reloading goes. Called in the event loop; must neither wait nor raise."""

    def scanned(self, seconds: float) -> None:
        """The folder was scanned, and its widgets were made, in so many seconds."""

    def swapped(self, swap: Swap) -> None:
        """Something else is served from now on."""


async def reload(
    catalog: Catalog,
    hints: Hints,
    registry: Registry,
    *,
    scanned: Callable[[], None],
    observer: Observer | None = None,
) -> None:
    """Run until cancelled; `hints` say where to look, and when.

    `scanned` is called after each scan, whether it changed anything or not; for the first time when
    no file was being written, or `SETTLING_S` after the start.
    """
    # A limiter of our own: file events wait on the default one.
    limiter = anyio.CapacityLimiter(1)
    hint, kept = EVERYWHERE, catalog.current
    patience_s = time.perf_counter() + SETTLING_S
    while True:
        started_s = time.perf_counter()
        scan = partial(catalog.scan, hint.paths, hint.finished)
        found = await anyio.to_thread.run_sync(scan, limiter=limiter)
        took_s = time.perf_counter() - started_s
        hints.cost_s = catalog.cost_s
        if observer is not None:
            observer.scanned(took_s)
        before, now_s = registry.current, time.time()
        change = None if found.same_as(before) else registry.swap(found)
        if not catalog.unsettled or started_s > patience_s:
            scanned()
        if change is not None:
            # Clients are told first; at the start there are none. It is reported all the same
            # where a stop comes between.
            with anyio.CancelScope(shield=True):
                await anyio.sleep(APART_S if before.entries else 0)
            _report(before, found, change, took_s * 1000)
            if observer is not None:
                ago = partial(_saved_s, catalog.root, found, change, now_s)
                saved_s = await anyio.to_thread.run_sync(ago, limiter=limiter)
                swap = Swap(snapshot=found, change=change, saved_s=saved_s, routine=hint.routine)
                observer.swapped(swap)
        if catalog.current is not kept:
            await anyio.to_thread.run_sync(catalog.keep, limiter=limiter)
            kept = catalog.current
        hint = Hint(paths=catalog.unsettled)
        with anyio.move_on_after(catalog.due_s):
            hint = await hints.wait()


def _saved_s(root: Path, served: Snapshot, change: Change, now_s: float) -> float | None:
    """How long before `now_s` the last of the changed widgets was written."""
    paths = [served.widgets[tool].definition.path for tool in change.added + change.changed]
    written_s = []
    for path in paths[:MANY]:
        with suppress(OSError):
            written_s.append((root / path).stat().st_ctime)
    return now_s - max(written_s) if written_s else None


def _report(before: Snapshot, served: Snapshot, change: Change, duration_ms: float) -> None:
    for fault in change.refused:
        _log.warning(
            "widget.refused",
            path=fault.path,
            at=fault.at,
            line=fault.line,
            column=fault.column,
            code=fault.code,
            problem=fault.problem,
            advice=fault.advice,
        )
    _log.info(
        "catalog.swapped",
        widgets=len(served.widgets),
        added=len(change.added),
        changed=len(change.changed),
        removed=len(change.removed),
        mended=len(change.mended),
        stale=len(served.stale),
        refused=len(served.refused),
        degraded=served.degraded is not None,
        breaking=[str(finding) for finding in breaking_changes(before, served, change)],
        generation=served.generation,
        duration_ms=round(duration_ms, 3),
    )
