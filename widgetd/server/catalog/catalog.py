"""A folder of widgets after its last scan, and the snapshot of its files.

    scan -> changed files -> loader -> entries -> snapshot

A broken file keeps its last good widget. A momentarily unreadable file keeps its entry.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from widgetd.base.errors import ConfigError, Finding, WidgetError
from widgetd.base.files.folder import bundled_folder
from widgetd.base.files.limits import LIMITS as FILE_LIMITS
from widgetd.base.files.persistent_map import list_differing, list_missing, patch
from widgetd.base.files.scan import UNKNOWN, Scan, scan
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM, System
from widgetd.base.text_search import nearest
from widgetd.core.widget.definition import define
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.theme import THEME_FILE
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.deletion import MissingFiles, exists
from widgetd.server.catalog.entries import broken_entry, key_of, load_entry
from widgetd.server.catalog.loader import (
    SERVED_SUFFIXES,
    SIDECAR_SUFFIXES,
    WIDGET_SUFFIXES,
    Load,
    choose,
    load,
)
from widgetd.server.catalog.snapshot import EVERYTHING, Entry, Selection, Snapshot

if TYPE_CHECKING:
    from widgetd.server.catalog.rollback import Rollback
    from widgetd.server.catalog.versions import Pair, Versions

_log = get_logger()

Changes = Mapping[str, Entry | None]
"""Changed entries by path, or None for a deleted file."""


class Catalog:
    """A folder of widgets and its snapshot.

    Args:
        root: The widgets folder.
        load: Makes the widget of a source and its sidecar.
        limit_bytes: Maximum size of a file.
        selection: The widgets to serve.
        settings: All other settings of the served content, as text. Part of both hashes.
        rollback: The earlier generations, with the choice between them. None to keep none. The
            latest has the last good content of each file.
        quiet_ms: Time without a write until a file is read.
        system: Reads the folder.

    Attributes:
        root: The widgets folder.
        cost_s: Processor time of the last scan of the whole folder without changes.
    """

    def __init__(
        self,
        root: Path,
        load: Load,
        *,
        limit_bytes: int = Limits().file_bytes,
        selection: Selection = EVERYTHING,
        settings: str = "",
        rollback: Rollback | None = None,
        quiet_ms: int = FILE_LIMITS.quiet_ms,
        system: System = SYSTEM,
    ) -> None:
        self.root = root
        self._load = load
        self._limit_bytes = limit_bytes
        self._rollback = rollback
        self._quiet_ms = quiet_ms
        self._system = system
        self.cost_s = 0.0
        self._scan = UNKNOWN
        self._examined: Mapping[str, Source] = {}
        self._strays: tuple[Finding, ...] = ()
        self._missing = MissingFiles(system.clock)
        # Keys of last good content by path. The content may come from another path.
        self._recalled: dict[str, str] = {}
        self._current = Snapshot.empty(selection=selection, settings=settings)

    @property
    def current(self) -> Snapshot:
        return self._current

    def scan(
        self,
        paths: Collection[str] = (),
        finished: Collection[str] = (),
        *,
        deleted: bool = False,
        confirmed: bool = False,
    ) -> Snapshot:
        """Scan the folder and return its snapshot. The same object if nothing changed.

        Args:
            paths: Paths with possible changes. None for the whole folder.
            finished: Those of `paths` to read at once, without waiting until they are quiet.
            deleted: Whether an event reported a deletion since the last scan.
            confirmed: Whether an operator confirmed all deletions.
        """
        before, entries = self._scan, self._current.entries
        clock = self._system.clock
        now_s = clock.steady_s()
        # A file is gone only after two scans looked for it, so look for the missing files again.
        named, paths = paths, {*paths, *self._missing.list_due(now_s)} if paths else ()
        began_s = clock.thread_s()
        self._scan = scan(
            self.root,
            paths,
            known=before,
            suffixes=SERVED_SUFFIXES,
            beside=SUFFIX,
            limit_bytes=self._limit_bytes,
            quiet_ms=self._quiet_ms,
            finished=finished,
            system=self._system,
        )
        if not paths and self._scan.sources is before.sources:
            self.cost_s = clock.thread_s() - began_s
        if before is UNKNOWN and self._rollback is not None:
            entries = self._restore_missing(self._rollback.versions)
        changes = rebuild(entries, self._scan, previous=before, load=self._load)
        if finished and any(entry and entry.fault for entry in changes.values()):
            # A writer may close a file after each part of it. A fault counts once it is quiet.
            self._scan = before
            return self.scan(paths)
        if self._rollback is not None:
            changes = {**changes, **dict(self._revive(changes))}
        moved = dict.fromkeys(self._list_moved(changes))
        degraded, gone = self._missing.examine(
            self._scan,
            patch(entries, moved),
            now_s,
            named=named,
            deleted=deleted,
            confirmed=confirmed,
        )
        changes = {**changes, **moved, **dict.fromkeys(gone)}
        if changes or degraded != self._current.degraded:
            self._current = self._current.with_changes(changes, degraded=degraded)
        return self._current

    def choose(self) -> Snapshot:
        if self._rollback is None:
            return self._current
        return self._rollback.choose(self._current, settled=not self._scan.unsettled)

    def copies(self) -> Callable[[], None]:
        """Return a function to store the served files for the next start and for rollbacks.

        It may run during a later scan.
        """
        if self._rollback is None:
            return lambda: None
        return partial(
            self._rollback.recorded.record,
            self._current,
            self._scan.sources,
            held=self._scan.unsettled,
            recalled=dict(self._recalled),
        )

    @property
    def due_s(self) -> float | None:
        """Return the seconds until the next scan without a hint, or None if nothing is pending."""
        if self._scan.unsettled:
            return self._scan.settles_s
        if self._scan.failure is not None:
            return FILE_LIMITS.absent_s
        return self._missing.due_s

    @property
    def unsettled_files(self) -> frozenset[str]:
        return self._scan.unsettled

    @property
    def stray_sidecars(self) -> tuple[Finding, ...]:
        if self._scan.sources is not self._examined:
            self._examined = self._scan.sources
            self._strays = tuple(find_stray_sidecars(self._examined))
        return self._strays

    def _restore_missing(self, versions: Versions) -> Mapping[str, Entry]:
        """Return the entries of files that an earlier process served and that vanished since."""
        # They become known, so the same grace applies as to files that vanish later.
        sources = self._scan.sources
        # Broken files are revived. Those of a folder that could not be listed are missing.
        broken = self._scan.faults.keys() | self._scan.unsettled
        missing = {
            path: key for path, key in versions.list_missing(sources).items() if path not in broken
        }
        if missing:
            # A file that was moved is not missing.
            moved = {key_of(source, sources.get(path + SUFFIX)) for path, source in sources.items()}
            missing = {path: key for path, key in missing.items() if key not in moved}
            entries = (
                load_entry(None, key, *pair, self._load)
                for path, key in missing.items()
                if (pair := versions.recall(path)) is not None
            )
            restored = {entry.path: entry for entry in entries if entry.has_content}
            self._current = self._current.with_changes(restored)
        return self._current.entries

    def _list_moved(self, changes: Changes) -> Iterator[str]:
        for entry in changes.values():
            if entry and entry.widget and not entry.fault:
                owners = self._current.claims.get(entry.widget.tool, ())
                yield from (path for path in owners if not exists(self._scan, path))

    def _revive(self, changes: Changes) -> Iterator[tuple[str, Entry]]:
        """Yield entries with the last good widget of files that are broken or being written."""
        # Files with an earlier entry were looked up when they were new.
        for path in {*changes, *self._scan.unsettled} - self._current.entries.keys():
            entry = changes.get(path)
            copy = self._recall(path, entry)
            if copy is None or (entry and (entry.has_content or entry.key == key_of(*copy))):
                continue
            revived = load_entry(None, key_of(*copy), *copy, self._load)
            if revived.has_content:
                self._recalled[path] = revived.key
                if entry:
                    revived = replace(entry, widget=revived.widget, theme=revived.theme)
                yield path, revived

    def _recall(self, path: str, entry: Entry | None) -> Pair | None:
        if self._rollback is None:
            return None
        versions, entries = self._rollback.versions, self._current.entries
        copy = versions.recall(path)
        if copy is not None:
            return copy
        for earlier in versions.list_missing(self._scan.sources):
            is_same = entry and earlier in entries and entries[earlier].key == entry.key != ""
            if is_same or PurePosixPath(earlier).name == PurePosixPath(path).name:
                source, sidecar = versions.recall(earlier) or (None, None)
                if source is not None:
                    beside = None if sidecar is None else replace(sidecar, path=path + SUFFIX)
                    return replace(source, path=path), beside
        return None


def find_stray_sidecars(paths: Collection[str]) -> Iterator[Finding]:
    widgets: tuple[str, ...] | None = None
    for path in paths:
        stem = path.removesuffix(SUFFIX)
        if path.endswith(SIDECAR_SUFFIXES) and stem not in paths:
            if widgets is None:
                widgets = tuple(
                    name
                    for name in paths
                    if name.endswith(WIDGET_SUFFIXES) and name + SUFFIX not in paths
                )
            near = nearest(stem, widgets)
            yield Finding(
                code="W1120",
                path=path,
                problem=f"there is no widget '{stem}' that this could be about",
                advice=f"did you mean '{near}{SUFFIX}'?" if near else "name it as its widget",
            )


def rebuild(
    before: Mapping[str, Entry],
    scan: Scan,
    *,
    previous: Scan,
    load: Load,
) -> Changes:
    """Return the entries of the files that changed between two scans.

    Args:
        before: The entries of the previous scan.
        scan: The folder as it is.
        previous: The folder as it was.
        load: Called once for each file with new content or a new sidecar.
    """
    changes: dict[str, Entry | None] = {}
    sources, earlier = scan.sources, previous.sources
    touched = {*list_differing(earlier, sources), *list_missing(earlier, sources), *previous.faults}
    for path in sorted({_owner_of(path) for path in touched}):
        source = sources.get(path)
        if source is None or not _is_served(path):
            continue
        sidecar = sources.get(path + SUFFIX)
        entry = before.get(path)
        key = key_of(source, sidecar)
        if entry is None or entry.key != key:
            changes[path] = load_entry(entry, key, source, sidecar, load)
    for path, error in scan.faults.items():
        # The fault of an unreadable sidecar counts for its widget.
        if _is_served(owner := _owner_of(path)):
            changes[owner] = broken_entry(before.get(owner), owner, "", error)
    return {path: entry for path, entry in changes.items() if entry != before.get(path)}


def _owner_of(path: str) -> str:
    """Return the file of a sidecar. Any other file is its own owner."""
    return path.removesuffix(SUFFIX) if path.endswith(SIDECAR_SUFFIXES) else path


def _is_served(path: str) -> bool:
    # Themes below the folder itself are ignored.
    return path == THEME_FILE or not path.endswith(THEME_FILE)


def discover_widgets(
    widgets_dir: str | os.PathLike[str] | None = None,
    *,
    limits: Limits | None = None,
    refused: Callable[[Finding], None] | None = None,
) -> list[Widget]:
    """Return every widget in `widgets_dir` and below, in the order of tool names.

    Args:
        widgets_dir: The folder. By default that of the bundled widgets.
        limits: Limits of one widget.
        refused: Called with the fault of each refused file. By default it is logged.

    Raises:
        ConfigError: There is no such folder.
    """
    snapshot = _scan_once(widgets_dir, load, limits or Limits())
    for fault in snapshot.faults.values():
        if refused is not None:
            refused(fault)
        else:
            _log.warning("widget.refused", path=fault.path, code=fault.code, problem=str(fault))
    return list(snapshot.widgets.values())


def get_widget(name: str, widgets_dir: str | os.PathLike[str] | None = None) -> Widget | None:
    """Return the widget named `name`, or None. Compile no other.

    Raises:
        ConfigError: There is no such folder.
        WidgetError: No file with this name can be served. The finding is that of the first.
    """
    snapshot = _scan_once(widgets_dir, _load_uncompiled, Limits())
    fault: WidgetError | None = None
    for tool, owner in snapshot.widgets.items():
        if name not in (tool, owner.definition.name, owner.definition.title):
            continue
        # If a file cannot be compiled, the next claimant gets its tool's name.
        for path in snapshot.claims[tool]:
            widget = snapshot.entries[path].widget
            try:
                if widget is not None:
                    widget.prove()
                    return widget
            except WidgetError as error:
                fault = fault or error
    if fault is not None:
        raise fault
    return None


get_widget_by_name = get_widget
"""The name in mcp-chatkit-widget."""


def _load_uncompiled(source: Source, sidecar: Source | None, *, limits: Limits) -> Widget:
    return Widget(define(source, sidecar, limits=limits), choose=choose, limits=limits)


def _scan_once(
    folder: str | os.PathLike[str] | None, make: Callable[..., Widget], limits: Limits
) -> Snapshot:
    """Return the snapshot of a folder, which must exist. None stands for the bundled widgets."""
    folder = bundled_folder() if folder is None else folder
    load_limited = partial(make, limits=limits)
    snapshot = Catalog(Path(folder), load_limited, limit_bytes=limits.file_bytes, quiet_ms=0).scan()
    if snapshot.degraded is not None:
        problem = f"{os.fspath(folder)}: {snapshot.degraded.problem}"
        raise ConfigError("W0003", problem, "name another folder", exit_code=3)
    for widget in (entry.widget for entry in snapshot.entries.values()):
        if widget is not None:
            widget.folder = Path(folder)
    return snapshot
