"""Say which sources a folder holds now, reading only what may have changed.

A scan of everything has the last word; a partial one looks where a hint pointed. Both
are functions of the folder and of what was known before, and keep to one rule: what
could not be looked at stands as it was known. So neither an unlistable folder nor a file
caught in the middle of a write looks like a deletion.
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
from widgetd.files.folder import Folder, Identity, identity, opened
from widgetd.files.persistent_map import beginning, patched
from widgetd.files.source import Source, Unsettled, read
from widgetd.files.stamp import QUIET_MS, Stamp
from widgetd.files.walk import HIDDEN, Listing, walk

T = TypeVar("T")


EMPTY_NS = 1_000_000_000
"""A save in place cuts the file first, and the kernel dates the cut when it is done with it: until
then (300 ms were seen on a busy ext4) the file is empty, and as old as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A folder as it was found.

    Attributes:
        root: Which folder it was; None where there was none.
        sources: By path, in sorted order, what was read or is known to be unchanged.
        faults: By path, in sorted order, why a file or a folder could not be read.
        unsettled: Written too lately to be read. Until they are, the source or fault that was
            known before stands, if there was one.
        settles_s: When to look at those again.
        failure: Why the folder could not be listed; everything stands as it was known.
        empty_since_ns: By path, the monotonic clock's reading when a file was first found empty.
            For `EMPTY_NS` it is not believed to be, and stands as it was known.
        empty_folders: By path, the stamps of folders that held nothing of interest.
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
        """How long until a file that was found empty is believed to be; None where none is."""
        now_ns = time.monotonic_ns()
        ages_ns = [now_ns - since_ns for since_ns in self.empty_since_ns.values()]
        doubted_ns = [age_ns for age_ns in ages_ns if age_ns < EMPTY_NS]
        return (EMPTY_NS - max(doubted_ns)) / 1e9 if doubted_ns else None


UNKNOWN = Scan(root=None, sources=MappingProxyType({}), faults=MappingProxyType({}))
"""What is known before the first scan."""


def scan(
    root: str | os.PathLike[str],
    paths: Collection[str] = (),
    *,
    suffixes: tuple[str, ...],
    limit_bytes: int,
    known: Scan = UNKNOWN,
    quiet_ms: int = QUIET_MS,
    finished: Collection[str] = (),
) -> Scan:
    """The folder as it is now; with `paths` as it was known, but for those and what was unsettled.

    A path that is a folder stands for all that is in it. Where a path may concern more than
    itself (see `_scope`), or the folder is another one than it was, everything is looked at. What
    changed at the other end of a link shows under the link's name when everything is next.

    Args:
        root: The folder; a link to one will do.
        paths: Relative to `root`, with `/` between parts; none at all stands for everything.
        suffixes: What the names of served files end with.
        limit_bytes: A longer file is a fault.
        known: The scan before this one; unchanged files are taken from it.
        quiet_ms: How long a file must not have been written; 0 reads at once.
        finished: Those of `paths` whose writers closed them or moved them into place, and which
            need not be quiet. If everything is looked at, they must be all the same.
    """
    scanner = partial(
        _Scanner, known=known, suffixes=suffixes, limit_bytes=limit_bytes, quiet_ms=quiet_ms
    )
    if paths:
        # An error here the scan of everything meets too, and says so.
        with suppress(OSError), opened(root) as folder:
            partly = scanner(folder=folder, finished=finished)
            if found := partly.at({*paths, *known.unsettled}):
                return found
    try:
        with opened(root) as folder:
            return scanner(folder=folder).everywhere()
    except OSError as error:
        failure, which = error.with_traceback(None), None
        with suppress(OSError):
            which = identity(root)
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
        """The known scan but for `paths`; None if it takes a look at everything."""
        known = self.known
        if known.failure or known.root != self.folder.identity:
            return None
        where = _scope(self.folder, paths, self.suffixes)
        if where is None:
            return None
        for path in where.files:
            self._read(path)
        for path in where.folders:
            listing = walk(self.folder, path, self.suffixes, self._known_empty())
            if listing.linked:
                return None
            self._take(listing)
        return self._scan(where.paths_of)

    def _scan(self, looked_at: Callable[[Mapping[str, object]], Iterable[str]]) -> Scan:
        """What was known, but for what was looked at of it, which is as it was found."""

        def merged(known: Mapping[str, T], found: Mapping[str, T]) -> Mapping[str, T]:
            return patched(known, {**dict.fromkeys(looked_at(known)), **found})

        known = self.known
        return Scan(
            root=self.folder.identity,
            sources=merged(known.sources, self.sources),
            faults=merged(known.faults, self.faults),
            unsettled=frozenset(self.unsettled),
            settles_s=self.settles_s,
            empty_since_ns=merged(known.empty_since_ns, self.empty_since_ns),
            empty_folders=merged(known.empty_folders, self.empty_folders),
        )

    def _known_empty(self) -> Mapping[str, Stamp]:
        is_same = self.known.root == self.folder.identity
        return self.known.empty_folders if is_same else {}

    def _take(self, listing: Listing) -> None:
        known = self.known
        self.empty_folders.update(listing.empty)
        for path, fault in listing.unlisted.items():
            for entries in (known.sources, known.faults):
                for below in beginning(entries, f"{path}/"):
                    self._keep(below)
            self._blame(fault)
        known_at = known.sources.get
        for path, status in listing.files.items():
            source = known_at(path)
            if source and source.stamp and status and source.stamp.marks(status):
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
        return not self.quiet_ms or now_ns - since_ns >= EMPTY_NS

    def _blame(self, fault: WidgetError) -> None:
        path = fault.finding.path
        # A copy, for the one that was raised holds the frames it passed through.
        self.faults[path] = fault.of(path)

    def _keep(self, path: str) -> None:
        if source := self.known.sources.get(path):
            self.sources[path] = source
        if fault := self.known.faults.get(path):
            self.faults[path] = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """Where to look.

    Attributes:
        files: To be read, if they are there.
        folders: To be walked, if they are there and folders; else nothing is in them any more.
    """

    files: frozenset[str]
    folders: frozenset[str]

    def paths_of(self, known: Mapping[str, object]) -> Iterator[str]:
        """The paths looked at, and those of `known` that lay in one when that was a folder."""
        looked_at = self.files | self.folders
        yield from looked_at
        # What was known as a file had nothing in it.
        for path in looked_at:
            if path not in known:
                yield from beginning(known, f"{path}/")


def _scope(folder: Folder, paths: Iterable[str], suffixes: tuple[str, ...]) -> _Scope | None:
    """Where to look for what `paths` may have changed; None for everywhere.

    A hint names what an event named. That is exact for plain files and folders; but a link may
    change what is seen under other names, and a change below a hidden folder may show wherever a
    link leads there (a ConfigMap swaps `..data`, and all its files change).
    """

    def mode_of(path: str) -> int:
        try:
            return os.stat(path, dir_fd=folder.descriptor, follow_symlinks=False).st_mode
        except OSError:
            return 0

    files, folders = set(), set()
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
    return _Scope(files=frozenset(files), folders=frozenset(folders))
