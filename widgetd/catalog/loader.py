"""The files of a folder become widgets, and those a snapshot.

    source and sidecar -> define -> compile -> admit -> draw -> widget -> entry -> snapshot

A file that breaks keeps its last good widget; a file that cannot be judged at this moment
keeps its entry. All of it is done in one thread: compiling holds the interpreter's lock and
is nearly the whole work, so four threads were measured to be no faster.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from widgetd.catalog.crash_journal import CrashJournal
from widgetd.catalog.deletion import GRACE_S, MissingFiles
from widgetd.catalog.snapshot import EVERYTHING, Entry, Selection, Snapshot
from widgetd.checks import findings
from widgetd.checks.renders import undrawable
from widgetd.errors import ConfigError, Finding, WidgetError
from widgetd.files.folder import Folder, bundled_folder, open_folder
from widgetd.files.persistent_map import list_differing, list_missing
from widgetd.files.scan import UNKNOWN, Scan, scan
from widgetd.files.source import Source, read
from widgetd.files.stamp import QUIET_MS
from widgetd.limits import Limits
from widgetd.logs import get_logger
from widgetd.widget.definition import define, digest, redefine
from widgetd.widget.naming import JSX_SUFFIX, WIDGET_SUFFIX
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import CheckJsx, Proof, Widget, compile_widget

if TYPE_CHECKING:
    from widgetd.catalog.last_good import LastGood
    from widgetd.catalog.proof_cache import ProofCache

_log = get_logger()

WIDGET_SUFFIXES = (WIDGET_SUFFIX, JSX_SUFFIX)
SIDECAR_SUFFIXES = tuple(suffix + SUFFIX for suffix in WIDGET_SUFFIXES)

Admit = Callable[[Widget], bytes]
"""A widget to its entry in a list of tools; raises `WidgetError` where it can have none."""

Load = Callable[[Source, Source | None], Widget]
"""Source and sidecar to a servable widget; raises `WidgetError` where there is none."""

ProofLookup = Callable[[str, str], Proof | None]
"""Path and digest of a file to its proof, where somebody else has proven it."""

Changes = Mapping[str, Entry | None]
"""What files came to that came to something else before, by path; None for a file that is gone."""


class Precheck(Protocol):
    """Parses content within limits before this process does; raises `WidgetError` (W1013)."""

    def check_jsx(self, text: str) -> None:
        """Return if `text` is safe to parse as JSX."""

    def check_file(self, source: Source, sidecar: Source | None) -> None:
        """Return if a file and its sidecar are safe to prove."""


class Loader:
    """Makes the widget of a file and its sidecar, proven and admitted.

    Args:
        admit: Makes a widget's entry in a list of tools.
        limits: What one widget may ask for.
        strict: Refuse a template that reads what its schema does not declare.
        proofs: What was proven before; None to prove everything.
        journal: Records which contents are being rendered, and which must not be.
        precheck: Parses unproven JSX, and files of untrusted writers, before this process does.
        keeps_parts: Whether a widget that was proven just now keeps the parts that it was proven
            with, for somebody who looks at it at once; a served one makes them at its first call.
    """

    def __init__(
        self,
        admit: Admit,
        *,
        limits: Limits | None = None,
        strict: bool = False,
        proofs: ProofCache | None = None,
        journal: CrashJournal | None = None,
        precheck: Precheck | None = None,
        keeps_parts: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self._admit = admit
        self._strict = strict
        self._proofs = proofs
        self._journal = journal or CrashJournal()
        self._precheck = precheck
        self._keeps_parts = keeps_parts
        self._lookup: ProofLookup | None = None

    @property
    def known(self) -> int:
        """How many files were proven before and not asked for yet."""
        return 0 if self._proofs is None else len(self._proofs)

    def load_untrusted(self, source: Source, sidecar: Source | None) -> Widget:
        """Return the widget of a file that somebody sent, as `load` does.

        Raises:
            WidgetError: It cannot be served.
        """
        if self._precheck is not None:
            self._precheck.check_file(source, sidecar)
        return self.load(source, sidecar)

    def load(self, source: Source, sidecar: Source | None) -> Widget:
        """Return the widget of a file and its sidecar.

        Raises:
            WidgetError: It cannot be served.
        """
        path, content, proofs = source.path, digest(source, sidecar), self._proofs
        if content in self._journal.suspects:
            self._try_suspect(source, sidecar, content)
        if content in self._journal.refused:
            raise WidgetError(
                Finding(
                    code="W1012",
                    path=path,
                    problem="widgetd was ended while it rendered this content, and its own sample "
                    "ends a process again",
                    advice="change its template; any change has it tried again",
                )
            )
        proof = None if proofs is None else proofs.take(path, content)
        if proof is not None:
            return self._proven(source, sidecar, proof)
        proof = None if self._lookup is None else self._lookup(path, content)
        if proof is not None:
            widget = self._proven(source, sidecar, proof)
        else:
            if self._precheck is not None and path.endswith(JSX_SUFFIX):
                self._precheck.check_jsx(source.content.decode(errors="replace"))
            with self._journal.rendering(content):
                widget = self._prove(source, sidecar, self._precheck)
        if proofs is not None:
            proofs.add(path, content, widget.prove())
        if not self._keeps_parts:
            widget.release()
        return widget

    def _try_suspect(self, source: Source, sidecar: Source | None, content: str) -> None:
        """Have the process with limits decide whether a content is to blame for a crash."""
        if self._precheck is not None:
            try:
                self._precheck.check_file(source, sidecar)
            except WidgetError:
                self._journal.refuse(content)
                return
        self._journal.acquit(content)

    def _proven(self, source: Source, sidecar: Source | None, proof: Proof) -> Widget:
        definition = redefine(source, sidecar, proof.names)
        return Widget(
            definition, limits=self.limits, proof=proof, check_jsx=_check_jsx(self._precheck)
        )

    def prove(self, source: Source, sidecar: Source | None) -> Proof:
        """Return the proof of a widget; for a process that has limits of its own.

        Raises:
            WidgetError: It failed.
        """
        return self._prove(source, sidecar).prove()

    def _prove(
        self, source: Source, sidecar: Source | None, precheck: Precheck | None = None
    ) -> Widget:
        widget = load(source, sidecar, limits=self.limits, check_jsx=_check_jsx(precheck))
        widget.admitted(self._admit(widget))
        if finding := undrawable(widget):
            raise WidgetError(finding).of(source.path)
        if self._strict:
            for finding in findings(widget, strict=True):
                if finding.level == "fault":
                    raise WidgetError(finding)
        return widget

    @contextmanager
    def using_proofs(self, lookup: ProofLookup | None) -> Iterator[None]:
        """Within the block, ask `lookup` before proving anything."""
        self._lookup = lookup
        yield
        self._lookup = None


class Catalog:
    """A folder of widgets as it was last scanned, and what its files came to.

    Args:
        root: The widgets folder.
        load: Source and sidecar to a widget that may be served.
        limit_bytes: A longer file is a fault.
        selection: Which widgets are served at all.
        settings: Whatever else decides what is served, as text; it becomes part of every hash.
        last_good: Where the last good content of each file is kept over a restart; None for
            nowhere.
        quiet_ms: How long a file must not have been written before it is read.

    Attributes:
        cost_s: The processor time that the last look at the whole folder took that found all its
            files as they were.
    """

    def __init__(
        self,
        root: Path,
        load: Load,
        *,
        limit_bytes: int = Limits().file_bytes,
        selection: Selection = EVERYTHING,
        settings: str = "",
        last_good: LastGood | None = None,
        quiet_ms: int = QUIET_MS,
    ) -> None:
        self.root = root
        self._load = load
        self._limit_bytes = limit_bytes
        self._last_good = last_good
        self._quiet_ms = quiet_ms
        self.cost_s = 0.0
        self._scan = UNKNOWN
        self._missing = MissingFiles()
        self._current = Snapshot.empty(selection=selection, settings=settings)
        self._copied: Mapping[str, Entry] | None = None
        # What the disk refused: copies, the oldest attempt first, and to let go of some.
        self._uncopied: dict[str, None] = {}
        self._undropped = False

    @property
    def current(self) -> Snapshot:
        """The outcome of the last scan."""
        return self._current

    def scan(self, paths: Collection[str] = (), finished: Collection[str] = ()) -> Snapshot:
        """The snapshot of the folder as it is now; the same object where nothing changed.

        Args:
            paths: Where something may have changed; none stands for everywhere.
            finished: Those of `paths` that need not be quiet to be served.
        """
        before, known = self._scan, self._current.entries
        began_s = time.thread_time()
        self._scan = scan(
            self.root,
            paths,
            known=before,
            suffixes=WIDGET_SUFFIXES + SIDECAR_SUFFIXES,
            limit_bytes=self._limit_bytes,
            quiet_ms=self._quiet_ms,
            finished=finished,
        )
        if not paths and self._scan.sources is before.sources:
            self.cost_s = time.thread_time() - began_s
        degraded = self._missing.degraded(self._scan)
        gone: Collection[str] = ()
        if degraded is None:
            gone = self._missing.gone(self._scan, known, time.monotonic())
        changes = rebuild(known, self._scan, known=before, gone=gone, load=self._load)
        if finished and any(entry and entry.fault for entry in changes.values()):
            # A writer may close a file after each part of it; to be refused it must be quiet.
            self._scan = before
            return self.scan(paths)
        if self._last_good is not None:
            changes = {**changes, **dict(revive(changes, known, self._last_good, self._load))}
        if changes or degraded != self._current.degraded:
            self._current = self._current.followed_by(changes, degraded=degraded)
        return self._current

    def keep(self) -> None:
        """Keep copies of whatever is served as it stands, for the next start."""
        copies, entries, copied = self._last_good, self._current.entries, self._copied
        if copies is None or self._current.degraded or not entries:
            return
        others = list_differing(copied or {}, entries)
        again = [path for path in self._uncopied if path not in others]
        for path in others:
            self._copy(path, copies)
        # What was refused before is tried until one is refused again: there may be thousands.
        for path in again:
            if not self._copy(path, copies):
                break
        if self._undropped or copied is None or list_missing(copied, entries):
            self._undropped = not copies.keep_only(entries)
        if not (self._uncopied or self._undropped):
            copies.well()
        self._copied = entries

    def _copy(self, path: str, copies: LastGood) -> bool:
        """Keep a copy of the file if it is served as it stands; whether the disk took it."""
        entry, sources = self._current.entries.get(path), self._scan.sources
        self._uncopied.pop(path, None)
        if entry is None or entry.fault is not None or path not in sources:
            return True
        kept = copies.put(sources[path], sources.get(path + SUFFIX))
        if not kept:
            self._uncopied[path] = None
        return kept

    @property
    def due_s(self) -> float | None:
        """In how many seconds to scan again without a hint; None where nothing is pending."""
        if self._scan.unsettled:
            return self._scan.settles_s
        return GRACE_S if self._missing.pending else self._scan.doubted_s

    @property
    def unsettled(self) -> frozenset[str]:
        """The files that were being written when last scanned."""
        return self._scan.unsettled


def rebuild(
    before: Mapping[str, Entry],
    scan: Scan,
    *,
    known: Scan,
    gone: Collection[str],
    load: Load,
) -> Changes:
    """What became of the files that are others than they were.

    Args:
        before: The entries until now, made from `known`.
        scan: The folder as it is.
        known: The folder as it was.
        gone: Paths in `before` that count as deleted.
        load: Called once for each file whose content, or sidecar, is new.
    """
    changes: dict[str, Entry | None] = dict.fromkeys(gone)
    sources, earlier = scan.sources, known.sources
    touched = {*list_differing(earlier, sources), *list_missing(earlier, sources), *known.faults}
    for path in sorted({path.removesuffix(SUFFIX) for path in touched}):
        source = sources.get(path)
        if source is None:
            continue
        sidecar = sources.get(path + SUFFIX)
        entry = before.get(path)
        key = key_of(source, sidecar)
        if entry is None or entry.key != key:
            changes[path] = _entry(entry, key, source, sidecar, load)
    for path, error in scan.faults.items():
        # An unreadable sidecar speaks for its widget.
        widget = path.removesuffix(SUFFIX) if path.endswith(SIDECAR_SUFFIXES) else path
        changes[widget] = _broken(before.get(widget), widget, "", error)
    return {path: entry for path, entry in changes.items() if entry != before.get(path)}


def key_of(source: Source, sidecar: Source | None) -> str:
    """The key of the entry of a file and its sidecar."""
    return source.digest if sidecar is None else f"{source.digest}+{sidecar.digest}"


def _entry(
    entry: Entry | None, key: str, source: Source, sidecar: Source | None, load: Load
) -> Entry:
    try:
        widget = load(source, sidecar)
    except WidgetError as error:
        return _broken(entry, source.path, key, error)
    except Exception as error:  # noqa: BLE001 - a defect that one file finds must not end them all
        _log.exception("widget.crashed", path=source.path)
        problem = f"widgetd itself failed on it ({type(error).__name__})"
        advice = "this is a defect of widgetd; report it with this file"
        defect = Finding(code="W1005", problem=problem, advice=advice, path=source.path)
        return _broken(entry, source.path, key, WidgetError(defect))
    return Entry(path=source.path, key=key, widget=widget)


def _broken(entry: Entry | None, path: str, key: str, error: WidgetError) -> Entry:
    """The entry of a file that cannot be served as it stands; its last good widget stays."""
    widget = entry.widget if entry else None
    return Entry(path=path, key=key, widget=widget, fault=error.finding)


def revive(
    changes: Changes, before: Mapping[str, Entry], copies: LastGood, load: Load
) -> Iterator[tuple[str, Entry]]:
    """Each file that was never good in this process, with the last good widget of an earlier one.

    Args:
        changes: What became of the files that are others than they were.
        before: The entries until now: a file that has one was asked for when it was new.
        copies: Where earlier processes kept what was good.
        load: Source and sidecar to a widget.
    """
    for path, entry in changes.items():
        if entry and entry.widget is None and path not in before and (copy := copies.recall(path)):
            revived = _entry(None, "", *copy, load)
            if revived.widget is not None:
                yield path, replace(entry, widget=revived.widget)


def read_pair(folder: Folder, path: str, *, limit_bytes: int) -> tuple[Source, Source | None]:
    """The file at `path`, and its sidecar if there is one; not waiting for their writers.

    Args:
        folder: Held open by the caller.
        path: Relative to `folder`.
        limit_bytes: A longer file is refused.

    Raises:
        WidgetError: One of them cannot be served (W1001 to W1004).
        FileNotFoundError: There is no such file.
    """
    take = partial(read, folder, limit_bytes=limit_bytes, quiet_ms=0)
    source = take(path)
    try:
        return source, take(path + SUFFIX)
    except FileNotFoundError:
        return source, None


def load(
    source: Source,
    sidecar: Source | None = None,
    *,
    limits: Limits,
    check_jsx: CheckJsx | None = None,
) -> Widget:
    """Return the widget of a file and its sidecar, whether or not it can be listed.

    Raises:
        WidgetError: They make none.
    """
    definition = define(source, sidecar, limits=limits)
    return compile_widget(definition, limits=limits, check_jsx=check_jsx)


def _check_jsx(precheck: Precheck | None) -> CheckJsx | None:
    return None if precheck is None else precheck.check_jsx


def load_widget(path: str | os.PathLike[str], *, limits: Limits | None = None) -> Widget:
    """The widget in the file at `path`, with the sidecar beside it if there is one.

    Raises:
        WidgetError: The file cannot be served, with where and why.
        FileNotFoundError: There is no such file.
    """
    limits = limits or Limits()
    file = Path(path)
    with open_folder(file.parent) as folder:
        source, sidecar = read_pair(folder, file.name, limit_bytes=limits.file_bytes)
    return load(source, sidecar, limits=limits)


def discover_widgets(
    folder: str | os.PathLike[str] | None = None,
    *,
    limits: Limits | None = None,
    refused: Callable[[Finding], None] | None = None,
) -> list[Widget]:
    """Every widget in `folder` and below, in the order of tool names.

    Args:
        folder: The folder; by default that of the widgets that come with widgetd.
        limits: What one widget may ask for.
        refused: Told of each file that cannot be served; by default it is logged.

    Raises:
        ConfigError: There is no such folder.
    """
    limits = limits or Limits()
    folder = bundled_folder() if folder is None else folder
    make = partial(load, limits=limits)
    catalog = Catalog(Path(folder), make, limit_bytes=limits.file_bytes, quiet_ms=0)
    found = catalog.scan()
    if found.degraded is not None:
        problem = f"{os.fspath(folder)}: {found.degraded.problem}"
        raise ConfigError("W0003", problem, "name another folder", exit_code=3)
    for fault in found.faults.values():
        if refused is not None:
            refused(fault)
        else:
            _log.warning("widget.refused", path=fault.path, code=fault.code, problem=str(fault))
    return list(found.widgets.values())


def get_widget(name: str, folder: str | os.PathLike[str] | None = None) -> Widget | None:
    """The widget that is called `name`, as a tool or by its title; None if none is.

    Args:
        name: What it is called.
        folder: Where; by default among the widgets that come with widgetd.
    """
    for widget in discover_widgets(folder):
        if name in (widget.tool, widget.definition.name, widget.definition.title):
            widget.compile()
            return widget
    return None
