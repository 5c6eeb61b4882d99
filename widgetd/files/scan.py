"""Say which sources a folder holds now, reading only what may have changed.

A survey looks at everything and has the last word; a glance looks where a hint
pointed. Both are functions of the folder and of what was known before, and both
keep to one rule: what could not be looked at stands as it was known. So neither
an unlistable folder nor a file caught in the middle of a write looks like a
deletion. They refuse to know when to look, and what becomes of a file that is gone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from widgetd.errors import WidgetError
from widgetd.files.folder import Folder, Identity, identity, opened
from widgetd.files.persistent_map import beginning, patched
from widgetd.files.scope import scope
from widgetd.files.source import Source, Unsettled, read
from widgetd.files.stamp import QUIET_MS
from widgetd.files.walk import Listing, walk

T = TypeVar("T")


EMPTY_NS = 1_000_000_000
"""A save in place cuts the file first, and the kernel dates the cut when it is done with it: until
then (300 ms were seen on a busy ext4) the file is empty, and as old as it was."""


def _no_times() -> Mapping[str, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
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
    """

    root: Identity | None
    sources: Mapping[str, Source]
    faults: Mapping[str, WidgetError]
    unsettled: frozenset[str] = frozenset()
    settles_s: float = field(default=0, compare=False)
    failure: OSError | None = None
    empty_since_ns: Mapping[str, int] = field(default_factory=_no_times, compare=False, repr=False)


UNKNOWN = Survey(root=None, sources=MappingProxyType({}), faults=MappingProxyType({}))
"""What is known before the first survey."""


def survey(
    root: str | os.PathLike[str],
    *,
    suffixes: tuple[str, ...],
    limit_bytes: int,
    known: Survey = UNKNOWN,
    quiet_ms: int = QUIET_MS,
) -> Survey:
    """The whole folder as it is now.

    Args:
        root: The folder; a link to one will do.
        suffixes: What the names of served files end with.
        limit_bytes: A longer file is a fault.
        known: The survey or glance before this one; unchanged files are taken from it.
        quiet_ms: How long a file must not have been written; 0 reads everything at once.
    """
    try:
        with opened(root) as folder:
            look = _Look(folder, known, suffixes, limit_bytes, quiet_ms)
            return look.everywhere()
    except OSError as error:
        failure = error.with_traceback(None)
        return replace(known, root=_identity(root), unsettled=frozenset(), failure=failure)


def glance(
    root: str | os.PathLike[str],
    paths: Collection[str],
    *,
    known: Survey,
    suffixes: tuple[str, ...],
    limit_bytes: int,
    quiet_ms: int = QUIET_MS,
    finished: Collection[str] = (),
) -> Survey:
    """The folder as it was known, but for `paths` and what was unsettled, which is looked at now.

    A path that is a folder stands for all that is in it. Where a path may concern more than
    itself (see `scope`), or the folder is another one than it was, this is a survey. What changed
    at the other end of a link shows under the link's name in the next survey.

    Args:
        root: The folder; a link to one will do.
        paths: Relative to `root`, with `/` between parts; none at all stands for everything.
        known: The survey or glance before this one.
        suffixes: What the names of served files end with.
        limit_bytes: A longer file is a fault.
        quiet_ms: How long a file must not have been written; 0 reads at once.
        finished: Those of `paths` whose writers closed them or moved them into place, and which
            need not be quiet. If everything is looked at, they must be all the same.
    """
    try:
        with opened(root) as folder:
            look = _Look(folder, known, suffixes, limit_bytes, quiet_ms, finished=finished)
            if paths and (found := look.at({*paths, *known.unsettled})):
                return found
    except OSError:
        pass  # the survey meets the same error and says so
    return survey(root, suffixes=suffixes, limit_bytes=limit_bytes, known=known, quiet_ms=quiet_ms)


