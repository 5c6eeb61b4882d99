"""Keep the registry equal to the folder: a hint wakes a survey, which has the last word.

    hint -> survey -> entries -> snapshot -> swap -> one log line

All that can fail, and all that takes time, happens in a worker thread before the
swap, which is one assignment. Knows nothing of clients.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from widgetd.catalog.change import Change, stumbling
from widgetd.catalog.deletion import GRACE_S, Absence
from widgetd.catalog.entries import SIDECAR_SUFFIX, WIDGET_SUFFIX, Make, rebuild, revive
from widgetd.catalog.last_good import Copies
from widgetd.catalog.observer import Observer, Swap
from widgetd.catalog.registry import Registry
from widgetd.catalog.selection import EVERYTHING, Selection
from widgetd.catalog.snapshot import Entry, Snapshot
from widgetd.files.hints import EVERYWHERE, MANY, Hint, Hints
from widgetd.files.persistent_map import differing, missing
from widgetd.files.scan import UNKNOWN, glance
from widgetd.files.stamp import QUIET_MS
from widgetd.widget.sidecar import SUFFIX

SETTLING_S = 1.0
"""How long a start waits for files that are being written."""

APART_S = 0.02
"""How long after a swap the next look is; what is saved meanwhile becomes one swap.
Nor is anything else done meanwhile: clients are being told."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """How a folder's files become widgets.

    Attributes:
        root: The widgets folder.
        make: Source and sidecar to a widget that may be served.
        limit_bytes: A longer file is a fault.
        selection: Which widgets are served at all.
        settings: Whatever else decides what is served, as text; it becomes part of every hash.
        copies: Where the last good content of each file is kept over a restart; None for nowhere.
        quiet_ms: How long a file must not have been written before it is read.
    """

    root: Path
    make: Make
    limit_bytes: int
    selection: Selection = EVERYTHING
    settings: str = ""
    copies: Copies | None = None
    quiet_ms: int = QUIET_MS


class Folder:
    """A folder as it was last seen, and what its files came to."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._survey = UNKNOWN
        self._absence = Absence()
        self._current = Snapshot.empty(selection=workshop.selection, settings=workshop.settings)
        self._copied: Mapping[str, Entry] | None = None

    @property
    def current(self) -> Snapshot:
        """The outcome of the last look."""
        return self._current

    def look(self, paths: Collection[str] = (), finished: Collection[str] = ()) -> Snapshot:
        """The snapshot of the folder as it is now; the same object where nothing changed.

        Args:
            paths: Where something may have changed; none stands for everywhere.
            finished: Those of `paths` that need not be quiet to be served.
        """
        workshop, before = self._workshop, self._survey
        self._survey = glance(
            workshop.root,
            paths,
            known=before,
            suffixes=(WIDGET_SUFFIX, SIDECAR_SUFFIX),
            limit_bytes=workshop.limit_bytes,
            quiet_ms=workshop.quiet_ms,
            finished=finished,
        )
        degraded = self._absence.degraded(self._survey)
        known = self._current.entries
        gone: Collection[str] = ()
        if degraded is None:
            gone = self._absence.gone(self._survey, known, time.monotonic())
        changes = rebuild(known, self._survey, known=before, gone=gone, make=workshop.make)
        if finished and any(entry and entry.fault for entry in changes.values()):
            # A writer may close a file after each part of it; to be refused it must be quiet.
            self._survey = before
            return self.look(paths)
        if workshop.copies is not None:
            changes = {**changes, **dict(revive(changes, known, workshop.copies, workshop.make))}
        if changes or degraded != self._current.degraded:
            self._current = self._current.followed_by(changes, degraded=degraded)
        return self._current

    def keep(self) -> None:
        """Put copies aside of whatever is served as it stands, for the next start."""
        copies, sources = self._workshop.copies, self._survey.sources
        entries, copied = self._current.entries, self._copied
        if copies is None or self._current.degraded or not entries:
            return
        for path in differing(copied or {}, entries):
            if entries[path].fault is None and path in sources:
                copies.put(sources[path], sources.get(path + SUFFIX))
        if copied is None or missing(copied, entries):
            copies.keep_only(entries)
        self._copied = entries

    @property
    def due_s(self) -> float | None:
        """In how many seconds to look again without a hint; None where nothing is pending."""
        if self._survey.unsettled:
            return self._survey.settles_s
        return GRACE_S if self._absence.pending else None

    @property
    def unsettled(self) -> frozenset[str]:
        """The files that were being written when last looked at."""
        return self._survey.unsettled


async def reload(
    workshop: Workshop,
    hints: Hints,
    registry: Registry,
    *,
    looked: Callable[[], None],
    observer: Observer | None = None,
) -> None:
    """Run until cancelled.

    Args:
        workshop: How files become widgets.
        hints: Where to look, and when.
        registry: Where to serve the outcome.
        looked: Called after each look, whether it changed anything or not; for the first time when
            no file was being written, or `SETTLING_S` after the start.
        observer: Is told of each look and each swap.
    """
    folder = Folder(workshop)
    # A limiter of our own: file events wait on the default one.
    limiter = anyio.CapacityLimiter(1)
    hint, kept = EVERYWHERE, folder.current
    patience_s = time.perf_counter() + SETTLING_S
    while True:
        started_s = time.perf_counter()
        look = partial(folder.look, hint.paths, hint.finished)
        found = await anyio.to_thread.run_sync(look, limiter=limiter)
        took_s = time.perf_counter() - started_s
        if observer is not None:
            observer.surveyed(took_s)
        before, now_s = registry.current, time.time()
        change = None if found.same_as(before) else registry.swap(found)
        if not folder.unsettled or started_s > patience_s:
            looked()
        if change is not None:
            # Clients are told first; at the start there are none. It is reported all the same
            # where a stop comes between.
            with anyio.CancelScope(shield=True):
                await anyio.sleep(APART_S if before.entries else 0)
            _report(before, found, change, took_s * 1000)
            if observer is not None:
                ago = partial(_saved_s, workshop.root, found, change, now_s)
                saved_s = await anyio.to_thread.run_sync(ago, limiter=limiter)
                swap = Swap(snapshot=found, change=change, saved_s=saved_s, routine=hint.routine)
                observer.swapped(swap)
        if folder.current is not kept:
            await anyio.to_thread.run_sync(folder.keep, limiter=limiter)
            kept = folder.current
        hint = await _next(hints, folder)


async def _next(hints: Hints, folder: Folder) -> Hint:
    """Where to look next, once there is reason to."""
    due_s = folder.due_s
    with anyio.move_on_after(due_s):
        return await hints.wait()
    return Hint(paths=folder.unsettled)


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
        breaking=[str(finding) for finding in stumbling(before, served, change)],
        generation=served.generation,
        duration_ms=round(duration_ms, 3),
    )
