"""Distinguish deleted files from files missing for a moment.

Editors, rsync and ConfigMaps remove a file and put it back within milliseconds. So a file counts as
deleted only after two scans, 250 ms apart, have looked for it and did not find it.

A mount may vanish as a whole, and come back empty. So files get a minute to come back if their
folder was mounted again or replaced by an empty one, or if several vanish without an event. An
operator can confirm their deletion. By the same rules a start looks for the files of the state
folder.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import accumulate

from widgetd.base.errors import Finding
from widgetd.base.files.folder import Identity
from widgetd.base.files.persistent_map import key_set, list_missing
from widgetd.base.files.scan import Scan
from widgetd.base.system import SYSTEM, Clock
from widgetd.server.catalog.limits import LIMITS


class MissingFiles:
    """The missing files with their deadlines, and the identity of the watched folder."""

    def __init__(self, clock: Clock = SYSTEM.clock) -> None:
        self._clock = clock
        self._root: Identity | None = None
        self._compared: tuple[object, object] | None = None
        self._lacking: Collection[str] = ()
        self._until_s: dict[str, float] = {}
        self._doubt = ""
        self._doubted: set[str] = set()

    @property
    def due_s(self) -> float | None:
        """Return the seconds until the next missing file counts as deleted, or None without one."""
        return (
            max(min(self._until_s.values()) - self._clock.steady_s(), 0) if self._until_s else None
        )

    def list_due(self, now_s: float) -> list[str]:
        return [path for path, until_s in self._until_s.items() if until_s <= now_s]

    def examine(
        self,
        scan: Scan,
        expected: Mapping[str, object],
        now_s: float,
        *,
        named: Collection[str],
        deleted: bool,
        confirmed: bool,
    ) -> tuple[Finding | None, Collection[str]]:
        """Return why the folder cannot be trusted, if so, and the deleted files.

        Args:
            scan: The folder as it is.
            expected: The files as they were, by path.
            now_s: The monotonic time before the scan.
            named: Paths from events.
            deleted: Whether an event reported a deletion.
            confirmed: Whether an operator confirmed all deletions.
        """
        if scan.root is None:
            problem = "the widgets folder is not there"
            return _degradation(problem, "put it back; until then everything goes on serving"), ()
        if scan.failure is not None:
            problem = f"the widgets folder cannot be listed ({scan.failure.strerror})"
            return _degradation(problem, "give widgetd the right to read and enter it"), ()
        absent = self._list_absent(scan, expected)
        if deleted:
            self._believe_events(named)
        self._doubt_absence(scan, absent, deleted=deleted)
        soon_s = self._clock.steady_s() + LIMITS.deletion_grace_s
        until_s = {path: self._until_s.get(path, soon_s) for path in absent}
        gone = frozenset(path for path in absent if confirmed or until_s[path] <= now_s)
        self._until_s = {path: until_s[path] for path in absent if path not in gone}
        self._doubted &= self._until_s.keys()
        self._root = scan.root
        return self._report(), gone

    def _list_absent(self, scan: Scan, expected: Mapping[str, object]) -> list[str]:
        # Of 10,000 widgets this takes milliseconds, so only a scan with other paths compares.
        compared = key_set(expected), key_set(scan.sources)
        if compared != self._compared:
            self._compared, self._lacking = compared, list_missing(expected, scan.sources)
        return [path for path in self._lacking if not exists(scan, path)]

    def _doubt_absence(self, scan: Scan, absent: Collection[str], *, deleted: bool) -> None:
        was, root = self._root, scan.root
        if was is None or root is None:
            # Absent at the first scan are only files that the state folder has.
            doubtful = list(absent)
            is_empty = not scan.sources and not scan.unsettled
            if not doubtful or (len(doubtful) < LIMITS.vanished_files and not is_empty):
                return
            self._doubt = f"files vanished while widgetd was down ({len(doubtful)})"
        elif was == root:
            doubtful = [path for path in absent if path not in self._until_s]
            if deleted or len(doubtful) < LIMITS.vanished_files:
                return
            self._doubt = f"{len(doubtful)} files vanished without an event"
        elif absent and (not scan.sources or was[-1] != root[-1]):
            doubtful = list(absent)
            how = "mounted again" if scan.sources else "replaced by an empty one"
            self._doubt = f"the widgets folder was {how}"
        else:
            return
        self._doubted |= set(doubtful)
        self._until_s |= dict.fromkeys(doubtful, self._clock.steady_s() + LIMITS.empty_grace_s)

    def _believe_events(self, named: Collection[str]) -> None:
        for path in self._doubted.intersection(named):
            self._until_s[path] = self._clock.steady_s() + LIMITS.deletion_grace_s
            self._doubted.discard(path)

    def _report(self) -> Finding | None:
        if not self._doubted:
            return None
        served = f"put the files back; they are served for {LIMITS.empty_grace_s:.0f} s"
        return _degradation(self._doubt, f"{served}, or until widgetd gets SIGHUP")


def exists(scan: Scan, path: str) -> bool:
    """Return whether there may be a file: also being written, unreadable or in such a folder."""
    places = accumulate(path.split("/"), "{}/{}".format)
    is_found = path in scan.sources or path in scan.unsettled
    return is_found or not scan.faults.keys().isdisjoint(places)


def _degradation(problem: str, advice: str) -> Finding:
    return Finding(code="W0008", problem=problem, advice=advice)