class _Look:
    """A survey in the making."""

    def __init__(
        self,
        folder: Folder,
        known: Survey,
        suffixes: tuple[str, ...],
        limit_bytes: int,
        quiet_ms: int,
        *,
        finished: Collection[str] = (),
    ) -> None:
        self._folder = folder
        self._known = known
        self._suffixes = suffixes
        self._limit_bytes = limit_bytes
        self._quiet_ms = quiet_ms
        self._finished = finished
        self._sources: dict[str, Source] = {}
        self._faults: dict[str, WidgetError] = {}
        self._unsettled: set[str] = set()
        self._settles_s = 0.0
        self._empty_since_ns: dict[str, int] = {}

    def everywhere(self) -> Survey:
        self._take(walk(self._folder, "", self._suffixes))
        return self._survey(lambda known: known)

    def at(self, paths: Collection[str]) -> Survey | None:
        """The known survey but for `paths`; None if it takes a look at everything."""
        known = self._known
        if known.failure or known.root != self._folder.identity:
            return None
        where = scope(self._folder, paths, self._suffixes)
        if where is None:
            return None
        for path in where.files:
            self._read(path)
        for path in where.folders:
            listing = walk(self._folder, path, self._suffixes)
            if listing.linked:
                return None
            self._take(listing)
        return self._survey(where.paths_of)

    def _survey(self, looked_at: Callable[[Mapping[str, object]], Iterable[str]]) -> Survey:
        """What was known, but for what was looked at of it, which is as it was found."""

        def merged(known: Mapping[str, T], found: Mapping[str, T]) -> Mapping[str, T]:
            return patched(known, {**dict.fromkeys(looked_at(known)), **found})

        known = self._known
        return Survey(
            root=self._folder.identity,
            sources=merged(known.sources, self._sources),
            faults=merged(known.faults, self._faults),
            unsettled=frozenset(self._unsettled),
            settles_s=self._settles_s,
            empty_since_ns=merged(known.empty_since_ns, self._empty_since_ns),
        )

    def _take(self, listing: Listing) -> None:
        for path, fault in listing.unlisted.items():
            self._keep_inside(path)
            self._blame(fault)
        known = self._known.sources
        for path, status in listing.files.items():
            source = known.get(path)
            if source and source.stamp and status and source.stamp.marks(status):
                self._sources[path] = source
            else:
                self._read(path)

    def _read(self, path: str) -> None:
        try:
            source = read(
                self._folder,
                path,
                limit_bytes=self._limit_bytes,
                quiet_ms=self._quiet_ms,
                finished=path in self._finished,
            )
            if source.content or self._is_truly_empty(path):
                self._sources[path] = source
            else:
                self._keep(path)
        except FileNotFoundError:
            pass  # deleted since it was listed, or since it was hinted at
        except Unsettled as written:
            self._unsettled.add(path)
            self._settles_s = max(self._settles_s, written.settles_s)
            self._keep(path)
        except WidgetError as fault:
            self._blame(fault)

    def _is_truly_empty(self, path: str) -> bool:
        now_ns = time.monotonic_ns()
        since_ns = self._empty_since_ns[path] = self._known.empty_since_ns.get(path, now_ns)
        return not self._quiet_ms or now_ns - since_ns >= EMPTY_NS

    def _blame(self, fault: WidgetError) -> None:
        path = fault.finding.path
        # A copy, for the one that was raised holds the frames it passed through.
        self._faults[path] = fault.of(path)

    def _keep(self, path: str) -> None:
        if source := self._known.sources.get(path):
            self._sources[path] = source
        if fault := self._known.faults.get(path):
            self._faults[path] = fault

    def _keep_inside(self, path: str) -> None:
        for known in (self._known.sources, self._known.faults):
            for below in beginning(known, f"{path}/"):
                self._keep(below)


def _identity(root: str | os.PathLike[str]) -> Identity | None:
    try:
        return identity(root)
    except OSError:
        return None
