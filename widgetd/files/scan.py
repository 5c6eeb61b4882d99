"""Scans: the sources that a folder holds now, reading only what may have changed.

A scan of everything is authoritative; a partial one looks where a hint pointed. Both are functions
of the folder and of the scan before, and keep one rule: what could not be read stays as it was
known. So neither an unlistable folder nor a file caught in the middle of a write looks like a
deletion.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from types import MappingProxyType
from typing import TypeVar

from widgetd.errors import WidgetError
from widgetd.files.folder import Folder, Identity, identify, open_folder
from widgetd.files.limits import LIMITS
from widgetd.files.persistent_map import list_below, patch
from widgetd.files.source import Source, Unsettled, read
from widgetd.files.stamp import Stamp, stamp_of
from widgetd.files.walk import HIDDEN, Listing, walk

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The state of a folder.

    Attributes:
        root: Identity of the folder; None if there was none.
        sources: Files by path, in order: read, or known to be unchanged.
        faults: Fault by path, in order, of files and folders that could not be read.
        unsettled: Paths written too recently to be read. Until they are, their last known source or
            fault stands.
        settles_s: Seconds until those can be read.
        failure: Why the folder could not be listed; everything stands as it was known.
        empty_since_ns: By path, the monotonic time at which a file was first found empty. For
            `empty_ns` its last known source stands.
        empty_folders: Stamps of folders without files of interest, by path.
    """

    root: Identity | None
    sources: Mapping[str, Source]
    faults: Mapping[str, WidgetError]
    unsettled: frozenset[str] = frozenset()
    settles_s: float = field(default=0, compare=False)
    failure: OSError | None = None
    empty_since_ns: Mapping[str, int] = field(
        default_factory=lambda: MappingProxyType({}), compare=False, repr=False
    )

    empty_folders: Mapping[str, Stamp] = field(
        default_factory=lambda: MappingProxyType({}), compare=False, repr=False
    )

    @property
    def doubted_s(self) -> float | None:
        """Return the seconds until a file found empty is believed to be empty; None without one."""
        now_ns = time.monotonic_ns()
        ages_ns = [now_ns - since_ns for since_ns in self.empty_since_ns.values()]
        doubted_ns = [age_ns for age_ns in ages_ns if age_ns < LIMITS.empty_ns]
        return (LIMITS.empty_ns - max(doubted_ns)) / 1e9 if doubted_ns else None


UNKNOWN = Scan(root=None, sources=MappingProxyType({}), faults=MappingProxyType({}))
"""The state before the first scan."""


def scan(
    root: str | os.PathLike[str],
    paths: Collection[str] = (),
    *,
    suffixes: tuple[str, ...],
    limit_bytes: int,
    known: Scan = UNKNOWN,
    quiet_ms: int = LIMITS.quiet_ms,
    finished: Collection[str] = (),
) -> Scan:
    """Scan the folder, or with `paths` only those and what was unsettled.

    A path that is a folder stands for everything in it. Where a path may concern more than itself
    (see `_scope`), or the folder is another one than before, everything is scanned. A change at the
    other end of a link shows under the link's name with the next scan of everything.

    Args:
        root: The folder, or a link to it.
        paths: Relative to `root`, with `/` between parts; empty for everything.
        suffixes: Endings of the names of served files.
        limit_bytes: A longer file is a fault.
        known: The scan before; unchanged files are taken from it.
        quiet_ms: Time since its last write that a file must have; 0 reads at once.
        finished: Those of `paths` whose writers closed them or moved them into place, and which
            need not be quiet, also if everything is scanned.
    """
    scanner = partial(
        _Scanner, known=known, suffixes=suffixes, limit_bytes=limit_bytes, quiet_ms=quiet_ms
    )
    if paths:
        # The scan of everything meets the same error, and reports it.
        with suppress(OSError), open_folder(root) as folder:
            partly = scanner(folder=folder, finished=finished)
            if found := partly.at({*paths, *known.unsettled}):
                return found
    try:
        with open_folder(root) as folder:
            return scanner(folder=folder).everywhere()
    except OSError as error:
        failure, which = error.with_traceback(None), None
        with suppress(OSError):
            which = identify(root)
        return replace(known, root=which, unsettled=frozenset(), failure=failure)


