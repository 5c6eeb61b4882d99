"""Scans: the sources that a folder holds now, reading only what may have changed.

A scan of everything is authoritative; a partial one looks where a hint pointed. Both are functions
of the folder and of the scan before, and keep one rule: what could not be read stays as it was
known. So neither an unlistable folder nor a file caught in the middle of a write looks like a
deletion.

A file and its sidecar are one unit. Both halves are read, and then compared with the disk once
more, so that they stood there at one moment; until that succeeds, both stay as they were known.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from types import MappingProxyType
from typing import TypeVar

from widgetd.base.errors import WidgetError
from widgetd.base.files.folder import Folder, Identity, identify, open_folder
from widgetd.base.files.limits import LIMITS
from widgetd.base.files.persistent_map import list_below, list_missing, patch
from widgetd.base.files.source import Source, Unsettled, read
from widgetd.base.files.stamp import Stamp, stamp_of
from widgetd.base.files.walk import HIDDEN, Listing, walk
from widgetd.base.system import SYSTEM, System

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The state of a folder.

    Attributes:
        root: Identity of the folder; None if there was none.
        sources: Files by path, in order: read, or known to be unchanged.
        faults: Fault by path, in order, of files and folders that could not be read.
        unsettled: Paths that are being written, or whose other half is. Until both can be read,
            their last known source or fault stands.
        settles_s: Seconds until some of those can be read.
        failure: Why the folder could not be listed; everything stands as it was known.
        empty_since_ns: By path, the monotonic time at which a file was first found empty. For
            `empty_ns` it is unsettled.
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


UNKNOWN = Scan(root=None, sources=MappingProxyType({}), faults=MappingProxyType({}))
"""The state before the first scan."""


def scan(
    root: str | os.PathLike[str],
    paths: Collection[str] = (),
    *,
    suffixes: tuple[str, ...],
    beside: str,
    limit_bytes: int,
    known: Scan = UNKNOWN,
    quiet_ms: int = LIMITS.quiet_ms,
    finished: Collection[str] = (),
    system: System = SYSTEM,
) -> Scan:
    """Scan the folder, or with `paths` only those and what was unsettled.

    A path that is a folder stands for everything in it. Where a path may concern more than itself
    (see `_scope`), or the folder is another one than before, everything is scanned. A change at the
    other end of a link shows under the link's name with the next scan of everything.

    Args:
        root: The folder, or a link to it.
        paths: Relative to `root`, with `/` between parts; empty for everything.
        suffixes: Endings of the names of served files.
        beside: Added to such a name by that of its sidecar.
        limit_bytes: A longer file is a fault.
        known: The scan before; unchanged files are taken from it.
        quiet_ms: Time since its last write that a file must have; 0 reads at once.
        finished: Those of `paths` whose writers closed them or moved them into place, and which
            need not be quiet, also if everything is scanned.
        system: Reads the folder.
    """
    scanner = partial(
        _Scanner,
        known=known,
        suffixes=suffixes + tuple(suffix + beside for suffix in suffixes),
        beside=beside,
        limit_bytes=limit_bytes,
        quiet_ms=quiet_ms,
    )
    if paths:
        # The scan of everything meets the same error, and reports it.
        with suppress(OSError), open_folder(root, system) as folder:
            partly = scanner(folder=folder, finished=finished)
            if merged := partly.at({*paths, *known.unsettled}):
                return merged
    try:
        with open_folder(root, system) as folder:
            return scanner(folder=folder).everywhere()
    except OSError as error:
        failure, which = error.with_traceback(None), None
        with suppress(OSError):
            which = identify(root, system)
        return replace(known, root=which, unsettled=frozenset(), failure=failure)


@dataclass(slots=True, kw_only=True, eq=False)
class _Scanner:
    folder: Folder
    known: Scan
    suffixes: tuple[str, ...]
    beside: str
    limit_bytes: int
    quiet_ms: int
    finished: Collection[str] = ()
    sources: dict[str, Source] = field(default_factory=dict)
    faults: dict[str, WidgetError] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    unsettled: set[str] = field(default_factory=set)
    settles_s: list[float] = field(default_factory=list)
    empty_since_ns: dict[str, int] = field(default_factory=dict)
    empty_folders: dict[str, Stamp] = field(default_factory=dict)

    def everywhere(self) -> Scan:
        self._take(walk(self.folder, "", self.suffixes, self._known_empty()))
        self._settle_pairs(list_missing(self.known.sources, self.sources))
        return self._scan(lambda entries: entries)

    def at(self, paths: Collection[str]) -> Scan | None:
        before = self.known
        if before.failure or before.root != self.folder.identity:
            return None
        halves = {self._other_half(path) for path in paths if path.endswith(self.suffixes)}
        also = {path for path in halves if self._is_present(path)}
        places = _scope(self.folder, {*paths, *also}, self.suffixes)
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

        def looked_at(before: Mapping[str, object]) -> Iterator[str]:
            yield from files | folders
            # What was known as a file had nothing in it.
            for path in files | folders:
                if path not in before:
                    yield from list_below(before, f"{path}/")

        self._settle_pairs(path for path in looked_at(before.sources) if path not in self.sources)
        return self._scan(looked_at)

    def _scan(self, looked_at: Callable[[Mapping[str, object]], Iterable[str]]) -> Scan:
        """Merge what was found over what was known of the places looked at."""

        def merge(before: Mapping[str, T], entries: Mapping[str, T]) -> Mapping[str, T]:
            return patch(before, {**dict.fromkeys(looked_at(before)), **entries})

        previous = self.known
        return Scan(
            root=self.folder.identity,
            sources=merge(previous.sources, self.sources),
            faults=merge(previous.faults, self.faults),
            unsettled=frozenset(self.unsettled),
            settles_s=self._settle_time_s(),
            empty_since_ns=merge(previous.empty_since_ns, self.empty_since_ns),
            empty_folders=merge(previous.empty_folders, self.empty_folders),
        )

    def _settle_time_s(self) -> float:
        # A burst of writes is awaited as a whole, a doubtful file by itself.
        quiet = [seconds for seconds in self.settles_s if seconds <= self.quiet_ms / 1000]
        return max(quiet) if quiet else min(self.settles_s, default=0)

    def _known_empty(self) -> Mapping[str, Stamp]:
        is_same = self.known.root == self.folder.identity
        return self.known.empty_folders if is_same else {}

    def _take(self, listing: Listing) -> None:
        before = self.known
        self.empty_folders.update(listing.empty)
        for path, fault in listing.unlisted.items():
            for entries in (before.sources, before.faults):
                for below in list_below(entries, f"{path}/"):
                    self._keep(below)
            self._blame(fault)
        known_at = before.sources.get
        for path, status in listing.files.items():
            source = known_at(path)
            if source and status and source.stamp == stamp_of(status):
                self.sources[path] = source
            else:
                self._read(path)

    def _read(self, path: str) -> None:
        self.touched.add(path)
        try:
            source = read(
                self.folder,
                path,
                limit_bytes=self.limit_bytes,
                quiet_ms=self.quiet_ms,
                finished=path in self.finished,
            )
            if doubted_s := 0.0 if source.content else self._doubt_s(path):
                self._defer(path, doubted_s)
            else:
                self.sources[path] = source
        except FileNotFoundError:
            pass  # deleted since it was listed, or since it was hinted at
        except Unsettled as written:
            self._defer(path, written.settles_s)
        except WidgetError as fault:
            self._blame(fault)

    def _defer(self, path: str, settles_s: float) -> None:
        self.unsettled.add(path)
        self.settles_s.append(settles_s)

    def _doubt_s(self, path: str) -> float:
        """Return the seconds for which a file found empty is not yet believed to be empty."""
        before = self.known.sources.get(path)
        if not self.quiet_ms or (before and not before.content):
            return 0.0
        now_ns = self.folder.system.clock.steady_ns()
        since_ns = self.empty_since_ns[path] = self.known.empty_since_ns.get(path, now_ns)
        return max(LIMITS.empty_ns - (now_ns - since_ns), 0) / 1e9

    def _is_present(self, path: str) -> bool:
        is_known = path in self.known.sources or path in self.known.faults
        return is_known or self._is_file(path)

    def _other_half(self, path: str) -> str:
        return path.removesuffix(self.beside) if path.endswith(self.beside) else path + self.beside

    def _settle_pairs(self, missing: Iterable[str]) -> None:
        """Keep the known content of both halves unless the disk had both at one moment.

        Args:
            missing: Known paths that were looked at and are not there.
        """
        for path in {path.removesuffix(self.beside) for path in (*self.touched, *missing)}:
            halves = path, path + self.beside
            is_unsettled = not self.unsettled.isdisjoint(halves)
            if not is_unsettled and self._is_of_one_moment(*halves):
                continue
            if not is_unsettled:
                self.settles_s.append(self.quiet_ms / 1000)
            for half in halves:
                source = self.sources.pop(half, None)
                self.faults.pop(half, None)
                self._keep(half)
                if source or half in self.sources:
                    self.unsettled.add(half)

    def _is_of_one_moment(self, path: str, sidecar_path: str) -> bool:
        """Return whether the disk had both halves, as they were read, at one moment.

        The order proves it: the file is as it was before the sidecar was looked at, so it was also
        there with it.
        """
        source, sidecar = self.sources.get(path), self.sources.get(sidecar_path)
        if source is None or not self.faults.keys().isdisjoint((path, sidecar_path)):
            return True  # there is no pair to serve
        is_as_read = self._is_unchanged(sidecar) if sidecar else not self._is_file(sidecar_path)
        return is_as_read and self._is_unchanged(source)

    def _is_file(self, path: str) -> bool:
        try:
            return not stat.S_ISDIR(self.folder.stat(path).st_mode)
        except OSError as error:
            return error.errno not in (errno.ENOENT, errno.ENAMETOOLONG)

    def _is_unchanged(self, source: Source) -> bool:
        with suppress(OSError, Unsettled, WidgetError):
            status = self.folder.stat(source.path)
            if source.stamp == stamp_of(status):
                return True
            # The stamp tells nothing of a file written just now, nor on some network file systems.
            read_at = partial(read, self.folder, source.path, limit_bytes=self.limit_bytes)
            return read_at(quiet_ms=0).digest == source.digest
        return False

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
            return folder.system.disk.stat(
                path, dir_fd=folder.descriptor, follow_symlinks=False
            ).st_mode
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