@dataclass(slots=True, kw_only=True, eq=False)
class _Scanner:
    folder: Folder
    known: Scan
    suffixes: tuple[str, ...]
    limit_bytes: int
    quiet_ms: int
    finished: Collection[str] = ()
    sources: dict[str, Source] = field(default_factory=dict)
    faults: dict[str, WidgetError] = field(default_factory=dict)
    unsettled: set[str] = field(default_factory=set)
    settles_s: float = 0.0
    empty_since_ns: dict[str, int] = field(default_factory=dict)
    empty_folders: dict[str, Stamp] = field(default_factory=dict)

    def everywhere(self) -> Scan:
        self._take(walk(self.folder, "", self.suffixes, self._known_empty()))
        return self._scan(lambda known: known)

    def at(self, paths: Collection[str]) -> Scan | None:
        """Scan only `paths`; None if that takes a scan of everything."""
        known = self.known
        if known.failure or known.root != self.folder.identity:
            return None
        places = _scope(self.folder, paths, self.suffixes)
        if places is None:
            return None
        files, folders = places
        for path in files:
            self._read(path)
        for path in folders:
            listing = walk(self.folder, path, self.suffixes, self._known_empty())
            if listing.linked:
                return None
            self._take(listing)

        def looked_at(known: Mapping[str, object]) -> Iterator[str]:
            yield from files | folders
            # What was known as a file had nothing in it.
            for path in files | folders:
                if path not in known:
                    yield from list_below(known, f"{path}/")

        return self._scan(looked_at)

    def _scan(self, looked_at: Callable[[Mapping[str, object]], Iterable[str]]) -> Scan:
        """Merge what was found over what was known of the places looked at."""

        def merge(known: Mapping[str, T], found: Mapping[str, T]) -> Mapping[str, T]:
            return patch(known, {**dict.fromkeys(looked_at(known)), **found})

        known = self.known
        return Scan(
            root=self.folder.identity,
            sources=merge(known.sources, self.sources),
            faults=merge(known.faults, self.faults),
            unsettled=frozenset(self.unsettled),
            settles_s=self.settles_s,
            empty_since_ns=merge(known.empty_since_ns, self.empty_since_ns),
            empty_folders=merge(known.empty_folders, self.empty_folders),
        )

    def _known_empty(self) -> Mapping[str, Stamp]:
        is_same = self.known.root == self.folder.identity
        return self.known.empty_folders if is_same else {}

    def _take(self, listing: Listing) -> None:
        known = self.known
        self.empty_folders.update(listing.empty)
        for path, fault in listing.unlisted.items():
            for entries in (known.sources, known.faults):
                for below in list_below(entries, f"{path}/"):
                    self._keep(below)
            self._blame(fault)
        known_at = known.sources.get
        for path, status in listing.files.items():
            source = known_at(path)
            if source and status and source.stamp == stamp_of(status):
                self.sources[path] = source
            else:
                self._read(path)

    def _read(self, path: str) -> None:
        try:
            source = read(
                self.folder,
                path,
                limit_bytes=self.limit_bytes,
                quiet_ms=self.quiet_ms,
                finished=path in self.finished,
            )
            if source.content or self._is_truly_empty(path):
                self.sources[path] = source
            else:
                self._keep(path)
        except FileNotFoundError:
            pass  # deleted since it was listed, or since it was hinted at
        except Unsettled as written:
            self.unsettled.add(path)
            self.settles_s = max(self.settles_s, written.settles_s)
            self._keep(path)
        except WidgetError as fault:
            self._blame(fault)

    def _is_truly_empty(self, path: str) -> bool:
        now_ns = time.monotonic_ns()
        since_ns = self.empty_since_ns[path] = self.known.empty_since_ns.get(path, now_ns)
        return not self.quiet_ms or now_ns - since_ns >= LIMITS.empty_ns

    def _blame(self, fault: WidgetError) -> None:
        path = fault.finding.path
        # A copy: the one that was raised holds the frames that it passed through.
        self.faults[path] = fault.of(path)

    def _keep(self, path: str) -> None:
        if source := self.known.sources.get(path):
            self.sources[path] = source
        if fault := self.known.faults.get(path):
            self.faults[path] = fault


def _scope(
    folder: Folder, paths: Iterable[str], suffixes: tuple[str, ...]
) -> tuple[set[str], set[str]] | None:
    """Return the files and folders that `paths` may have changed; None for everywhere.

    A file need not exist, and a folder may be none any more.

    A hint repeats the path of an event. That is exact for plain files and folders; but a link may
    change what appears under other names, and a change below a hidden folder may appear wherever a
    link leads there (a ConfigMap swaps `..data`, and all its files change).
    """

    def mode_of(path: str) -> int:
        try:
            return os.stat(path, dir_fd=folder.descriptor, follow_symlinks=False).st_mode
        except OSError:
            return 0

    files, folders = set[str](), set[str]()
    for path in paths:
        served, mode, parts = path.endswith(suffixes), mode_of(path), path.split("/")
        parents = accumulate(parts[:-1], "{}/{}".format)
        under_link = any(stat.S_ISLNK(mode_of(parent)) for parent in parents)
        if any(part.startswith(HIDDEN) for part in parts):
            if served or path.startswith("..") or not (mode == 0 or stat.S_ISREG(mode)):
                return None
        elif under_link or (stat.S_ISLNK(mode) and not served):
            return None
        elif served and not stat.S_ISDIR(mode):
            files.add(path)
        else:
            folders.add(path)
    return files, folders
